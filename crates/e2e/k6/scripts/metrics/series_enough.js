//@ plain
// As many series as are suggested, which is no reason to warn.
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const many = new Counter('many');

export default function () {
  for (let id = 0; id < 99994; id += 1) many.add(1, { id: String(id) });
  sleep(1.5);
}
