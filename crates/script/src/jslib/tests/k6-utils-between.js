import { findBetween } from 'https://jslib.k6.io/k6-utils/1.1.0/index.js';

export default function () {
  console.log(JSON.stringify([findBetween('abc', '[', ']'), findBetween('x[1]y[2]', '[', ']'), findBetween('x[1]y[2]', '[', ']', true), findBetween('x]1[2', '[', ']')]));
}
