import { even } from './cycle_a.js';
export function odd(n) { return n !== 0 && even(n - 1); }
