//@ args: --vus 2 --iterations 4
// Flags replace what the script says.
export const options = { vus: 1, iterations: 1 };
export default function () {}
