// A tag that is no text.
export const options = { tags: { n: 5 } };
export default function () {}
