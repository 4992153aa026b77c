// A group whose function gives a promise ends when the function returns.
import http from 'k6/http';
import { check, group } from 'k6';
export default async function () {
  const both = ['A', 'B'].map((name) => group(name, () => http.asyncRequest('GET', `${__ENV.BASE}/ok`)));
  check(1, { 'before the answers': true });
  await Promise.all(both);
  check(1, { 'after the answers': true });
  group('p', () => Promise.resolve(1).then(() => check(1, { 'of a reaction': true })));
  await null;
  group('q', () => { check(1, { 'in the next group': true }); });
}
