// Virtual users that could ask and only wait. VUS: how many.
import 'k6/http';
import { sleep } from 'k6';

export { options } from './empty.js';

export default function () {
  sleep(4);
}
