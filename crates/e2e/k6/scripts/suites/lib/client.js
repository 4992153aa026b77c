import { check } from 'k6';
import http from 'k6/http';

export class Client {
  constructor(name) {
    this.name = name;
  }

  get(path, params = {}) {
    return this.send('GET', path, null, params);
  }

  post(path, body) {
    const headers = { 'Content-Type': 'application/json' };
    return this.send('POST', path, JSON.stringify(body), { headers });
  }

  send(method, path, body, params) {
    const name = `${method} ${path.split('?')[0]}`;
    const tags = { name, client: this.name };
    const answer = http.request(method, __ENV.BASE + path, body, { ...params, tags });
    check(answer, { [`${name} ok`]: (r) => r.status < 400 }, { client: this.name });
    return answer;
  }
}
