// totp: one-time passwords of time (RFC 6238) over HMAC-SHA-1 (RFC 4226).

import { hmac } from 'k6/crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const STEP_SECONDS = 30;

function fromBase32(text) {
  const bytes = [];
  let bits = 0;
  let value = 0;
  for (const letter of text.toUpperCase().replace(/[\s=-]/g, '')) {
    const digit = ALPHABET.indexOf(letter);
    if (digit < 0) throw new Error(`the secret holds '${letter}', which is not base32`);
    value = (value << 5) | digit;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >>> bits) & 0xff);
      value &= (1 << bits) - 1;
    }
  }
  return Uint8Array.from(bytes).buffer;
}

export class TOTP {
  /** `secret` is base32; `digits` is the length of a password. */
  constructor(secret, digits = 6) {
    this.key = fromBase32(secret);
    this.digits = digits;
  }

  at(counter) {
    const message = new DataView(new ArrayBuffer(8));
    message.setUint32(0, Math.floor(counter / 0x100000000));
    message.setUint32(4, counter >>> 0);
    const digest = new DataView(hmac('sha1', this.key, message.buffer, 'binary'));
    const offset = digest.getUint8(19) & 0x0f;
    const code = (digest.getUint32(offset) & 0x7fffffff) % 10 ** this.digits;
    return String(code).padStart(this.digits, '0');
  }

  static step() {
    return Math.floor(Date.now() / 1000 / STEP_SECONDS);
  }

  /** The password of `shift` steps of 30 seconds from now. */
  async gen(shift = 0) {
    return this.at(TOTP.step() + shift);
  }

  /** Whether a password is good now, or was or will be up to `window` steps away. */
  async verify(code, window = 0) {
    for (let shift = -window; shift <= window; shift++) {
      if (this.at(TOTP.step() + shift) === String(code)) return true;
    }
    return false;
  }
}

export default TOTP;
