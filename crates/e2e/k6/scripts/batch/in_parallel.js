// Requests run side by side.
import http from 'k6/http';
export default function () {
  const begin = Date.now();
  const rs = http.batch(Array.from({ length: 5 }, () => `${__ENV.BASE}/delay/200ms`));
  const took = Date.now() - begin;
  console.log(rs.length, took >= 190 && took < 600);
}
