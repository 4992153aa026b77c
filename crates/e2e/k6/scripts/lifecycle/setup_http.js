// Requests, checks and groups of setup and teardown carry its group and no scenario.
import http from 'k6/http';
import { check, group } from 'k6';
export function setup() { check(http.get(`${__ENV.BASE}/get`), { 'setup ok': (r) => r.status === 200 }); }
export default function () { check(http.get(`${__ENV.BASE}/ip`), { ok: (r) => r.status === 200 }); }
export function teardown() { group('inner', () => check(http.get(`${__ENV.BASE}/uuid`), { 'teardown ok': (r) => r.status === 200 })); }
