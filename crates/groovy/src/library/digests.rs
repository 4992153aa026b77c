//! Digests, including keyed ones, base64 and hexadecimal encoding.
//!
//! Must not know what is digested. Invariant: the error for an unknown algorithm contains its name.

use std::cell::RefCell;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};

use super::super::convert;
use super::super::print;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Object, Outcome, Value};
use super::Class;
use super::{bytes_of, text_of, text_wanted};

/// `MessageDigest`.
struct Digester {
    algorithm: String,
    bytes: RefCell<Vec<u8>>,
}

/// `Mac` with its key.
struct Keyed {
    algorithm: String,
    key: RefCell<Vec<u8>>,
    bytes: RefCell<Vec<u8>>,
}

/// `Base64.getEncoder` etc.
struct Coder {
    is_url: bool,
    has_padding: bool,
}

fn unknown(algorithm: &str, of: &str) -> Thrown {
    Thrown::of(
        "java.security.NoSuchAlgorithmException",
        format!("{algorithm}{of} not available"),
    )
}

/// A digest of bytes.
pub(super) fn digest(algorithm: &str, bytes: &[u8]) -> Outcome<Vec<u8>> {
    Ok(match algorithm.to_ascii_uppercase().as_str() {
        "MD5" => Md5::digest(bytes).to_vec(),
        "SHA" | "SHA1" | "SHA-1" => Sha1::digest(bytes).to_vec(),
        "SHA-224" => Sha224::digest(bytes).to_vec(),
        "SHA-256" => Sha256::digest(bytes).to_vec(),
        "SHA-384" => Sha384::digest(bytes).to_vec(),
        "SHA-512" => Sha512::digest(bytes).to_vec(),
        _ => return Err(unknown(algorithm, " MessageDigest")),
    })
}

fn keyed(algorithm: &str, key: &[u8], bytes: &[u8]) -> Outcome<Vec<u8>> {
    macro_rules! with {
        ($digest:ty) => {{
            let mac = Hmac::<$digest>::new_from_slice(key);
            let mut mac = mac.map_err(|_| Thrown::argument("Empty key"))?;
            mac.update(bytes);
            mac.finalize().into_bytes().to_vec()
        }};
    }
    Ok(match algorithm.to_ascii_uppercase().as_str() {
        "HMACMD5" => with!(Md5),
        "HMACSHA1" => with!(Sha1),
        "HMACSHA224" => with!(Sha224),
        "HMACSHA256" => with!(Sha256),
        "HMACSHA384" => with!(Sha384),
        "HMACSHA512" => with!(Sha512),
        _ => return Err(unknown("Algorithm ", algorithm)),
    })
}

pub(super) fn hex_digest(algorithm: &str, bytes: &[u8]) -> Outcome {
    Ok(Value::text(HEXLOWER.encode(&digest(algorithm, bytes)?)))
}

pub(super) fn base64(bytes: &[u8]) -> Value {
    Value::text(STANDARD.encode(bytes))
}

/// The URL-safe alphabet, without padding.
pub(super) fn base64_of_url(bytes: &[u8]) -> Value {
    Value::text(URL_SAFE_NO_PAD.encode(bytes))
}

pub(super) fn from_base64(text: &str) -> Outcome {
    let plain: String = text
        .chars()
        .filter(|one| !one.is_whitespace() && *one != '=')
        .collect();
    let plain = plain.replace('-', "+").replace('_', "/");
    let bytes = STANDARD_NO_PAD.decode(&plain);
    bytes.map(|bytes| Value::bytes(&bytes)).map_err(|_| {
        Thrown::of(
            "java.lang.RuntimeException",
            "bad character in base64 value",
        )
    })
}

pub(super) fn from_hex(text: &str) -> Outcome {
    let pairs = text.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).unwrap_or_default();
        u8::from_str_radix(pair, 16).map_err(|_| {
            Thrown::of(
                "java.lang.NumberFormatException",
                format!("For input string: \"{pair}\""),
            )
        })
    });
    let bytes: Vec<u8> = pairs.collect::<Outcome<_>>()?;
    Ok(Value::bytes(&bytes))
}

/// An argument with bytes: as an array, or as a text in UTF-8.
fn given_bytes(given: &[Value], place: usize) -> Outcome<Vec<u8>> {
    match given.get(place) {
        Some(Value::Text(text)) => Ok(text.as_bytes().to_vec()),
        Some(Value::Byte(byte)) => Ok(vec![byte.cast_unsigned()]),
        _ => bytes_of(given, place),
    }
}

pub(super) static DIGEST: Table = Table::new(&[
    row("update", 1, 3, |_, this, given| {
        if let Some(digester) = this.of::<Digester>() {
            digester.bytes.borrow_mut().extend(given_bytes(given, 0)?);
        }
        Ok(Value::Null)
    }),
    row("digest", 0, 1, |_, this, given| {
        let Some(digester) = this.of::<Digester>() else {
            return Ok(Value::Null);
        };
        let mut bytes = digester.bytes.take();
        if !given.is_empty() {
            bytes.extend(given_bytes(given, 0)?);
        }
        Ok(Value::bytes(&digest(&digester.algorithm, &bytes)?))
    }),
    row("reset", 0, 0, |_, this, _| {
        if let Some(digester) = this.of::<Digester>() {
            digester.bytes.borrow_mut().clear();
        }
        Ok(Value::Null)
    }),
    row("getAlgorithm", 0, 0, |_, this, _| {
        Ok(Value::optional(
            this.of::<Digester>().map(|one| one.algorithm.as_str()),
        ))
    }),
]);

impl Object for Digester {
    fn class(&self) -> &'static str {
        "java.security.MessageDigest"
    }

    fn methods(&self) -> &'static Table {
        &DIGEST
    }
}

pub(super) static MAC: Table = Table::new(&[
    row("init", 1, 1, |_, this, given| {
        if let (Some(mac), Some(key)) = (this.of::<Keyed>(), given[0].of::<Keyed>()) {
            mac.key.replace(key.key.borrow().clone());
        }
        Ok(Value::Null)
    }),
    row("update", 1, 1, |_, this, given| {
        if let Some(mac) = this.of::<Keyed>() {
            mac.bytes.borrow_mut().extend(given_bytes(given, 0)?);
        }
        Ok(Value::Null)
    }),
    row("doFinal", 0, 1, |_, this, given| {
        let Some(mac) = this.of::<Keyed>() else {
            return Ok(Value::Null);
        };
        let mut bytes = mac.bytes.take();
        if !given.is_empty() {
            bytes.extend(given_bytes(given, 0)?);
        }
        Ok(Value::bytes(&keyed(
            &mac.algorithm,
            &mac.key.borrow(),
            &bytes,
        )?))
    }),
    row("getEncoded", 0, 0, |_, this, _| {
        Ok(this
            .of::<Keyed>()
            .map_or(Value::Null, |key| Value::bytes(&key.key.borrow())))
    }),
]);

impl Object for Keyed {
    fn class(&self) -> &'static str {
        "javax.crypto.Mac"
    }

    fn methods(&self) -> &'static Table {
        &MAC
    }
}

impl Coder {
    fn encoded(&self, bytes: &[u8]) -> String {
        match (self.is_url, self.has_padding) {
            (false, true) => STANDARD.encode(bytes),
            (false, false) => STANDARD_NO_PAD.encode(bytes),
            (true, true) => URL_SAFE.encode(bytes),
            (true, false) => URL_SAFE_NO_PAD.encode(bytes),
        }
    }
}

fn decoded(this: &Value, given: &[Value]) -> Outcome {
    let is_url = this.of::<Coder>().is_some_and(|coder| coder.is_url);
    let text = match &given[0] {
        Value::List(_) => String::from_utf8_lossy(&bytes_of(given, 0)?).into_owned(),
        _ => text_wanted(given, 0)?,
    };
    let plain = text.trim_end_matches('=');
    let bytes = match is_url {
        true => URL_SAFE_NO_PAD.decode(plain),
        false => STANDARD_NO_PAD.decode(plain),
    };
    bytes.map(|bytes| Value::bytes(&bytes)).map_err(|_| {
        let odd = plain
            .chars()
            .find(|one| !one.is_ascii_alphanumeric() && !matches!(one, '+' | '/'));
        match odd {
            Some(odd) => Thrown::argument(format!("Illegal base64 character {:x}", u32::from(odd))),
            None => Thrown::argument("Last unit does not have enough valid bits"),
        }
    })
}

pub(super) static CODER: Table = Table::new(&[
    row("encodeToString", 1, 1, |_, this, given| {
        let bytes = bytes_of(given, 0)?;
        Ok(Value::optional(
            this.of::<Coder>().map(|coder| coder.encoded(&bytes)),
        ))
    }),
    row("encode", 1, 1, |_, this, given| {
        let bytes = bytes_of(given, 0)?;
        Ok(this.of::<Coder>().map_or(Value::Null, |coder| {
            Value::bytes(coder.encoded(&bytes).as_bytes())
        }))
    }),
    row("decode", 1, 1, |_, this, given| decoded(this, given)),
    row("withoutPadding", 0, 0, |_, this, _| {
        let is_url = this.of::<Coder>().is_some_and(|coder| coder.is_url);
        Ok(Value::object(Coder {
            is_url,
            has_padding: false,
        }))
    }),
]);

impl Object for Coder {
    fn class(&self) -> &'static str {
        "java.util.Base64$Encoder"
    }

    fn methods(&self) -> &'static Table {
        &CODER
    }
}

fn coder(is_url: bool) -> Outcome {
    Ok(Value::object(Coder {
        is_url,
        has_padding: true,
    }))
}

static BASE64: Table = Table::new(&[
    row("getEncoder", 0, 0, |_, _, _| coder(false)),
    row("getDecoder", 0, 0, |_, _, _| coder(false)),
    row("getUrlEncoder", 0, 0, |_, _, _| coder(true)),
    row("getUrlDecoder", 0, 0, |_, _, _| coder(true)),
    row("getMimeEncoder", 0, 0, |_, _, _| coder(false)),
    row("getMimeDecoder", 0, 0, |_, _, _| coder(false)),
]);

/// Base64 of Apache Commons.
static COMMONS_BASE64: Table = Table::new(&[
    row("new", 0, 0, |_, _, _| coder(false)),
    row("encodeBase64String", 1, 1, |_, _, given| {
        Ok(base64(&bytes_of(given, 0)?))
    }),
    row("encodeBase64URLSafeString", 1, 1, |_, _, given| {
        Ok(Value::text(URL_SAFE_NO_PAD.encode(bytes_of(given, 0)?)))
    }),
    row("encodeBase64", 1, 2, |_, _, given| {
        Ok(Value::bytes(
            STANDARD.encode(bytes_of(given, 0)?).as_bytes(),
        ))
    }),
    row("decodeBase64", 1, 1, |_, _, given| match &given[0] {
        Value::List(_) => from_base64(&String::from_utf8_lossy(&bytes_of(given, 0)?)),
        other => from_base64(&print::text(other)),
    }),
]);

static MESSAGE_DIGEST: Table = Table::new(&[row("getInstance", 1, 1, |_, _, given| {
    let algorithm = text_of(given, 0);
    digest(&algorithm, b"")?;
    Ok(Value::object(Digester {
        algorithm,
        bytes: RefCell::default(),
    }))
})]);

static MAC_STATICS: Table = Table::new(&[row("getInstance", 1, 1, |_, _, given| {
    let algorithm = text_of(given, 0);
    keyed(&algorithm, b"k", b"")?;
    Ok(Value::object(Keyed {
        algorithm,
        key: RefCell::default(),
        bytes: RefCell::default(),
    }))
})]);

static KEY: Table = Table::new(&[row("new", 2, 2, |_, _, given| {
    let key = bytes_of(given, 0)?;
    if key.is_empty() {
        return Err(Thrown::argument("Empty key"));
    }
    Ok(Value::object(Keyed {
        algorithm: text_of(given, 1),
        key: RefCell::new(key),
        bytes: RefCell::default(),
    }))
})]);

fn utils(algorithm: &str, given: &[Value]) -> Outcome {
    hex_digest(algorithm, &given_bytes(given, 0)?)
}

static DIGEST_UTILS: Table = Table::new(&[
    row("md5Hex", 1, 1, |_, _, given| utils("MD5", given)),
    row("sha1Hex", 1, 1, |_, _, given| utils("SHA-1", given)),
    row("shaHex", 1, 1, |_, _, given| utils("SHA-1", given)),
    row("sha256Hex", 1, 1, |_, _, given| utils("SHA-256", given)),
    row("sha384Hex", 1, 1, |_, _, given| utils("SHA-384", given)),
    row("sha512Hex", 1, 1, |_, _, given| utils("SHA-512", given)),
    row("md5", 1, 1, |_, _, given| {
        Ok(Value::bytes(&digest("MD5", &given_bytes(given, 0)?)?))
    }),
    row("sha256", 1, 1, |_, _, given| {
        Ok(Value::bytes(&digest("SHA-256", &given_bytes(given, 0)?)?))
    }),
]);

static HEX: Table = Table::new(&[
    row("encodeHexString", 1, 1, |_, _, given| {
        Ok(Value::text(HEXLOWER.encode(&bytes_of(given, 0)?)))
    }),
    row("decodeHex", 1, 1, |_, _, given| match &given[0] {
        Value::Text(text) => from_hex(text),
        Value::List(list) => from_hex(&list.copied().iter().map(print::text).collect::<String>()),
        other => Err(convert::cannot_cast(other, "java.lang.String")),
    }),
]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.util.Base64",
        statics: &BASE64,
    },
    Class {
        name: "org.apache.commons.codec.binary.Base64",
        statics: &COMMONS_BASE64,
    },
    Class {
        name: "java.security.MessageDigest",
        statics: &MESSAGE_DIGEST,
    },
    Class {
        name: "javax.crypto.Mac",
        statics: &MAC_STATICS,
    },
    Class {
        name: "javax.crypto.spec.SecretKeySpec",
        statics: &KEY,
    },
    Class {
        name: "org.apache.commons.codec.digest.DigestUtils",
        statics: &DIGEST_UTILS,
    },
    Class {
        name: "org.apache.commons.codec.binary.Hex",
        statics: &HEX,
    },
];
