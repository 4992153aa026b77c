//@ stdout
// handleSummary and the exported file go together.
import { check } from 'k6';
export default function () { check(1, { c: true }); }
export function handleSummary(data) { return { stdout: 'own text\n', stderr: 'to stderr\n' }; }
