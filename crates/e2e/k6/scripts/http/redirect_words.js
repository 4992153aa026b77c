// An error names the method of the first hop and the URL of the last; too many redirects name the first URL.
import http from 'k6/http';
export default function () {
  console.log(http.post(`${__ENV.BASE}/location/nobody`, 'x').error_code);
  console.log(http.get(`${__ENV.BASE}/redirect/11`).status);
}
