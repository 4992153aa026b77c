// Options of a wrong kind: a list at all.
export const options = [];
export default function () {}
