// A time before now.
export const options = { dns: { ttl: '-1s' } };
export default function () {}
