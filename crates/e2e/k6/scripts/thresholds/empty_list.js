//@ stdout
// A metric without conditions is kept and told, also where it saw nothing.
import { Counter } from 'k6/metrics';
new Counter('unused');
export const options = {
  thresholds: { http_reqs: [], 'iterations{scenario:default}': [], 'iterations{a:b}': [], 'checks{a:b}': [], unused: [] },
};
export default function () {}
