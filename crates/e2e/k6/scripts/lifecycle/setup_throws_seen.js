//@ loud
//@ stdout: end
//@ log: levels
// What is shown of a test whose setup() asks for something and throws: no scenario has begun.
import http from 'k6/http';

export const options = { vus: 2, duration: '20s' };

export function setup() {
  http.get(`${__ENV.BASE}/json`);
  throw new Error('no token');
}

export default function () {}
