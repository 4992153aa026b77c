// The same, where the options themselves are wrong.
export const options = { colour: 'red', dns: { ttl: 'soon' } };
export default function () {}
