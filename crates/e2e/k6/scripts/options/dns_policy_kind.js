// A number in place of a name.
export const options = { dns: { policy: 5 } };
export default function () {}
