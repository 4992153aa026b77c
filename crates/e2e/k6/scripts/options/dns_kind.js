// A text in place of fields.
export const options = { dns: 'ttl=5s' };
export default function () {}
