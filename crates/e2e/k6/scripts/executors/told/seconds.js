// In which second of the test iterations begin, and the test ends.
import exec from 'k6/execution';

const second = (start) => Math.floor((Date.now() - start) / 1000);

export function setup() {
  return Date.now();
}

export default function (start) {
  console.log(exec.scenario.name, 'in second', second(start));
}

export function teardown(start) {
  console.log('ended in second', second(start));
}
