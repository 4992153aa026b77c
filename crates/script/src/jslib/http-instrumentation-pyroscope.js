
// http-instrumentation-pyroscope: requests say in their baggage which test they belong to.

function baggage() {
  const facts = {
    'k6.test_run_id': __ENV.K6_CLOUD_TEST_RUN_ID ?? __ENV.K6_TEST_RUN_ID,
    'k6.scenario': exec.scenario.name,
    'k6.name': exec.vu.metrics.tags.name,
  };
  const known = Object.entries(facts).filter(([, value]) => value);
  return { Baggage: known.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join(', ') };
}

export class Client {
  constructor() {
    Object.assign(this, wrapped(baggage));
  }
}

/** Makes every request of k6/http say which test it belongs to. */
export function instrumentHTTP() {
  Object.assign(http, wrapped(baggage));
}

export default { Client, instrumentHTTP };
