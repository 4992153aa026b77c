//@ args: --batch-per-host 1
// At most so many at once for a host.
import http from 'k6/http';
export default function () {
  const begin = Date.now();
  http.batch(Array.from({ length: 3 }, () => `${__ENV.BASE}/delay/80ms`));
  console.log(Date.now() - begin >= 235);
}
