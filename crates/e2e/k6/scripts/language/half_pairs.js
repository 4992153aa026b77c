//@ stdout: exact
// Half a surrogate pair becomes U+FFFD wherever text leaves the engine.
import exec from 'k6/execution';
import { SharedArray } from 'k6/data';
const shared = new SharedArray('half', () => ['a\ud800b']);
export const options = {
  scenarios: { half: { executor: 'per-vu-iterations', env: { HALF: 'a\ud800b' }, tags: { half: 'a\udc00b' } } },
};
export function setup() {
  return { text: 'x\ud800y', list: ['\udc00'], ['k\ud800']: 1 };
}
export default function (data) {
  console.log(data.text.charCodeAt(1), data.list[0].charCodeAt(0), data['k\ufffd'], data.text.length);
  console.log(shared[0].length, __ENV.HALF.charCodeAt(1), exec.vu.tags.half.charCodeAt(1));
  throw new Error('half \ud800 of one');
}
export function teardown() {
  exec.test.abort('half \udc00 of another');
}
export function handleSummary() {
  return { stdout: 'half \ud83d of a smile\n' };
}
