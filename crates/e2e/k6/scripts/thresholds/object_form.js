// A threshold as an object.
export const options = { thresholds: { iterations: [{ threshold: 'count>=1' }, { threshold: 'count<1', abortOnFail: false }, 'count>0'] } };
export default function () {}
