// Payloads of random letters, for the scripts beside this folder.

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** A text of so many random letters and digits. */
export function randomText(length) {
  const letters = new Array(length);
  for (let i = 0; i < length; i += 1) {
    letters[i] = LETTERS[Math.floor(Math.random() * LETTERS.length)];
  }
  return letters.join('');
}

/** JSON of about so many bytes, another each time. */
export function randomJson(bytes) {
  return JSON.stringify({ payload: randomText(bytes - '{"payload":""}'.length) });
}
