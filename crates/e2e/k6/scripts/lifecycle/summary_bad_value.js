// A value that can be no output.
export default function () {}
export function handleSummary() { return { stdout: 42 }; }
