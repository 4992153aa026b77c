// require() sees relative names from the file that calls it.
import { early, late, lent } from './lib/near/index.js';
const later = await Promise.resolve().then(late);
const seen = [early, late(), lent('./lib/near/own.js').place, later, ['./lib/near/own.js'].map((name) => require(name).place)[0]];
export default function () { console.log(seen.join(' ')); }
