// A threshold on a metric that does not exist is told before a scenario that cannot run.
export const options = {
  thresholds: { no_such_metric: ['count>1'] },
  scenarios: { a: { executor: 'constant-vus', vus: 0, duration: '1s' } },
};
export default function () {}
