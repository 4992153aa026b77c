// Nobody listens.
import http from 'k6/http';
export default function () { const r = http.get('http://127.0.0.1:1/x'); console.log(r.status, r.error_code, r.error, r.body, JSON.stringify(r.headers), r.proto, r.url, r.status_text, r.remote_ip); }
