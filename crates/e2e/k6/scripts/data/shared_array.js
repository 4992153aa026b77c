//@ log: sorted
// One array for all virtual users, made once.
import { SharedArray } from 'k6/data';
const users = new SharedArray('users', () => { console.log('made'); return [{ name: 'ann', tags: ['x'] }, { name: 'bob' }, 'text', 4, null]; });
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 1 } } };
export default function () {
  console.log(__VU, users.length, users[0].name, users[2], users[3], users[4], users[9], users[-1], Array.isArray(users), typeof users);
}
