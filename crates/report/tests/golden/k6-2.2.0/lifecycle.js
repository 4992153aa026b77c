import { check, group } from 'k6';
const once = { executor: 'shared-iterations', vus: 1, iterations: 1 };
export const options = { scenarios: { default: once, other: once } };
export function setup() {
  check(1, { 'setup itself': () => true });
  group('prepare', () => { check(1, { 'in setup': () => true }); });
}
export default function () {
  group('gg', () => { check(1, { x: () => true }); });
}
export function teardown() {
  group('tidy', () => {});
}
export function handleSummary(data) { console.log(JSON.stringify(data)); }
