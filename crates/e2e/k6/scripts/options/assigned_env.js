//@ args: --env P=p
// What is assigned to a variable becomes a text; every scenario begins with variables of its own.
const short = { executor: 'per-vu-iterations', iterations: 2, maxDuration: '1s', gracefulStop: '0s' };

export const options = {
  scenarios: {
    first: short,
    second: { ...short, startTime: '1s', env: { S: 'own' } },
  },
};

Object.assign(__ENV, { N: 5, O: { x: 1 }, Z: null, U: undefined, L: [1, 2], F: true });
console.log(['N', 'O', 'Z', 'U', 'L', 'F', 'none'].map((name) => `${typeof __ENV[name]} ${__ENV[name]}`).join('; '));
const kept = __ENV;

export default function () {
  console.log(__ENV.S, __ENV.P, __ENV.N, __ENV.own, kept === __ENV);
  __ENV.own = __ITER;
}
