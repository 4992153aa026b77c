//@ args: --http-debug
//@ log: levels
// Requests and answers in the log.
import http from 'k6/http';
export default function () { http.get(`${__ENV.BASE}/ok`); }
