//@ stdout
// What is exported as handleSummary and is no function: no summary at all.
export const handleSummary = 5;
export default function () {}
