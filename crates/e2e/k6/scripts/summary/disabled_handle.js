//@ args: --summary-mode disabled
//@ stdout
// None, and no handleSummary either.
export default function () {}
export function handleSummary() { console.log('called'); return { stdout: 'own\n' }; }
