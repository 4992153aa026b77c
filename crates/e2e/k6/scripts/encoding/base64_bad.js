// Text that is no base64, and arguments that are none.
import { b64encode, b64decode } from 'k6/encoding';
const tell = (f) => { try { console.log(f()); } catch (e) { console.log(e.message); } };
export default function () { tell(() => b64decode('a*b=')); tell(() => b64decode('aGk')); tell(() => b64decode('aGk', 'rawstd', 's')); tell(() => b64encode('x', 'no-such')); tell(() => b64decode('_-', 'std')); }
