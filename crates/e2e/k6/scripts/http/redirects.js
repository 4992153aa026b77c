// Redirects are followed; each hop counts.
import http from 'k6/http';
export default function () {
  const tell = (r) => console.log(r.status, r.url, r.request.method, r.request.url, r.error_code);
  tell(http.get(`${__ENV.BASE}/redirect/2`));
  tell(http.get(`${__ENV.BASE}/redirect/2`, { redirects: 0 }));
  tell(http.get(`${__ENV.BASE}/redirect/3`, { redirects: 1 }));
  tell(http.get(`${__ENV.BASE}/absolute-redirect/1`));
}
