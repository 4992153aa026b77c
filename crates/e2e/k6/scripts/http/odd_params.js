// Parameters of a wrong kind.
import http from 'k6/http';
export const options = { iterations: 6 };
export default function () {
  const u = `${__ENV.BASE}/headers`;
  const tell = (params) => { const r = http.get(u, params); console.log(r.status, r.error_code); };
  switch (__ITER) {
    case 0: return tell(null);
    case 1: return tell({});
    case 2: return tell({ headers: null, tags: null, cookies: null, timeout: null });
    case 3: return tell({ unknown: 1 });
    case 4: return tell({ timeout: 'soon' });
    default: return tell({ headers: { 'X-Null': null, 'X-Bool': true } });
  }
}
