// Each virtual user wants an iteration.
export const options = { vus: 5, iterations: 3 };
export default function () {}
