//@ args: --summary-time-unit ms --summary-trend-stats avg,p(99),count
//@ stdout: exact
//@ plain
// Units and statistics of one's own; shown by handleSummary-free text of constant values.
import { Trend } from 'k6/metrics';
const t = new Trend('my_trend', true);
export const options = {};
export default function () { t.add(1234.5678); t.add(0.5); }
export function handleSummary(data) { return { stdout: `${Object.entries(data.metrics.my_trend.values).sort().join(' ')} ${data.options.summaryTimeUnit} ${data.options.summaryTrendStats}\n` }; }
