// Requests without await, timers and code.
import http from 'k6/http';
export default function () { http.asyncRequest('GET', `${__ENV.BASE}/delay/40ms`).then((r) => console.log('answer', r.status)); setTimeout(() => console.log('timer'), 5); console.log('sync'); }
