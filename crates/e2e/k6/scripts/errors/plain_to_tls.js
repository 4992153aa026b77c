//@ log: levels
// TLS where plain HTTP is spoken.
import http from 'k6/http';
export default function () { const r = http.get(__ENV.BASE.replace('http:', 'https:')); if (r.error_code !== 1301) console.error(r.status, r.error_code, r.error); }
