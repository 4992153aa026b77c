// Parameters of a wrong kind.
import http from 'k6/http';
export default function () {
  const u = `${__ENV.BASE}/anything`;
  for (const p of [{ headers: 5 }, { headers: { a: undefined } }, { headers: { a: null } }, { headers: { a: ['x', 'y'] } }, { headers: { a: { b: 1 } } }, { tags: 5 }, { tags: { a: {} } }, { tags: { a: null } }, { timeout: 'x' }, { timeout: null }, { timeout: 0 }, { timeout: -5 }, { timeout: '1d' }, { timeout: {} }, { auth: 'x' }, { auth: 5 }, { cookies: 5 }, { cookies: { a: 5 } }, { cookies: { a: { value: 5 } } }, { jar: 5 }, { redirects: 'x' }, { redirects: 1.5 }, { compression: 'x' }, { responseType: 'x' }, { responseType: 5 }, { responseCallback: 5 }, { responseCallback: null }, { unknown: 1 }, 5, 'str', null, []]) {
    const r = http.post(u, 'x', p);
    console.log(JSON.stringify(p), r.status, r.error_code, r.error, String(r.json('headers.A.0')), String(r.json('headers.Cookie.0')));
  }
}
