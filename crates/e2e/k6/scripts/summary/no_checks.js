//@ stdout
// Without checks and requests.
export const options = { iterations: 2 };
export default function () {}
