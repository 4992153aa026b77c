// Percentiles are interpolated over all values.
import { Trend } from 'k6/metrics';
const t = new Trend('spread'); const one = new Trend('single');
export const options = { summaryTrendStats: ['count', 'avg', 'min', 'med', 'max', 'p(1)', 'p(25)', 'p(90)', 'p(99.9)'], thresholds: { spread: ['p(50)==5.5', 'med<6', 'p(90)>9', 'avg==5.5', 'min<=1', 'max>=10', 'p(0)==1', 'p(100)==10'] } };
export default function () { for (let i = 10; i > 0; i--) t.add(i); one.add(7); }
