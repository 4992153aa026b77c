// A folder as a module.
import './lib/';
export default function () {}
