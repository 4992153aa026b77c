//@ args: --batch 2
// At most so many at once.
import http from 'k6/http';
export default function () {
  const begin = Date.now();
  http.batch(Array.from({ length: 4 }, () => `${__ENV.BASE}/delay/100ms`));
  const took = Date.now() - begin;
  console.log(took >= 190 && took < 390);
}
