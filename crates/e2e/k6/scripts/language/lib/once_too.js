export { token } from './once.js';
