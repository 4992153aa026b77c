// handleSummary() gives contents by name, or nothing: a list is neither.
export default function () {}
export function handleSummary() {
  return ['text'];
}
