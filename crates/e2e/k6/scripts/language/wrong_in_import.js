// What is wrong is in the file that is imported.
import { f } from './lib/twice.js';

export default function () {
  f();
}
