// A module runs once for each time the script is loaded, however often it is imported.
import { token as one } from './lib/once.js';
import { token as two } from './lib/once_too.js';
export default function () { console.log(one === two, __VU); }
