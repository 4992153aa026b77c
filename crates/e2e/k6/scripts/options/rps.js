// Requests a second, over all.
import http from 'k6/http';
export const options = { rps: 20, vus: 2, iterations: 8 };
export function setup() { return Date.now(); }
export default function () { http.get(`${__ENV.BASE}/ok`); }
export function teardown(begin) { const took = Date.now() - begin; console.log(took >= 340 && took < 1500); }
