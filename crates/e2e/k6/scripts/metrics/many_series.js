//@ plain
// 99,995 series of the script's own and six of k6's: one more than it takes for a warning.
import { sleep } from 'k6';
import { Counter } from 'k6/metrics';

const many = new Counter('many');

export default function () {
  for (let id = 0; id < 99995; id += 1) many.add(1, { id: String(id) });
  sleep(1.5);
}
