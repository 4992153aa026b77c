//@ log: levels
// A name that leads nowhere.
import http from 'k6/http';
export default function () { const r = http.get('http://no-such-host.invalid/'); if (r.error_code !== 1101 || r.error !== 'lookup: no such host') console.error(r.error_code, r.error); }
