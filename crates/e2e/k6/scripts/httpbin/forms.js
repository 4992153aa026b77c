// Fields alone.
import http from 'k6/http';
export default function () { const r = http.post(`${__ENV.BASE}/post`, { a: '1 2', b: ['x', 'y'], c: 'é' }); console.log(r.json('form.a'), r.json('form.b'), r.json('form.c'), r.json('data')); }
