// A duration with its unit in words.
export const options = { duration: '10 seconds' };
export default function () {}
