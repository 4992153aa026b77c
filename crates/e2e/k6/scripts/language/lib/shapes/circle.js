import { unit } from '../unit.js';
export const area = (r) => `${(3 * r * r).toFixed(1)}${unit}`;
