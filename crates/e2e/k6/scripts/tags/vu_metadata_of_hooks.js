//@ args: --system-tags vu,iter,scenario,group,check
// The tags that are metadata: in setup and teardown there is an iteration, and no virtual user.
import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
import exec from 'k6/execution';
const counted = new Counter('counted');
const told = () => {
  counted.add(1);
  console.log(JSON.stringify(Object.entries(exec.vu.metrics.metadata).sort()));
};
export const options = { iterations: 2 };
export function setup() { told(); group('in', () => check(1, { held: true })); }
export default function () { exec.vu.metrics.metadata.own = 'x'; told(); delete exec.vu.metrics.metadata.own; told(); }
export function teardown() { told(); }
