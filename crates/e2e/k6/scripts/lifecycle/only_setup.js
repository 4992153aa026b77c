// A setup alone is no test.
export function setup() {}
