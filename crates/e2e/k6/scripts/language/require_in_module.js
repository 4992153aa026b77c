// require() works in modules too, at the top and in functions of init.
import { unit } from './lib/unit.js';
const same = require('./lib/unit.js');
const k6 = require('k6');
export default function () { console.log(unit === same.unit, typeof k6.check, typeof k6.default); }
