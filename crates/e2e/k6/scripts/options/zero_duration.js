// A duration of nothing.
export const options = { vus: 1, duration: '0s' };
export default function () {}
