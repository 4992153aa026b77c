// Plain values count by their truth.
import { check } from 'k6';
export default function () {
  console.log(check(null, { yes: true, no: false, zero: 0, text: 'x', empty: '', nothing: null, missing: undefined, object: {}, nan: NaN }));
  console.log(check('v', { gets: (v) => v === 'v' }), check(1, {}));
}
