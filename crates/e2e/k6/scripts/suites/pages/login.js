import { check, group } from 'k6';
import { Client } from '../lib/client.js';

export default class LoginPage {
  #client = new Client('login');

  login(user, password) {
    return group('submit', () => {
      const answer = this.#client.post('/post', { user, password });
      check(answer, { 'user echoed': (r) => r.json('json.user') === user });
      return answer.json('json.user');
    });
  }
}
