export * from './shapes/circle.js';
export { bump as increase } from './counter.js';
export * as shapes from './shapes/circle.js';
