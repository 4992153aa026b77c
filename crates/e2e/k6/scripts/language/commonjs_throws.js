// The trace of a CommonJS file that throws while it is imported names its own lines alone.
import './lib/throws.cjs.js';
export default () => {};
