//@ args: --max-redirects 2
// More redirects than allowed: the last answer, and a warning.
import http from 'k6/http';
export default function () {
  const r = http.get(`${__ENV.BASE}/redirect/5`);
  console.log(r.status, r.url);
  console.log(http.get(`${__ENV.BASE}/redirect/2`).status, http.get(`${__ENV.BASE}/redirect/5`, { redirects: 10 }).status);
}
