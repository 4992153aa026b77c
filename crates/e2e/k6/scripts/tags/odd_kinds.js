// Tags that are given as a text are its characters; a symbol's text may be a tag's value.
import { check } from 'k6';
import http from 'k6/http';
import { Counter } from 'k6/metrics';
const counter = new Counter('own');
export default function () {
  for (const tags of ['xy', '', 5, ['a', 2], null, new String('s'), { sym: Symbol('s') }, { '': 'unnamed' }, { none: null }]) {
    try { console.log(counter.add(1, tags)); } catch (e) { console.log(e.message); }
    try { console.log(check(1, { kept: true }, tags)); } catch (e) { console.log(e.message); }
    console.log(http.get(`${__ENV.BASE}/get`, { tags }).status);
  }
}
