// An exception ends its iteration alone.
export const options = { iterations: 3 };
function inner() { throw new TypeError('bad'); }
export default function () {
  if (__ITER === 1) inner();
  console.log('end of', __ITER);
}
