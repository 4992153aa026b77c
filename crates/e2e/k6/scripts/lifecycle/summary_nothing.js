//@ stdout
// A handleSummary that returns nothing leaves the usual summary.
export default function () {}
export function handleSummary() {}
