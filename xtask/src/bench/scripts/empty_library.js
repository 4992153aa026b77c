// As empty.js, beside a library that is loaded and not called. VUS: how many.
import './library.js';

export { options, default } from './empty.js';
