
/** What stands between two texts: the first such, or with `repeat` all of them; null without any. */
export function findBetween(content, left, right, repeat = false) {
  const found = [];
  let from = 0;
  for (;;) {
    const start = content.indexOf(left, from);
    if (start < 0) break;
    const end = content.indexOf(right, start + left.length);
    if (end < 0) break;
    found.push(content.slice(start + left.length, end));
    if (!repeat) break;
    from = end + right.length;
  }
  if (found.length === 0) return null;
  return repeat ? found : found[0];
}
