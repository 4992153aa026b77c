// Hosts that no URL has, timeouts that no span of time holds, and what http.file() takes.
import http from 'k6/http';

const BASE = __ENV.BASE;

export default function () {
  for (const host of ['a b', 'a/b', 'é', 'A.B', 'a@b', 'é:80', '[é]', 'a%20b', '日本', '[::1%lo]:80', 'a;b=c']) {
    http.get(`${BASE}/get`, { headers: { Host: host } });
  }
  for (const timeout of [1e13, Infinity, NaN, 0, '1e13', 'NaN', 'inf', '1e400', '10s']) {
    const response = http.get(`${BASE}/get`, { timeout });
    console.log(String(timeout), response.status, response.error);
  }
  for (const data of [new Uint8Array([1]), new Uint16Array([1]), [1], null, 5, new ArrayBuffer(2), 'x']) {
    try {
      const file = http.file(data, 'a.bin');
      console.log(Object.prototype.toString.call(file.data), file.filename, file.content_type);
    } catch (error) {
      console.log(error.message);
    }
  }
  console.log(JSON.stringify(http.file('x', null, undefined)));
}
