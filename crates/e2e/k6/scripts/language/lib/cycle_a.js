import { odd } from './cycle_b.js';
export function even(n) { return n === 0 || odd(n - 1); }
