//@ file: thresholds.json
// What the summary's data says of them.
import { Trend } from 'k6/metrics';
const t = new Trend('tt', true);
export const options = { thresholds: { tt: ['avg<5', 'max<2'], 'tt{a:b}': ['min>0'] } };
export default function () { t.add(1); t.add(3, { a: 'b' }); }
export function handleSummary(data) { const own = Object.keys(data.metrics).filter((n) => n.startsWith('tt')).sort(); return { 'thresholds.json': own.map((n) => `${n} ${data.metrics[n].type} ${Object.entries(data.metrics[n].thresholds).map(([e, r]) => `${e} ${JSON.stringify(r)}`).sort()} ${data.metrics[n].values.avg}`).join('\n') }; }
