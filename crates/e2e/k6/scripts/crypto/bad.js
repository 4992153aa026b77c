// Names that there are not.
import crypto from 'k6/crypto';
const tell = (f) => { try { console.log(f()); } catch (e) { console.log(e.message); } };
export default function () { tell(() => crypto.hmac('no', 'k', 'd', 'hex')); tell(() => crypto.md5('x', 'octal')); tell(() => crypto.md5(5, 'hex')); }
