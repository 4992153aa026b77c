// The same as exceptions.
import http from 'k6/http';
export default function () {
  try { http.get('http://a b.c/', { throw: true }); } catch (e) { console.log(e.message); }
  http.get('nope', { throw: true });
}
