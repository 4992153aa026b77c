import { TOTP } from 'https://jslib.k6.io/totp/1.0.0/index.js';

export default async function () {
  // The secret and passwords of RFC 6238, appendix B.
  const totp = new TOTP('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', 8);
  for (const seconds of [59, 1111111109, 1234567890, 20000000000]) console.log(totp.at(Math.floor(seconds / 30)));
  console.log(await totp.verify(await totp.gen()), await totp.verify('nope'), (await new TOTP('GEZDGNBV').gen()).length);
}
