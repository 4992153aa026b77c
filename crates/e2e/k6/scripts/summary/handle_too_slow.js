//@ log: none
//@ stdout
// One that takes too long: nothing is told in its place.
export const options = { handleSummaryTimeout: '300ms' };
export default function () {}
export function handleSummary() { while (true) { } }
