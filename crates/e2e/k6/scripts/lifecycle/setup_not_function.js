// setup() and teardown() are functions, or not there.
export const setup = null;
export default function () {}
