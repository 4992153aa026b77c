//@ stdout
// Checks stand in the order they were first seen.
import { check } from 'k6';
export const options = { iterations: 3 };
export default function () { check(1, { zebra: true, apple: __ITER !== 1, mango: false }); check(1, { 'last one': true }); }
