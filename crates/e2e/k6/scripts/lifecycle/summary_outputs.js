//@ stdout
//@ file: result.txt
//@ file: folder.json
// handleSummary writes files and standard output.
import { Counter } from 'k6/metrics';
const counter = new Counter('things');
const canon = (v) => JSON.stringify(v, (k, x) => (x && typeof x === 'object' && !Array.isArray(x) ? Object.fromEntries(Object.entries(x).sort()) : x), 1);
export const options = { thresholds: { things: ['count==3', 'count>5'] }, summaryTrendStats: ['min', 'max', 'count'] };
export function setup() { return { from: 'setup' }; }
export default function () { counter.add(3, { t: 'x' }); }
export function handleSummary(data) {
  return {
    stdout: `${Object.keys(data).sort().join()}\n`,
    'result.txt': canon({ options: data.options, setup: data.setup_data, root: data.root_group, state: Object.keys(data.state).sort(), things: [data.metrics.things.type, data.metrics.things.contains, data.metrics.things.values.count, JSON.stringify(Object.entries(data.metrics.things.thresholds).sort())], duration: Object.keys(data.metrics.iteration_duration.values).sort() }),
    'folder.json': new Uint8Array([104, 105, 10]).buffer,
  };
}
