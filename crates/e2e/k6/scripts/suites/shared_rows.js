// Users of a file, each once.
import { check } from 'k6';
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
import { parse } from './lib/rows.js';

const users = new SharedArray('users', () => parse(open('./data/users.csv')));

export const options = {
  scenarios: { each: { executor: 'shared-iterations', vus: 1, iterations: users.length } },
};

export default function () {
  const user = users[exec.scenario.iterationInTest];
  console.log(JSON.stringify(user), users.length);
  check(user, { named: (u) => u.name.length === 3, aged: (u) => u.age !== '' });
}
