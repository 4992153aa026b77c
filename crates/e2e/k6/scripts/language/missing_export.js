//@ log: levels
// A name that a module does not export.
import { nothing } from './lib/unit.js';
export default function () { console.log(nothing); }
