//! `crypto` as scripts use it, in virtual time.
//!
//! Must not need a socket. Invariant under test: results match known answers, key usages are enforced, and
//! errors have k6's names.

use crate::testing::Rehearsal;

/// The lines logged by a script; `s` is `crypto.subtle`, `u` makes bytes, `hex` formats them, and `tried` logs
/// the result of a promise.
fn log_of(body: &str) -> Vec<String> {
    let script = format!(
        r#"const s = crypto.subtle, u = (x) => new Uint8Array(x);
        const hex = (x) => Array.from(u(x), (byte) => byte.toString(16).padStart(2, "0")).join("");
        const text = (x) => u(Array.from(x, (c) => c.charCodeAt(0)));
        const tried = async (f) => {{ try {{ console.log(await f()); }} catch (e) {{ console.log(`${{e.name}}: ${{e.message}}`); }} }};
        export default async function () {{ {body} }}"#
    );
    Rehearsal::new(&script).run().said()
}

#[test]
fn digests_are_known() {
    let log = log_of(
        "console.log(hex(await s.digest('sha-1', text('abc'))));
         console.log(hex(await s.digest({ name: 'SHA-256' }, text('abc').buffer)));
         await tried(() => s.digest('MD5', u(1))); await tried(() => s.digest(5, u(1))); await tried(() => s.digest('SHA-1', 'x'));",
    );
    assert_eq!(
        log,
        [
            "a9993e364706816aba3e25717850c26c9cd0d89d",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "NotSupportedError: algorithm \"MD5\" doesn't support (in implementation) operation \"digest\"",
            "SyntaxError: algorithm cannot be interpreted as a string or an object",
            "OperationError: data is neither an ArrayBuffer, nor a TypedArray nor DataView",
        ]
    );
}

/// The expected values are from k6 v2.2.0, and for other lengths from NIST's vectors.
#[test]
fn aes_gives_known_answers() {
    let log = log_of(
        "const data = u([1, 2, 3]), key = (name) => s.importKey('raw', u(16), name, true, ['encrypt', 'decrypt']);
         const gcm = await key('AES-GCM'), ctr = await key('AES-CTR'), cbc = await key('aes-cbc');
         console.log(hex(await s.encrypt({ name: 'AES-GCM', iv: u(12), additionalData: data, tagLength: 96 }, gcm, data)));
         console.log(hex(await s.encrypt({ name: 'AES-CTR', counter: u(16), length: 64 }, ctr, data)));
         for (const how of [{ name: 'AES-GCM', iv: u(12) }, { name: 'AES-GCM', iv: u(60), tagLength: 104 }]) {
           const sealed = await s.encrypt(how, gcm, data); console.log(sealed.byteLength, hex(await s.decrypt(how, gcm, sealed)));
           u(sealed)[0] ^= 1; await tried(() => s.decrypt(how, gcm, sealed));
         }
         const sealed = await s.encrypt({ name: 'AES-CBC', iv: u(16) }, cbc, u(16)); console.log(sealed.byteLength, (await s.decrypt({ name: 'AES-CBC', iv: u(16) }, cbc, sealed)).byteLength);
         await tried(() => s.decrypt({ name: 'AES-CBC', iv: u(16) }, cbc, u(16))); await tried(() => s.decrypt({ name: 'AES-CBC', iv: u(16) }, cbc, data));
         await tried(() => s.encrypt({ name: 'AES-CBC', iv: u(12) }, cbc, data)); await tried(() => s.encrypt({ name: 'AES-GCM', iv: u(12) }, cbc, data));
         await tried(() => s.encrypt({ name: 'AES-CTR', counter: u(16), length: 0 }, ctr, data)); await tried(() => s.decrypt({ name: 'AES-GCM', iv: u(12) }, gcm, u(2)));",
    );
    assert_eq!(
        log,
        [
            "028ad98652ffa250f6567fbbcedc41",
            "67eb48",
            "19 010203",
            "OperationError: could not decrypt ciphertext",
            "16 010203",
            "OperationError: could not decrypt ciphertext",
            "32 16",
            "OperationError: invalid padding",
            "OperationError: invalid padding",
            "OperationError: iv length is not 16 bytes",
            "InvalidAccessError: encrypt's algorithm name does not match key algorithm name",
            "OperationError: invalid counter length, out of the 0 < x < 128 bounds",
            "OperationError: ciphertext is too short",
        ]
    );
}

/// Test case 6 of the proposal of GCM to NIST: an initial value of 60 bytes.
#[test]
fn gcm_takes_initial_values_of_any_length() {
    let log = log_of(
        "const bytes = (x) => u(x.match(/../g).map((b) => parseInt(b, 16)));
         const key = await s.importKey('raw', bytes('feffe9928665731c6d6a8f9467308308'), 'AES-GCM', false, ['encrypt']);
         const iv = bytes('9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b');
         const additionalData = bytes('feedfacedeadbeeffeedfacedeadbeefabaddad2');
         const plain = bytes('d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39');
         console.log(hex(await s.encrypt({ name: 'AES-GCM', iv, additionalData }, key, plain)));",
    );
    assert_eq!(
        log,
        [
            "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca701e4a9a4fba43c90ccdcb281d48c7c6fd62875d2aca417034c34aee5619cc5aefffe0bfa462af43c1699d050"
        ]
    );
}

#[test]
fn keyed_and_derived_bits_are_known() {
    let log = log_of(
        "const data = u([1, 2, 3]), hmac = await s.importKey('raw', u(16), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
         const signature = await s.sign('HMAC', hmac, data); console.log(hex(signature), await s.verify('HMAC', hmac, signature, data), await s.verify('HMAC', hmac, u(32), data));
         const how = { name: 'PBKDF2', salt: data, iterations: 2, hash: 'SHA-256' }, pb = await s.importKey('raw', u([1, 2]), 'PBKDF2', false, ['deriveBits', 'deriveKey']);
         console.log(hex(await s.deriveBits(how, pb, 128)));
         const aes = await s.deriveKey(how, pb, { name: 'AES-GCM', length: 128 }, true, ['encrypt']); console.log(hex(await s.exportKey('raw', aes)), JSON.stringify(aes));
         await tried(() => s.deriveBits(how, pb, 13)); await tried(() => s.deriveBits(how, pb, null)); await tried(() => s.deriveBits({ ...how, iterations: 0 }, pb, 8)); await tried(() => s.deriveBits({ ...how, salt: null }, pb, 8));
         const hk = await s.importKey('raw', u(22).fill(11), 'HKDF', false, ['deriveBits']);
         console.log(hex(await s.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: u([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), info: u([240, 241, 242, 243, 244, 245, 246, 247, 248, 249]) }, hk, 336)));
         await tried(() => s.deriveBits({ name: 'HKDF', hash: 'SHA-1', salt: u(0), info: u(0) }, hk, 8 * 5120));",
    );
    assert_eq!(
        log,
        [
            "c25cf64db0f3339e7e80fbd6e0be879956a6a3d7e4987a2a4d01fb90f27b5639 true false",
            "eac9724572b222b39827ecca7f34d2cd",
            "eac9724572b222b39827ecca7f34d2cd {\"type\":\"secret\",\"extractable\":true,\"algorithm\":{\"algorithm\":{\"name\":\"AES-GCM\"},\"name\":\"AES-GCM\",\"length\":128},\"usages\":[\"encrypt\"]}",
            "OperationError: currently only multiples of 8 are supported for length",
            "OperationError: length can not be 0",
            "OperationError: number of iterations can't be 0",
            "TypeError: field salt is null or undefined",
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
            "OperationError: length is too large",
        ]
    );
}

/// As k6 v2.2.0 lists them.
#[test]
fn keys_list_what_k6_lists() {
    let log = log_of(
        "const told = (key) => console.log(JSON.stringify(key.algorithm), key.algorithm.name);
         told(await s.importKey('raw', u(16), 'PBKDF2', false, ['deriveBits']));
         told(await s.importKey('raw', u(16), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']));
         told((await s.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])).publicKey);
         const rsa = await s.generateKey({ name: 'RSA-OAEP', modulusLength: 1024, publicExponent: u([1, 0, 1]), hash: 'SHA-1' }, true, ['decrypt']);
         told(rsa.privateKey); console.log(rsa.publicKey.algorithm.publicExponent.join());
         const key = await s.importKey('raw', u(16), 'AES-GCM', false, ['encrypt']); await tried(() => s.sign('HMAC', key, u(1)));
         const hmac = await s.importKey('raw', u(16), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']); await tried(() => s.sign('HMAC', hmac, u(1)));",
    );
    assert_eq!(
        log,
        [
            "{\"algorithm\":{\"name\":\"PBKDF2\"},\"name\":\"PBKDF2\"} PBKDF2",
            "{\"key_algorithm\":{\"algorithm\":{\"name\":\"HMAC\"},\"name\":\"HMAC\"},\"algorithm\":{\"name\":\"HMAC\"},\"name\":\"HMAC\",\"hash\":{\"algorithm\":{\"name\":\"SHA-256\"},\"name\":\"SHA-256\"},\"length\":128} HMAC",
            "{\"key_algorithm\":{\"algorithm\":{\"name\":\"ECDH\"},\"name\":\"ECDH\"},\"algorithm\":{\"name\":\"ECDH\"},\"name\":\"ECDH\",\"namedCurve\":\"P-256\"} ECDH",
            "{\"key_algorithm\":{\"algorithm\":{\"name\":\"RSA-OAEP\"},\"name\":\"RSA-OAEP\"},\"algorithm\":{\"name\":\"RSA-OAEP\"},\"name\":\"RSA-OAEP\",\"modulusLength\":1024,\"hash\":{\"name\":\"SHA-1\"}} RSA-OAEP",
            "1,0,1",
            "InvalidAccessError: algorithm name does not match key algorithm name",
            "InvalidAccessError: key does not contain the 'sign' usage",
        ]
    );
}

#[test]
fn keys_on_curves_sign_agree_and_travel() {
    let log = log_of(
        "const data = u([1, 2, 3]);
         for (const namedCurve of ['P-256', 'P-384', 'P-521']) {
           const { privateKey, publicKey } = await s.generateKey({ name: 'ECDSA', namedCurve }, true, ['sign', 'verify']);
           const seen = [];
           for (const hash of ['SHA-1', 'SHA-512']) {
             const signature = await s.sign({ name: 'ECDSA', hash }, privateKey, data); seen.push(signature.byteLength);
             for (const format of ['raw', 'spki', 'jwk']) {
               const again = await s.importKey(format, await s.exportKey(format, publicKey), { name: 'ECDSA', namedCurve }, true, ['verify']);
               seen.push(await s.verify({ name: 'ECDSA', hash }, again, signature, data), await s.verify({ name: 'ECDSA', hash }, again, signature, u(3)));
             }
           }
           for (const format of ['pkcs8', 'jwk']) {
             const again = await s.importKey(format, await s.exportKey(format, privateKey), { name: 'ECDSA', namedCurve }, true, ['sign']);
             seen.push(hex(await s.exportKey('pkcs8', again)) === hex(await s.exportKey('pkcs8', privateKey)));
           }
           console.log(seen.join());
           const ecdh = () => s.generateKey({ name: 'ECDH', namedCurve }, false, ['deriveBits']), a = await ecdh(), b = await ecdh();
           const bits = (mine, other) => s.deriveBits({ name: 'ECDH', public: other.publicKey }, mine.privateKey, 256);
           console.log(hex(await bits(a, b)) === hex(await bits(b, a)), hex(await bits(a, b)) === hex(await bits(a, a)));
         }",
    );
    let curve = |bytes: u32| {
        let one = format!("{bytes},true,false,true,false,true,false");
        [format!("{one},{one},true,true"), "true false".to_owned()]
    };
    assert_eq!(log, [curve(64), curve(96), curve(132)].concat());
}

const RSA_KEY: &str = include_str!("testdata/rsa_pkcs8.txt");

fn rsa_log_of(body: &str) -> Vec<String> {
    log_of(&format!(
        "const der = u('{}'.match(/../g).map((b) => parseInt(b, 16))); {body}",
        RSA_KEY.trim()
    ))
}

#[test]
fn rsa_signs_and_seals_and_travels() {
    let log = rsa_log_of(
        "const data = u([1, 2, 3]);
         for (const name of ['RSASSA-PKCS1-v1_5', 'RSA-PSS']) for (const hash of ['SHA-1', 'SHA-256']) {
           const how = { name, saltLength: 20 }, kind = { name, hash };
           const key = await s.importKey('pkcs8', der, kind, true, ['sign']);
           const { n, e } = await s.exportKey('jwk', key), open = await s.importKey('jwk', { kty: 'RSA', n, e }, kind, true, ['verify']);
           const spki = await s.importKey('spki', await s.exportKey('spki', open), kind, true, ['verify']);
           const again = await s.importKey('jwk', await s.exportKey('jwk', key), kind, true, ['sign']);
           const signature = await s.sign(how, again, data);
           console.log(signature.byteLength, await s.verify(how, open, signature, data), await s.verify(how, spki, signature, u(3)), hex(await s.exportKey('pkcs8', again)) === hex(der));
         }
         const kind = { name: 'RSA-OAEP', hash: 'SHA-256' }, key = await s.importKey('pkcs8', der, kind, true, ['decrypt']);
         const { n, e } = await s.exportKey('jwk', key), open = await s.importKey('jwk', { kty: 'RSA', n, e }, kind, true, ['encrypt']);
         const how = { name: 'RSA-OAEP', label: data }, sealed = await s.encrypt(how, open, data);
         console.log(sealed.byteLength, hex(await s.decrypt(how, key, sealed)), open.algorithm.modulusLength, open.algorithm.publicExponent);
         await tried(() => s.encrypt(how, open, u(300))); await tried(() => s.decrypt({ name: 'RSA-OAEP' }, key, sealed));",
    );
    assert_eq!(
        log,
        [
            "256 true false true",
            "256 true false true",
            "256 true false true",
            "256 true false true",
            "256 010203 2048 Uint8Array",
            "OperationError: could not encrypt data: crypto/rsa: message too long for RSA key size",
            "OperationError: could not decrypt data: crypto/rsa: decryption error",
        ]
        .map(str::to_owned)
        .into_iter()
        .map(|line| line.replace("Uint8Array", "Uint8Array(3) [ 1, 0, 1 ]"))
        .collect::<Vec<_>>()
    );
}

#[test]
fn keys_of_pairs_take_any_usages_and_their_exponent_is_odd() {
    let log = log_of(
        "const how = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 1024 };
         for (const e of [[2], [1], [], [1, 0, 0, 0, 1], [255, 0, 0, 1]]) {
            await tried(() => s.generateKey({ ...how, publicExponent: new Uint8Array(e) }, true, ['sign']));
         }
         const pair = await s.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
         const jwk = await s.exportKey('jwk', pair.privateKey);
         const both = await s.importKey('jwk', jwk, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
         console.log(both.usages);
         await tried(() => s.importKey('jwk', jwk, { name: 'ECDSA', namedCurve: 'P-256' }, true, []));",
    );
    assert_eq!(
        log,
        [
            "OperationError: invalid public exponent: public exponent is even",
            "OperationError: invalid public exponent: public exponent too small",
            "OperationError: invalid public exponent: public exponent is even",
            "OperationError: invalid public exponent: public exponent too large",
            "OperationError: invalid public exponent: public exponent too large",
            "[ \"sign\", \"verify\" ]",
            "SyntaxError: usages cannot not be empty for a secret or private CryptoKey",
        ]
    );
}

#[test]
fn keys_are_made_and_refused_as_in_k6() {
    let log = log_of(
        "const aes = (length, usages) => () => s.generateKey({ name: 'AES-CBC', length }, true, usages);
         await tried(aes(100, ['encrypt'])); await tried(aes(undefined, ['encrypt'])); await tried(aes(128, ['sign'])); await tried(aes(128, []));
         await tried(() => s.generateKey({ name: 'Ed25519' }, true, ['sign'])); await tried(() => s.generateKey({ name: 'HMAC' }, true, ['sign'])); await tried(() => s.generateKey({ name: 'ECDSA', namedCurve: 'P-1' }, true, ['sign']));
         await tried(() => s.importKey('raw', u(5), 'AES-CBC', true, ['encrypt'])); await tried(() => s.importKey('bogus', u(16), 'AES-CBC', true, ['encrypt'])); await tried(() => s.importKey('pkcs8', u(16), 'AES-CBC', true, ['encrypt']));
         await tried(() => s.importKey('jwk', { kty: 'RSA' }, 'AES-CBC', true, ['encrypt'])); await tried(() => s.importKey('raw', u(2), 'PBKDF2', true, ['deriveBits'])); await tried(() => s.importKey('raw', u(65), { name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']));
         const key = await s.importKey('raw', u(16), 'AES-CBC', false, ['encrypt']); await tried(() => s.exportKey('raw', key)); await tried(() => s.exportKey('raw', {})); await tried(() => s.decrypt({ name: 'AES-CBC', iv: u(16) }, key, u(16)));
         const open = await s.importKey('jwk', { kty: 'oct', k: 'AAAAAAAAAAAAAAAAAAAAAA' }, 'AES-CBC', true, ['encrypt']); await tried(() => s.exportKey('pkcs8', open)); await tried(async () => JSON.stringify(await s.exportKey('jwk', open)));
         await tried(() => new crypto.CryptoKey());",
    );
    assert_eq!(
        log,
        [
            "OperationError: invalid key length",
            "SyntaxError: could not get length from algorithm parameter",
            "SyntaxError: invalid key usage: sign",
            "SyntaxError: usages cannot not be empty for a secret or private CryptoKey",
            "NotSupportedError: algorithm \"ED25519\" doesn't support (in implementation) operation \"generateKey\"",
            "SyntaxError: could not get hash from algorithm parameter",
            "NotSupportedError: elliptic curve P-1 is not supported",
            "DataError: invalid key length 5 bytes",
            "ImplementationError: unsupported format bogus",
            "NotSupportedError: unsupported key format pkcs8",
            "DataError: invalid symmetric JWK: invalid key type: RSA",
            "SyntaxError: invalid value for param extractable ",
            "DataError: unable to import elliptic curve key data",
            "InvalidAccessError: the key is not extractable",
            "ImplementationError: unable to extract CryptoKey from key object",
            "InvalidAccessError: decrypt's key does not contain the 'decrypt' usage",
            "NotSupportedError: unsupported key format pkcs8",
            r#"{"kty":"oct","k":"AAAAAAAAAAAAAAAAAAAAAA","ext":true,"key_ops":["encrypt"],"alg":"A128CBC"}"#,
            "TypeError: Illegal constructor",
        ]
    );
}

#[test]
fn keys_are_wrapped() {
    let log = log_of(
        "const wrapping = await s.generateKey({ name: 'AES-GCM', length: 256 }, false, ['wrapKey', 'unwrapKey']), how = { name: 'AES-GCM', iv: u(12) };
         const key = await s.generateKey({ name: 'HMAC', hash: 'SHA-512', length: 100 }, true, ['sign']);
         for (const format of ['raw', 'jwk']) {
           const wrapped = await s.wrapKey(format, key, wrapping, how);
           const again = await s.unwrapKey(format, wrapped, wrapping, how, { name: 'HMAC', hash: 'SHA-512', length: 100 }, true, ['sign']);
           console.log(hex(await s.exportKey('raw', again)) === hex(await s.exportKey('raw', key)), again.algorithm.length);
         }",
    );
    assert_eq!(log, ["true 100", "true 100"]);
}

#[test]
fn random_values_fill_integers_alone() {
    let log = log_of(
        "const words = new Uint32Array(4); console.log(crypto.getRandomValues(words) === words, words.some((word) => word !== 0), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()));
         for (const bad of [new Float32Array(2), [], undefined, u(65537)]) await tried(async () => crypto.getRandomValues(bad));",
    );
    assert_eq!(
        log,
        [
            "true true true",
            "GoError: TypeMismatchError: typedArray parameter isn't a TypedArray instance",
            "GoError: TypeMismatchError: typedArray parameter isn't a TypedArray instance",
            "GoError: TypeMismatchError: typedArray parameter isn't a TypedArray instance",
            "GoError: QuotaExceededError: typedArray parameter is too big; maximum length is 65536",
        ]
    );
}
