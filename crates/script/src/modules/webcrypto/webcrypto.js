// Keys, and what they may be used for; the arithmetic is native.
const native = import.meta.native;

const fail = (name, message) => {
  if (name === "TypeError") throw new TypeError(message);
  throw native.fault(name, message);
};

const AES = ["AES-CBC", "AES-CTR", "AES-GCM", "AES-KW"];
const EC = ["ECDSA", "ECDH"];
const RSA = ["RSASSA-PKCS1-v1_5", "RSA-PSS", "RSA-OAEP"];
const HASHES = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"];
const CIPHERS = ["AES-CBC", "AES-CTR", "AES-GCM", "RSA-OAEP"];
const SIGNERS = ["HMAC", "ECDSA", "RSASSA-PKCS1-v1_5", "RSA-PSS"];
const DERIVERS = ["PBKDF2", "HKDF", "ECDH"];

const SUPPORTED = {
  digest: HASHES,
  encrypt: CIPHERS,
  decrypt: CIPHERS,
  wrapKey: CIPHERS,
  unwrapKey: CIPHERS,
  sign: SIGNERS,
  verify: SIGNERS,
  deriveBits: DERIVERS,
  deriveKey: DERIVERS,
  getKeyLength: [...AES, "HMAC"],
  generateKey: [...AES, "HMAC", ...EC, ...RSA],
  importKey: [...AES, "HMAC", "PBKDF2", "HKDF", ...EC, ...RSA],
};

const WRAPS = ["encrypt", "decrypt", "wrapKey", "unwrapKey"];
const SIGNS = { private: ["sign"], public: ["verify"], secret: ["sign", "verify"] };
const DERIVES = { private: ["deriveKey", "deriveBits"], public: [], secret: ["deriveKey", "deriveBits"] };
const USAGES = {
  "AES-CBC": { secret: WRAPS },
  "AES-CTR": { secret: WRAPS },
  "AES-GCM": { secret: WRAPS },
  "AES-KW": { secret: ["wrapKey", "unwrapKey"] },
  HMAC: SIGNS,
  PBKDF2: DERIVES,
  HKDF: DERIVES,
  ECDH: DERIVES,
  ECDSA: SIGNS,
  "RSASSA-PKCS1-v1_5": SIGNS,
  "RSA-PSS": SIGNS,
  "RSA-OAEP": { private: ["decrypt", "unwrapKey"], public: ["encrypt", "wrapKey"] },
};

// Without it nobody makes a key.
const TOKEN = Symbol("CryptoKey");

// The bytes of a key are reached here alone.
let materialOf;

class CryptoKey {
  #material;

  constructor(token, facts, material) {
    if (token !== TOKEN) throw new TypeError("Illegal constructor");
    for (const [name, value] of Object.entries(facts)) Object.defineProperty(this, name, { enumerable: true, value });
    this.#material = material;
  }

  static {
    materialOf = (key) =>
      typeof key === "object" && key !== null && #material in key
        ? key.#material
        : fail("ImplementationError", "unable to extract CryptoKey from key object");
  }
}

// A key's algorithm with the members that k6 lists, which are those of Go's nested structures too. The exponent, which
// k6 lacks, is there without being listed.
const shown = ({ name, hash, publicExponent, ...facts }) => {
  const algorithm = { name };
  const nested = SIGNERS.includes(name) || EC.includes(name) || RSA.includes(name);
  const all = { ...(nested && { key_algorithm: { algorithm, name } }), algorithm, name };
  if (name === "HMAC") return { ...all, hash: { algorithm: hash, name: hash.name }, ...facts };
  Object.assign(all, facts);
  if (RSA.includes(name)) Object.defineProperty(Object.assign(all, { hash }), "publicExponent", { value: publicExponent });
  return all;
};

const makeKey = (type, extractable, algorithm, usages, material) =>
  new CryptoKey(TOKEN, { type, extractable: Boolean(extractable), algorithm: shown(algorithm), usages }, material);

const isBytes = (data) => data instanceof ArrayBuffer || ArrayBuffer.isView(data);

const bytesOf = (data) =>
  isBytes(data) ? data : fail("OperationError", "data is neither an ArrayBuffer, nor a TypedArray nor DataView");

// Bytes of an algorithm's parameter: k6 takes texts and lists for them as well.
const parameterBytes = (data) => {
  if (typeof data === "string") return native.fromText(data);
  return Array.isArray(data) ? Uint8Array.from(data) : bytesOf(data);
};

const optionalBytes = (data) => (data === undefined || data === null ? new ArrayBuffer(0) : parameterBytes(data));

// A number of bits, as Go's integers take it.
const bitsGiven = (length) => Math.trunc(Number(length));

const field = (algorithm, name) =>
  algorithm[name] ?? fail("SyntaxError", `could not get ${name} from algorithm parameter`);

// An algorithm as a script names it, with the standard's spelling of the name.
const normalized = (algorithm, operation) => {
  const given = typeof algorithm === "string" ? { name: algorithm } : algorithm;
  if (typeof given !== "object" || given === null) {
    fail("SyntaxError", "algorithm cannot be interpreted as a string or an object");
  }
  const asked = String(given.name ?? "").toUpperCase();
  const name = SUPPORTED[operation].find((known) => known.toUpperCase() === asked);
  if (name === undefined) {
    fail("NotSupportedError", `algorithm "${asked}" doesn't support (in implementation) operation "${operation}"`);
  }
  return Object.assign({}, given, { name });
};

const hashOf = (algorithm) => normalized(field(algorithm, "hash"), "digest").name;

const curveOf = (algorithm) => {
  const curve = field(algorithm, "namedCurve");
  return ["P-256", "P-384", "P-521"].includes(curve)
    ? curve
    : fail("NotSupportedError", `elliptic curve ${curve} is not supported`);
};

const usagesOf = (usages) => (Array.isArray(usages) ? usages.map(String) : fail("TypeError", "key usages must be a list"));

const checkUsages = (name, type, usages) => {
  const bad = usages.find((usage) => !USAGES[name][type].includes(usage));
  if (bad !== undefined) fail("SyntaxError", `invalid key usage: ${bad}`);
  return someUsages(type, usages);
};

// As in k6, a key of a pair that is imported may have usages that it is of no use for.
const someUsages = (type, usages) => {
  if (usages.length === 0 && type !== "public") {
    fail("SyntaxError", "usages cannot not be empty for a secret or private CryptoKey");
  }
  return usages;
};

// A pair of keys: each gets those of the usages that it can have.
const makePair = (algorithm, extractable, usages, secret, open) => {
  const allowed = USAGES[algorithm.name];
  const bad = usages.find((usage) => ![...allowed.private, ...allowed.public].includes(usage));
  if (bad !== undefined) fail("SyntaxError", `invalid key usage: ${bad}`);
  const own = usages.filter((usage) => allowed.private.includes(usage));
  if (own.length === 0) fail("SyntaxError", "usages cannot not be empty for a secret or private CryptoKey");
  const others = usages.filter((usage) => allowed.public.includes(usage));
  return {
    privateKey: makeKey("private", extractable, algorithm, own, secret),
    publicKey: makeKey("public", true, algorithm, others, open),
  };
};

const AES_BITS = [128, 192, 256];

const hmacBits = (hash, length) => {
  if (length === undefined || length === null) return hash === "SHA-1" || hash === "SHA-256" ? 512 : 1024;
  return Number(length) > 0 ? Number(length) : fail("OperationError", "algorithm's length cannot be 0");
};

// As many bytes as the bits need; the bits that are too many are zero.
const cut = (bytes, bits) => {
  const kept = new Uint8Array(bytes).slice(0, Math.ceil(bits / 8));
  if (bits % 8 !== 0) kept[kept.length - 1] &= 0xff << (8 - (bits % 8));
  return kept.buffer;
};

const rsaAlgorithm = (name, hash, open) => {
  const [modulus, exponent] = native.rsaPublicParts(open);
  const leading = Math.clz32(new Uint8Array(modulus)[0]) - 24;
  return {
    name,
    modulusLength: modulus.byteLength * 8 - leading,
    publicExponent: new Uint8Array(exponent),
    hash: { name: hash },
  };
};

const generate = (algorithm, extractable, usages) => {
  const { name } = algorithm;
  if (AES.includes(name)) {
    const length = bitsGiven(field(algorithm, "length"));
    if (!AES_BITS.includes(length)) fail("OperationError", "invalid key length");
    checkUsages(name, "secret", usages);
    return makeKey("secret", extractable, { name, length }, usages, native.random(length / 8));
  }
  if (name === "HMAC") {
    const hash = hashOf(algorithm);
    const length = hmacBits(hash, algorithm.length);
    checkUsages(name, "secret", usages);
    const secret = cut(native.random(Math.ceil(length / 8)), length);
    return makeKey("secret", extractable, { name, hash: { name: hash }, length }, usages, secret);
  }
  if (EC.includes(name)) {
    const namedCurve = curveOf(algorithm);
    const secret = native.ecGenerate(namedCurve);
    return makePair({ name, namedCurve }, extractable, usages, secret, native.ecPublic(namedCurve, secret));
  }
  const bits = Number(field(algorithm, "modulusLength"));
  const exponent = bytesOf(field(algorithm, "publicExponent"));
  const hash = hashOf(algorithm);
  const secret = native.rsaGenerate(bits, exponent);
  const open = native.rsaPublic(secret);
  return makePair(rsaAlgorithm(name, hash, open), extractable, usages, secret, open);
};

const jwkOf = (data, kty, what) => {
  if (typeof data !== "object" || data === null || isBytes(data)) fail("DataError", "a JWK must be an object");
  if (data.kty !== kty) fail("DataError", `invalid ${what} JWK: invalid key type: ${data.kty}`);
  return data;
};

const jwkBytes = (jwk, name) =>
  typeof jwk[name] === "string" ? native.fromBase64Url(jwk[name]) : fail("DataError", `the JWK has no ${name}`);

const onlyFormats = (format, formats) => {
  if (!["raw", "jwk", "spki", "pkcs8"].includes(format)) fail("ImplementationError", `unsupported format ${format}`);
  if (!formats.includes(format)) fail("NotSupportedError", `unsupported key format ${format}`);
};

const importSecret = (format, data, algorithm, extractable, usages) => {
  const { name } = algorithm;
  onlyFormats(format, ["raw", "jwk"]);
  const bytes = format === "raw" ? bytesOf(data) : jwkBytes(jwkOf(data, "oct", "symmetric"), "k");
  const secret = native.copy(bytes);
  const length = secret.byteLength * 8;
  checkUsages(name, "secret", usages);
  if (AES.includes(name)) {
    if (!AES_BITS.includes(length)) fail("DataError", `invalid key length ${secret.byteLength} bytes`);
    return makeKey("secret", extractable, { name, length }, usages, secret);
  }
  if (name === "HMAC") {
    if (length === 0) fail("DataError", "key length cannot be 0");
    const bits = hmacImportBits(length, algorithm.length);
    const facts = { name, hash: { name: hashOf(algorithm) }, length: bits };
    return makeKey("secret", extractable, facts, usages, cut(secret, bits));
  }
  if (extractable) fail("SyntaxError", "invalid value for param extractable ");
  return makeKey("secret", false, { name }, usages, secret);
};

const hmacImportBits = (bits, asked) => {
  if (asked === undefined || asked === null) return bits;
  return asked <= bits && asked > bits - 8 ? asked : fail("DataError", "invalid key length");
};

const joined = (first, ...parts) => {
  const all = [Uint8Array.of(first), ...parts.map((part) => new Uint8Array(part))];
  const whole = new Uint8Array(all.reduce((length, part) => length + part.length, 0));
  all.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return whole;
};

const importEc = (format, data, algorithm, extractable, usages) => {
  const namedCurve = curveOf(algorithm);
  const facts = { name: algorithm.name, namedCurve };
  const open = (point) => makeKey("public", extractable, facts, someUsages("public", usages), point);
  const secret = (bytes) => {
    native.ecPublic(namedCurve, bytes);
    return makeKey("private", extractable, facts, someUsages("private", usages), bytes);
  };
  onlyFormats(format, ["raw", "jwk", "spki", "pkcs8"]);
  if (format === "raw") return open(native.ecPoint(namedCurve, bytesOf(data)));
  if (format === "spki") return open(native.ecFromSpki(namedCurve, bytesOf(data)));
  if (format === "pkcs8") return secret(native.ecFromPkcs8(namedCurve, bytesOf(data)));
  const jwk = jwkOf(data, "EC", "elliptic curve");
  if (jwk.crv !== namedCurve) fail("DataError", `the JWK is of the curve ${jwk.crv}, not of ${namedCurve}`);
  if (jwk.d !== undefined) return secret(jwkBytes(jwk, "d"));
  return open(native.ecPoint(namedCurve, joined(4, jwkBytes(jwk, "x"), jwkBytes(jwk, "y"))));
};

const importRsa = (format, data, algorithm, extractable, usages) => {
  const { name } = algorithm;
  const hash = hashOf(algorithm);
  const open = (key) =>
    makeKey("public", extractable, rsaAlgorithm(name, hash, key), someUsages("public", usages), key);
  const secret = (key) => {
    const facts = rsaAlgorithm(name, hash, native.rsaPublic(key));
    return makeKey("private", extractable, facts, someUsages("private", usages), key);
  };
  onlyFormats(format, ["jwk", "spki", "pkcs8"]);
  if (format === "spki") return open(native.rsaFromSpki(bytesOf(data)));
  if (format === "pkcs8") return secret(native.rsaFromPkcs8(bytesOf(data)));
  const jwk = jwkOf(data, "RSA", "RSA");
  if (jwk.d === undefined) return open(native.rsaPublicFromParts(jwkBytes(jwk, "n"), jwkBytes(jwk, "e")));
  return secret(native.rsaFromParts(...["n", "e", "d", "p", "q"].map((part) => jwkBytes(jwk, part))));
};

const imported = (format, data, algorithm, extractable, usages) => {
  if (EC.includes(algorithm.name)) return importEc(format, data, algorithm, extractable, usages);
  if (RSA.includes(algorithm.name)) return importRsa(format, data, algorithm, extractable, usages);
  return importSecret(format, data, algorithm, extractable, usages);
};

const jwkAlgorithm = ({ name, length, hash }) => {
  const bits = hash?.name.slice(4);
  if (AES.includes(name)) return `A${length}${name.slice(4)}`;
  if (name === "HMAC") return `HS${bits}`;
  if (name === "RSA-PSS") return `PS${bits}`;
  if (name === "RSA-OAEP") return bits === "1" ? "RSA-OAEP" : `RSA-OAEP-${bits}`;
  return name === "RSASSA-PKCS1-v1_5" ? `RS${bits}` : undefined;
};

const jwkParts = (key, material) => {
  const texts = (names, numbers) =>
    Object.fromEntries(numbers.map((number, index) => [names[index], native.toBase64Url(number)]));
  if (key.type === "secret") return { kty: "oct", k: native.toBase64Url(material) };
  const { namedCurve } = key.algorithm;
  if (namedCurve === undefined) {
    const numbers = key.type === "public" ? native.rsaPublicParts(material) : native.rsaParts(material);
    return { kty: "RSA", ...texts(["n", "e", "d", "p", "q", "dp", "dq", "qi"], numbers) };
  }
  const point = key.type === "public" ? material : native.ecPublic(namedCurve, material);
  const width = (point.byteLength - 1) / 2;
  const coordinates = texts(["x", "y"], [point.slice(1, 1 + width), point.slice(1 + width)]);
  const secret = key.type === "private" ? { d: native.toBase64Url(material) } : {};
  return { kty: "EC", crv: namedCurve, ...coordinates, ...secret };
};

const exported = (format, key) => {
  const material = materialOf(key);
  if (!key.extractable) fail("InvalidAccessError", "the key is not extractable");
  const { name, namedCurve } = key.algorithm;
  if (format === "jwk") {
    const alg = jwkAlgorithm(key.algorithm);
    const jwk = { ...jwkParts(key, material), ext: true, key_ops: [...key.usages] };
    return alg === undefined ? jwk : { ...jwk, alg };
  }
  const isRsa = RSA.includes(name);
  const known = { secret: ["raw"], public: isRsa ? ["spki"] : ["raw", "spki"], private: ["pkcs8"] };
  const kind = { spki: "public", pkcs8: "private", raw: isRsa ? undefined : "public" }[format];
  if (key.type === "secret" ? format !== "raw" : kind === undefined) {
    fail("NotSupportedError", `unsupported key format ${format}`);
  }
  if (!known[key.type].includes(format)) {
    fail("InvalidAccessError", `key is not a valid ${isRsa ? "RSA" : "elliptic curve"} ${kind} key`);
  }
  if (format === "raw") return native.copy(material);
  if (format === "spki") return isRsa ? native.rsaToSpki(material) : native.ecToSpki(namedCurve, material);
  return isRsa ? native.rsaToPkcs8(material) : native.ecToPkcs8(namedCurve, material);
};

// The bytes of a key that may be used so, here and now.
const allowed = (operation, usage, algorithm, key) => {
  const material = materialOf(key);
  // k6 does not say so for signatures.
  const whose = SIGNS.secret.includes(operation) ? "" : `${operation}'s `;
  if (algorithm.name !== key.algorithm.name) {
    fail("InvalidAccessError", `${whose}algorithm name does not match key algorithm name`);
  }
  if (!key.usages.includes(usage)) {
    fail("InvalidAccessError", `${whose}key does not contain the '${usage}' usage`);
  }
  return material;
};

const tagBytes = (algorithm) => {
  const tagLength = bitsGiven(algorithm.tagLength ?? 128);
  if ([32, 64].includes(tagLength)) fail("NotSupportedError", "tag length 32 and 64 are not supported");
  return [96, 104, 112, 120, 128].includes(tagLength)
    ? tagLength / 8
    : fail("OperationError", "invalid tag length, should be one of 96, 104, 112, 120, 128");
};

const ciphered = (algorithm, key, material, data, encrypts) => {
  switch (algorithm.name) {
    case "AES-CBC":
      return native.aesCbc(encrypts, material, optionalBytes(algorithm.iv), data);
    case "AES-CTR": {
      const { length } = algorithm;
      if (!(length > 0 && length <= 128)) {
        fail("OperationError", "invalid counter length, out of the 0 < x < 128 bounds");
      }
      return native.aesCtr(material, optionalBytes(algorithm.counter), data);
    }
    case "AES-GCM": {
      const gcm = encrypts ? native.aesGcmEncrypt : native.aesGcmDecrypt;
      const additional = optionalBytes(algorithm.additionalData);
      return gcm(material, parameterBytes(algorithm.iv), additional, tagBytes(algorithm), data);
    }
    default: {
      const oaep = encrypts ? native.rsaEncrypt : native.rsaDecrypt;
      return oaep(key.algorithm.hash.name, material, optionalBytes(algorithm.label), data);
    }
  }
};

const saltLength = (algorithm) =>
  algorithm.name === "RSA-PSS" ? Number(field(algorithm, "saltLength")) : undefined;

const bitsOf = (length) => {
  if (!length) fail("OperationError", "length can not be 0");
  if (length % 8 !== 0) fail("OperationError", "currently only multiples of 8 are supported for length");
  return length / 8;
};

const saltOf = (algorithm) => parameterBytes(algorithm.salt ?? fail("TypeError", "field salt is null or undefined"));

const agreed = (algorithm, key, material, length) => {
  const other = algorithm.public ?? fail("TypeError", "algorithm does not contain a public key");
  const point = materialOf(other);
  if (other.algorithm.name !== "ECDH") {
    const names = `ECDH != ${other.algorithm.name}`;
    fail("InvalidAccessError", `algorithm name does not match public key's algorithm name: ${names}`);
  }
  if (other.algorithm.namedCurve !== key.algorithm.namedCurve || other.type !== "public") {
    fail("InvalidAccessError", "the public key is not one of the private key's curve");
  }
  const secret = native.ecAgree(key.algorithm.namedCurve, material, point);
  const bytes = length === null ? secret.byteLength : bitsOf(length);
  return bytes <= secret.byteLength ? secret.slice(0, bytes) : fail("OperationError", "length is too large");
};

const derived = (algorithm, key, material, length) => {
  if (algorithm.name === "ECDH") return agreed(algorithm, key, material, length ?? null);
  const bytes = bitsOf(length);
  const hash = hashOf(algorithm);
  if (algorithm.name === "HKDF") {
    return native.hkdf(hash, material, saltOf(algorithm), parameterBytes(field(algorithm, "info")), bytes);
  }
  const salt = saltOf(algorithm);
  const iterations = Number(algorithm.iterations) || fail("OperationError", "number of iterations can't be 0");
  return native.pbkdf2(hash, material, salt, iterations, bytes);
};

const keyBits = (algorithm) => {
  if (algorithm.name === "HMAC") return hmacBits(hashOf(algorithm), algorithm.length);
  const length = bitsGiven(algorithm.length);
  return AES_BITS.includes(length) ? length : fail("OperationError", "invalid key length");
};

// What a wrapped key is as bytes: its JWK as text, other formats as they are.
const wrappable = (format, key) => {
  const value = exported(format, key);
  return format === "jwk" ? native.fromText(JSON.stringify(value)) : value;
};

const subtle = {
  async decrypt(algorithm, key, data) {
    const how = normalized(algorithm, "decrypt");
    const bytes = bytesOf(data);
    return ciphered(how, key, allowed("decrypt", "decrypt", how, key), bytes, false);
  },
  async deriveBits(algorithm, key, length) {
    const how = normalized(algorithm, "deriveBits");
    return derived(how, key, allowed("deriveBits", "deriveBits", how, key), length);
  },
  async deriveKey(algorithm, key, derivedType, extractable, usages) {
    const how = normalized(algorithm, "deriveKey");
    const made = normalized(derivedType, "getKeyLength");
    const bits = derived(how, key, allowed("deriveKey", "deriveKey", how, key), keyBits(made));
    return imported("raw", bits, made, extractable, usagesOf(usages));
  },
  async digest(algorithm, data) {
    return native.digest(normalized(algorithm, "digest").name, bytesOf(data));
  },
  async encrypt(algorithm, key, data) {
    const how = normalized(algorithm, "encrypt");
    const bytes = bytesOf(data);
    return ciphered(how, key, allowed("encrypt", "encrypt", how, key), bytes, true);
  },
  async exportKey(format, key) {
    return exported(format, key);
  },
  async generateKey(algorithm, extractable, usages) {
    return generate(normalized(algorithm, "generateKey"), extractable, usagesOf(usages));
  },
  async importKey(format, data, algorithm, extractable, usages) {
    return imported(format, data, normalized(algorithm, "importKey"), extractable, usagesOf(usages));
  },
  async sign(algorithm, key, data) {
    const how = normalized(algorithm, "sign");
    const bytes = bytesOf(data);
    const material = allowed("sign", "sign", how, key);
    const { hash, namedCurve } = key.algorithm;
    if (how.name === "HMAC") return native.hmacSign(hash.name, material, bytes);
    if (how.name === "ECDSA") return native.ecSign(namedCurve, hashOf(how), material, bytes);
    return native.rsaSign(hash.name, material, saltLength(how), bytes);
  },
  async unwrapKey(format, wrapped, key, algorithm, keyAlgorithm, extractable, usages) {
    const how = normalized(algorithm, "unwrapKey");
    const bytes = ciphered(how, key, allowed("unwrapKey", "unwrapKey", how, key), bytesOf(wrapped), false);
    const data = format === "jwk" ? JSON.parse(native.toText(bytes)) : bytes;
    return imported(format, data, normalized(keyAlgorithm, "importKey"), extractable, usagesOf(usages));
  },
  async verify(algorithm, key, signature, data) {
    const how = normalized(algorithm, "verify");
    const [told, bytes] = [bytesOf(signature), bytesOf(data)];
    const material = allowed("verify", "verify", how, key);
    const { hash, namedCurve } = key.algorithm;
    if (how.name === "HMAC") return native.hmacVerify(hash.name, material, told, bytes);
    if (how.name === "ECDSA") return native.ecVerify(namedCurve, hashOf(how), material, told, bytes);
    return native.rsaVerify(hash.name, material, saltLength(how), told, bytes);
  },
  async wrapKey(format, key, wrappingKey, algorithm) {
    const how = normalized(algorithm, "wrapKey");
    const material = allowed("wrapKey", "wrapKey", how, wrappingKey);
    return ciphered(how, wrappingKey, material, wrappable(format, key), true);
  },
};

const INTEGERS = [
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array,
  BigUint64Array,
];

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export const crypto = {
  getRandomValues(array) {
    if (!INTEGERS.some((kind) => array instanceof kind)) {
      native.refuse("TypeMismatchError", "typedArray parameter isn't a TypedArray instance");
    }
    if (array.byteLength > 65536) {
      native.refuse("QuotaExceededError", "typedArray parameter is too big; maximum length is 65536");
    }
    const random = new Uint8Array(native.random(array.byteLength));
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(random);
    return array;
  },
  randomUUID() {
    const bytes = new Uint8Array(native.random(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    return hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  },
  subtle,
  CryptoKey,
};
