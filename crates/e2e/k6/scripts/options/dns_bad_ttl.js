// A time that is none is noticed when the test is made, not when options are read.
export const options = { dns: { ttl: 'x' } };
export default function () {}
