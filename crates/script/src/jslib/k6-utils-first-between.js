
/** The first text between two others, as versions before 1.2.0 give it; empty without one. */
export function findBetween(content, left, right) {
  const start = content.indexOf(left);
  const end = start < 0 ? -1 : content.indexOf(right, start + left.length);
  return end < 0 ? '' : content.slice(start + left.length, end);
}
