// Options of a wrong kind: a list where there is none.
export const options = { stages: 5 };
export default function () {}
