// Messages of exec.test.fail() and exec.test.abort(): none, and one without letters.
import exec from 'k6/execution';
export const options = { vus: 1, iterations: 2 };
export default function () {
  if (__ITER === 1) exec.test.abort('');
  for (const message of [undefined, null, '', ' ', 'a\nb', [], [1, 2], { a: 1 }, 0, false]) exec.test.fail(message);
  exec.test.fail();
}
