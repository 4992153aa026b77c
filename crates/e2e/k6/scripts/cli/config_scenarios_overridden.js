//@ config: {"scenarios": {"x": {"executor": "per-vu-iterations"}}}
//@ args: --iterations 2
// Every tier that replaces scenarios is named.
export const options = { scenarios: { y: { executor: 'per-vu-iterations', vus: 3 } } };
export default function () {}
