// A wrong number among other options.
export const options = { vus: 1.5, duration: '1s' };
export default function () {}
