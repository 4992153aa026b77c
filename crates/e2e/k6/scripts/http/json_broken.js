// json() of what is none.
import http from 'k6/http';
export const options = { iterations: 3 };
export default function () {
  if (__ITER === 0) { try { http.get(`${__ENV.BASE}/broken/json`).json(); } catch (e) { console.log(e.message); } }
  if (__ITER === 1) { try { http.get(`${__ENV.BASE}/empty`).json(); } catch (e) { console.log(e.message); } }
  if (__ITER === 2) { try { http.get(`${__ENV.BASE}/html`).json('a'); } catch (e) { console.log(e.message); } }
}
