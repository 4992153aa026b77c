// Nothing, once in each virtual user. VUS: how many.
export const options = {
  scenarios: {
    once: { executor: 'per-vu-iterations', vus: Number(__ENV.VUS), iterations: 1, maxDuration: '10m' },
  },
};

export default function () {}
