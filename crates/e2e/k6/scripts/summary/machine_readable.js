//@ args: --new-machine-readable-summary
//@ plain
// The machine-readable form, by handleSummary.
import { check } from 'k6';
import { Counter, Trend } from 'k6/metrics';
const c = new Counter('cc'); const t = new Trend('tt', true);
export default function () { check(1, { one: true }); check(1, { two: false }); c.add(5); t.add(2); }
export function handleSummary(data) {
  const own = (data.results ? data.results.metrics : []).filter((m) => ['cc', 'tt'].includes(m.name)).map((m) => `${m.name} ${m.type} ${m.contains} ${Object.entries(m.values).filter(([, v]) => typeof v !== 'function').map(([k, v]) => `${k}=${JSON.stringify(v)}`).sort()}`).sort();
  console.log(JSON.stringify(data.version), ['config', 'metadata', 'results'].map((k) => typeof data[k]).join(), typeof data.config.script, JSON.stringify(data.config.execution), typeof data.metadata.generated_at); console.log(own.join(' | '));
  if (data.results && data.results.checks) console.log(JSON.stringify(data.results.checks.results.map((r) => [r.name, r.passes, r.fails])), data.results.checks.metrics.map((m) => m.name).join());
  return {};
}
