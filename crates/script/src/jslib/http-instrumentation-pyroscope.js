
// http-instrumentation-pyroscope: requests say in their baggage which test they belong to.

function baggage(url, params) {
  const facts = [
    `k6.test_run_id=${__ENV.K6_CLOUDRUN_TEST_RUN_ID}`,
    `k6.scenario=${exec.scenario.name}`,
    `k6.name=${params?.tags?.name || url}`,
  ];
  return { Baggage: facts.join(', ') };
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
