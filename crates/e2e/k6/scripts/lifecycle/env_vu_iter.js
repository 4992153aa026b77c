//@ args: -e FROM_FLAG=flag -e EMPTY
//@ env: FROM_SYSTEM=system
//@ log: sorted
// __ENV, __VU and __ITER.
export const options = { scenarios: { s: { executor: 'per-vu-iterations', vus: 2, iterations: 2 } } };
export default function () {
  console.log(__VU, __ITER, __ENV.FROM_FLAG, __ENV.FROM_SYSTEM, `[${__ENV.EMPTY}]`, __ENV.NOT_THERE, 'FROM_FLAG' in __ENV);
  __ENV.MINE = `vu ${__VU}`;
}
