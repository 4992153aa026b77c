//@ loud
//@ stdout: end
//@ log: none
//@ signal: INT 700
// What is shown of a test that is interrupted in setup(), before a second has passed.
import http from 'k6/http';
import { sleep } from 'k6';

export const options = { vus: 2, duration: '20s' };

export function setup() {
  http.get(`${__ENV.BASE}/json`);
  sleep(10);
}

export default function () {}
