//@ log: levels
// A module that is not there.
import { nothing } from './lib/no_such_file.js';
export default function () { nothing(); }
