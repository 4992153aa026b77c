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

/**
 * Stages whose targets follow a bell curve up to `maxVus` and down again to zero: the first and the last
 * take a sixth of the time, those between share the rest, all in whole seconds, rounded up.
 */
export function normalDistributionStages(maxVus, durationSeconds, numberOfStages = 10) {
  const heights = [];
  // From two standard deviations before the peak to two after it.
  for (let i = 0; i <= numberOfStages; i++) {
    const x = -2 + (4 * i) / numberOfStages;
    heights.push(Math.exp((-x * x) / 2));
  }
  const peak = Math.max(...heights);
  const outer = `${Math.ceil(durationSeconds / 6)}s`;
  const inner = `${Math.ceil((4 * durationSeconds) / (6 * numberOfStages))}s`;
  const stages = heights.map((height, i) => ({ duration: i ? inner : outer, target: Math.round((maxVus * height) / peak) }));
  return [...stages, { duration: outer, target: 0 }];
}
