// Values that are no plain numbers.
import { Trend } from 'k6/metrics';
const c = new Trend('my_trend');
export default function () { let i = 0; for (const v of [[], [3], [0], [1, 2], ['5'], new Date(5), new String('4'), '0x10', { valueOf: () => 7 }, new Number(8), '', ' ', '1e3', new Boolean(false), true, false, [[]], [true], 10n, new Map(), new Uint8Array(0), () => 1]) { try { console.log(i++, c.add(v)); } catch (e) { console.log(e.message); } } }
