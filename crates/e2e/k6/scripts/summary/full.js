//@ args: --summary-mode full
//@ stdout
// The long one.
import http from 'k6/http';
import { check, group } from 'k6';
export const options = { iterations: 2 };
export default function () { check(http.get(`${__ENV.BASE}/get`), { 'at the root': true }); group('outer', () => { http.get(`${__ENV.BASE}/ip`); check(1, { 'in outer': false }); group('inner', () => check(1, { 'in inner': true })); }); group('second', () => {}); }
