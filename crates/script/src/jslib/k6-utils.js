// k6-utils: small helpers, after the documentation of the library of that name.

/** A version 4 UUID; with `secure` from the cryptographic source of randomness. */
export function uuidv4(secure = false) {
  const bytes = new Uint8Array(16);
  if (secure) crypto.getRandomValues(bytes);
  else for (let i = 0; i < 16; i++) bytes[i] = Math.random() * 256;
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  let text = '';
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += '-';
    text += (bytes[i] + 0x100).toString(16).slice(1);
  }
  return text;
}

/** A whole number from `min` to `max`, both included. */
export function randomIntBetween(min, max) {
  return Math.floor(Math.random() * (max - min + 1) + min);
}

/** One of the items of an array. */
export function randomItem(items) {
  return items[Math.floor(Math.random() * items.length)];
}

/** A text of this many characters of `charset`. */
export function randomString(length, charset = 'abcdefghijklmnopqrstuvwxyz') {
  let text = '';
  for (let i = 0; i < length; i++) text += charset[Math.floor(Math.random() * charset.length)];
  return text;
}

/** What stands between two texts: the first such, `''` without; with `repeat` all of them. */
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
  return repeat ? found : found[0] ?? '';
}

/** Stages whose targets follow a bell curve up to `maxVus` and down again to zero. */
export function normalDistributionStages(maxVus, durationSeconds, numberOfStages = 10) {
  const heights = [];
  // From two standard deviations before the peak to two after it.
  for (let i = 0; i < numberOfStages; i++) {
    const x = numberOfStages > 1 ? -2 + (4 * i) / (numberOfStages - 1) : 0;
    heights.push(Math.exp((-x * x) / 2));
  }
  const peak = Math.max(...heights);
  const stages = heights.map((height) => ({ target: Math.round((maxVus * height) / peak) }));
  stages.push({ target: 0 });
  let given = 0;
  return stages.map(({ target }, i) => {
    const until = Math.round((durationSeconds * (i + 1)) / stages.length);
    const duration = `${until - given}s`;
    given = until;
    return { duration, target };
  });
}
