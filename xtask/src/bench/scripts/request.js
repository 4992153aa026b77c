// A GET in each virtual user, and a wait with the answer behind it. VUS: how many; TARGET: the URL.
import http from 'k6/http';
import { sleep } from 'k6';

export { options } from './empty.js';

export default function () {
  http.get(__ENV.TARGET);
  sleep(2);
}
