// As request.js, after every function of the library was called. VUS: how many; TARGET: the URL.
import http from 'k6/http';
import { sleep } from 'k6';
import { all } from './library.js';

export { options } from './empty.js';

export default function () {
  const sum = all.reduce((total, one) => total + (Number(one(1, 2)) || 1), 0);
  if (Number.isNaN(sum)) {
    throw new Error('the library gave no number');
  }
  http.get(__ENV.TARGET);
  sleep(2);
}
