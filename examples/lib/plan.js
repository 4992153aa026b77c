// What the scripts beside this folder read from the environment: where the target is, and for how long and
// with how many virtual users it is asked.

/** The target's plain address: TARGET. */
export const TARGET = __ENV.TARGET || 'http://localhost:8080';

/** The target's TLS address: TARGET_TLS. */
export const TARGET_TLS = __ENV.TARGET_TLS || 'https://localhost:8443';

/** A ramp to a number of virtual users and a time at it; RAMP, HOLD and VUS replace what is given. */
export function rampAndHold(ramp, hold, vus) {
  const target = Number(__ENV.VUS || vus);
  return [
    { duration: __ENV.RAMP || ramp, target },
    { duration: __ENV.HOLD || hold, target },
  ];
}
