// Other statistics in the summary.
import { Trend } from 'k6/metrics';
const t = new Trend('tt');
export const options = { summaryTrendStats: ['min', 'p(99.5)', 'count', 'p(50)'], iterations: 5 };
export default function () { t.add(__ITER); }
