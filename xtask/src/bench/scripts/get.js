// A small GET and two checks on its answer, in a loop. TARGET: the URL.
import http from 'k6/http';
import { check } from 'k6';

export default function () {
  const response = http.get(__ENV.TARGET);
  check(response, {
    'status is 200': (r) => r.status === 200,
    'there is a body': (r) => r.body.length > 0,
  });
}
