//@ args: --blacklist-ip 127.0.0.1/32
// An address that is not to be called, by flag.
import http from 'k6/http';
export default function () { console.log(http.get(`${__ENV.BASE}/ok`).error_code); }
