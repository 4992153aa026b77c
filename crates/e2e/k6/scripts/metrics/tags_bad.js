// Tags that are none.
import { Counter } from 'k6/metrics';
const c = new Counter('tagged');
export const options = { iterations: 3 };
export default function () { const bad = [{ o: { x: 1 } }, { l: [1] }, { u: undefined }][__ITER]; console.log(c.add(1, bad)); }
