//@ stdout
// When handleSummary throws, the usual summary is shown.
export default function () {}
export function handleSummary() { throw new Error('no summary'); }
