export const options = { scenarios: { a: null } };

export default function () {}
