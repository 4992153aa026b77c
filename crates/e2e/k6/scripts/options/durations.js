//@ command: inspect
//@ stdout: exact
// What may be written for a duration.
export const options = { duration: '1m30s', setupTimeout: 5000, teardownTimeout: '1.5h', minIterationDuration: '250', scenarios: undefined, thresholds: {} };
export default function () {}
