//! RSA: signatures (PKCS #1 v1.5 and PSS) and encryption (OAEP).
//!
//! Keys are DER in PKCS #1 format (RFC 8017, appendix A.1). Must not know scripts' algorithm objects.
//! Invariant: an invalid key is an error, not a panic.

use rquickjs::{ArrayBuffer, Ctx, Function, Object, Result};
use rsa::pkcs1::{
    DecodeRsaPrivateKey, DecodeRsaPublicKey, EncodeRsaPrivateKey, EncodeRsaPublicKey,
};
use rsa::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
use rsa::traits::PublicKeyParts;
use rsa::{BoxedUint, Oaep, Pkcs1v15Sign, Pss, RsaPrivateKey, RsaPublicKey};

use super::hashing::{Hash, with_hash};
use super::{Conversion, Data, HostRandom, Refusal, buffer, with_room};

/// Maximum bits of a generated key: larger ones take minutes of a worker's time.
const BITS_MAX: usize = 8_192;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("rsaGenerate", Function::new(ctx.clone(), generate)?)?;
    let conversions: [(&str, Conversion); 6] = [
        ("rsaPublic", |der| {
            public_der(&RsaPrivateKey::from_pkcs1_der(der).ok()?.to_public_key())
        }),
        ("rsaFromPkcs8", |der| {
            private_der(&RsaPrivateKey::from_pkcs8_der(der).ok()?)
        }),
        ("rsaToPkcs8", |der| {
            let key = RsaPrivateKey::from_pkcs1_der(der).ok()?;
            Some(key.to_pkcs8_der().ok()?.as_bytes().to_vec())
        }),
        ("rsaFromSpki", |der| {
            public_der(&RsaPublicKey::from_public_key_der(der).ok()?)
        }),
        ("rsaToSpki", |der| {
            let key = RsaPublicKey::from_pkcs1_der(der).ok()?;
            Some(key.to_public_key_der().ok()?.as_bytes().to_vec())
        }),
        ("rsaCheckPublic", |der| {
            public_der(&RsaPublicKey::from_pkcs1_der(der).ok()?)
        }),
    ];
    for (name, convert) in conversions {
        let convert = move |ctx: Ctx<'js>, data: Data| imported(&ctx, || convert(&data.0));
        natives.set(name, Function::new(ctx.clone(), convert)?)?;
    }
    natives.set("rsaFromParts", Function::new(ctx.clone(), from_parts)?)?;
    natives.set(
        "rsaPublicFromParts",
        Function::new(ctx.clone(), public_from_parts)?,
    )?;
    natives.set("rsaParts", Function::new(ctx.clone(), parts)?)?;
    natives.set("rsaPublicParts", Function::new(ctx.clone(), public_parts)?)?;
    natives.set("rsaSign", Function::new(ctx.clone(), sign)?)?;
    natives.set("rsaVerify", Function::new(ctx.clone(), verify)?)?;
    natives.set("rsaEncrypt", Function::new(ctx.clone(), encrypt)?)?;
    natives.set("rsaDecrypt", Function::new(ctx.clone(), decrypt)?)
}

fn imported<'js>(
    ctx: &Ctx<'js>,
    work: impl FnOnce() -> Option<Vec<u8>>,
) -> Result<ArrayBuffer<'js>> {
    let why = || ("DataError", "unable to import RSA key data".to_owned());
    let der = with_room(ctx, || work().ok_or_else(why))?;
    buffer(ctx, der)
}

fn private_der(key: &RsaPrivateKey) -> Option<Vec<u8>> {
    Some(key.to_pkcs1_der().ok()?.as_bytes().to_vec())
}

fn public_der(key: &RsaPublicKey) -> Option<Vec<u8>> {
    Some(key.to_pkcs1_der().ok()?.as_bytes().to_vec())
}

fn private_key(der: &[u8]) -> std::result::Result<RsaPrivateKey, Refusal> {
    let why = |_| {
        (
            "InvalidAccessError",
            "key is not a valid RSA private key".to_owned(),
        )
    };
    RsaPrivateKey::from_pkcs1_der(der).map_err(why)
}

fn public_key(der: &[u8]) -> std::result::Result<RsaPublicKey, Refusal> {
    let why = |_| {
        (
            "InvalidAccessError",
            "key is not a valid RSA public key".to_owned(),
        )
    };
    RsaPublicKey::from_pkcs1_der(der).map_err(why)
}

fn generate<'js>(ctx: Ctx<'js>, bits: usize, exponent: Data) -> Result<ArrayBuffer<'js>> {
    let der = with_room(&ctx, || {
        check_exponent(&exponent.0)?;
        let exponent = integer(&exponent.0);
        let key = (bits <= BITS_MAX)
            .then(|| RsaPrivateKey::new_with_exp(&mut HostRandom(&ctx), bits, exponent))
            .and_then(std::result::Result::ok);
        let der = key.and_then(|key| private_der(&key));
        der.ok_or_else(|| {
            (
                "OperationError",
                "could not generate RSA key pair".to_owned(),
            )
        })
    })?;
    buffer(&ctx, der)
}

/// A search for a key would never end with an exponent that has none.
fn check_exponent(bytes: &[u8]) -> std::result::Result<(), Refusal> {
    let first = bytes.iter().position(|byte| *byte != 0);
    let digits = first.map_or(&[][..], |first| &bytes[first..]);
    let why = match digits {
        [.., last] if last % 2 == 0 => "public exponent is even",
        [] => "public exponent is even",
        [1] => "public exponent too small",
        [first, _, _, _] if *first > 0x7f => "public exponent too large",
        [_, _, _, _, _, ..] => "public exponent too large",
        _ => return Ok(()),
    };
    Err(("OperationError", format!("invalid public exponent: {why}")))
}

fn integer(bytes: &[u8]) -> BoxedUint {
    BoxedUint::from_be_slice_vartime(bytes)
}

/// A private key from its numbers n, e, d, p and q.
fn from_parts<'js>(
    ctx: Ctx<'js>,
    n: Data,
    e: Data,
    d: Data,
    p: Data,
    q: Data,
) -> Result<ArrayBuffer<'js>> {
    imported(&ctx, || {
        let [n, e, d] = [n, e, d].map(|number| integer(&number.0));
        let primes = vec![integer(&p.0), integer(&q.0)];
        private_der(&RsaPrivateKey::from_components(n, e, d, primes).ok()?)
    })
}

fn public_from_parts<'js>(ctx: Ctx<'js>, n: Data, e: Data) -> Result<ArrayBuffer<'js>> {
    imported(&ctx, || {
        public_der(&RsaPublicKey::new(integer(&n.0), integer(&e.0)).ok()?)
    })
}

/// The numbers of a private key in the order n, e, d, p, q, dp, dq, qi.
fn parts<'js>(ctx: Ctx<'js>, key: Data) -> Result<Vec<ArrayBuffer<'js>>> {
    let numbers = with_room(&ctx, || {
        let why = |_| {
            (
                "InvalidAccessError",
                "key is not a valid RSA private key".to_owned(),
            )
        };
        let key = rsa::pkcs1::RsaPrivateKey::try_from(key.0.as_slice()).map_err(why)?;
        let numbers = [
            key.modulus,
            key.public_exponent,
            key.private_exponent,
            key.prime1,
            key.prime2,
            key.exponent1,
            key.exponent2,
            key.coefficient,
        ];
        Ok(numbers.map(|number: rsa::pkcs1::UintRef<'_>| number.as_bytes().to_vec()))
    })?;
    numbers
        .into_iter()
        .map(|number| buffer(&ctx, number))
        .collect()
}

/// The numbers n and e of a public key.
fn public_parts<'js>(ctx: Ctx<'js>, key: Data) -> Result<Vec<ArrayBuffer<'js>>> {
    let numbers = with_room(&ctx, || {
        let key = public_key(&key.0)?;
        Ok([key.n_bytes(), key.e_bytes()].map(|number| number.into_vec()))
    })?;
    numbers
        .into_iter()
        .map(|number| buffer(&ctx, number))
        .collect()
}

/// Signs; `salt` is the length of the PSS salt, `None` for PKCS #1 v1.5.
fn sign<'js>(
    ctx: Ctx<'js>,
    hash: Hash,
    key: Data,
    salt: Option<usize>,
    data: Data,
) -> Result<ArrayBuffer<'js>> {
    let signature = with_room(&ctx, || {
        let key = private_key(&key.0)?;
        let digest = hash.of(&data.0);
        let random = &mut HostRandom(&ctx);
        let signature = with_hash!(hash, D => match salt {
            Some(length) if length > key.size() => Err(rsa::Error::MessageTooLong),
            Some(length) => key.sign_with_rng(random, Pss::<D>::new_with_salt(length), &digest),
            None => key.sign_with_rng(random, Pkcs1v15Sign::new::<D>(), &digest),
        });
        signature.map_err(|error| refusal("could not sign data", &error))
    })?;
    buffer(&ctx, signature)
}

fn verify(
    ctx: Ctx<'_>,
    hash: Hash,
    key: Data,
    salt: Option<usize>,
    signature: Data,
    data: Data,
) -> Result<bool> {
    with_room(&ctx, || {
        let key = public_key(&key.0)?;
        let digest = hash.of(&data.0);
        let verified = with_hash!(hash, D => match salt {
            Some(length) if length > key.size() => return Ok(false),
            Some(length) => key.verify(Pss::<D>::new_with_salt(length), &digest, &signature.0),
            None => key.verify(Pkcs1v15Sign::new::<D>(), &digest, &signature.0),
        });
        Ok(verified.is_ok())
    })
}

fn encrypt<'js>(
    ctx: Ctx<'js>,
    hash: Hash,
    key: Data,
    label: Data,
    data: Data,
) -> Result<ArrayBuffer<'js>> {
    let sealed = with_room(&ctx, || {
        let key = public_key(&key.0)?;
        let random = &mut HostRandom(&ctx);
        let sealed = with_hash!(hash, D => {
            key.encrypt(random, Oaep::<D>::new_with_label(label.0), &data.0)
        });
        sealed.map_err(|error| refusal("could not encrypt data", &error))
    })?;
    buffer(&ctx, sealed)
}

fn decrypt<'js>(
    ctx: Ctx<'js>,
    hash: Hash,
    key: Data,
    label: Data,
    data: Data,
) -> Result<ArrayBuffer<'js>> {
    let opened = with_room(&ctx, || {
        let key = private_key(&key.0)?;
        let random = &mut HostRandom(&ctx);
        let opened = with_hash!(hash, D => {
            key.decrypt_blinded(random, Oaep::<D>::new_with_label(label.0), &data.0)
        });
        opened.map_err(|error| refusal("could not decrypt data", &error))
    })?;
    buffer(&ctx, opened)
}

/// What failed and why; in the words of Go's library for the errors that scripts log.
fn refusal(what: &str, error: &rsa::Error) -> Refusal {
    let reason = match error {
        rsa::Error::MessageTooLong => "message too long for RSA key size",
        rsa::Error::Decryption => "decryption error",
        _ => "invalid key or input",
    };
    ("OperationError", format!("{what}: crypto/rsa: {reason}"))
}
