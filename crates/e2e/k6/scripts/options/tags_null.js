// A tag without a value is an empty one.
export const options = { tags: { empty: null, full: 'x' } };
export default function () {}
