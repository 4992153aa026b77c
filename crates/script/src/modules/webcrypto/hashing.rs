//! Digests, keyed digests, and keys derived from them.
//!
//! Must not know scripts' algorithm objects. Invariant: only the four hashes of the standard are supported.

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use rquickjs::{ArrayBuffer, Ctx, FromJs, Function, Object, Result, Value};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::{Data, buffer, fail};

/// A hash function of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl<'js> FromJs<'js> for Hash {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Hash> {
        let name: String = value.get()?;
        match name.as_str() {
            "SHA-1" => Ok(Hash::Sha1),
            "SHA-256" => Ok(Hash::Sha256),
            "SHA-384" => Ok(Hash::Sha384),
            "SHA-512" => Ok(Hash::Sha512),
            _ => Err(fail(
                ctx,
                "NotSupportedError",
                &format!("{name} is not a hash function here"),
            )),
        }
    }
}

/// Evaluates an expression with a type name for the type of a [`Hash`].
macro_rules! with_hash {
    ($hash:expr, $name:ident => $body:expr) => {
        match $hash {
            Hash::Sha1 => {
                type $name = sha1::Sha1;
                $body
            }
            Hash::Sha256 => {
                type $name = sha2::Sha256;
                $body
            }
            Hash::Sha384 => {
                type $name = sha2::Sha384;
                $body
            }
            Hash::Sha512 => {
                type $name = sha2::Sha512;
                $body
            }
        }
    };
}
pub(super) use with_hash;

impl Hash {
    /// The digest of bytes.
    pub(super) fn of(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Hash::Sha1 => Sha1::digest(bytes).to_vec(),
            Hash::Sha256 => Sha256::digest(bytes).to_vec(),
            Hash::Sha384 => Sha384::digest(bytes).to_vec(),
            Hash::Sha512 => Sha512::digest(bytes).to_vec(),
        }
    }
}

/// Maximum bytes of one derivation: a script's mistake must not use up the machine's memory.
const DERIVED_MAX: usize = 1 << 20;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    let digest = |ctx: Ctx<'js>, hash: Hash, data: Data| buffer(&ctx, hash.of(&data.0));
    natives.set("digest", Function::new(ctx.clone(), digest)?)?;
    let sign = |ctx: Ctx<'js>, hash: Hash, key: Data, data: Data| {
        buffer(
            &ctx,
            with_hash!(hash, D => {
                keyed::<D, _>(&key.0, |mac: Hmac<D>| mac.chain_update(&data.0).finalize().into_bytes().to_vec())
            }),
        )
    };
    natives.set("hmacSign", Function::new(ctx.clone(), sign)?)?;
    let verify = |hash: Hash, key: Data, signature: Data, data: Data| {
        with_hash!(hash, D => {
            keyed::<D, _>(&key.0, |mac: Hmac<D>| mac.chain_update(&data.0).verify_slice(&signature.0).is_ok())
        })
    };
    natives.set("hmacVerify", Function::new(ctx.clone(), verify)?)?;
    natives.set("pbkdf2", Function::new(ctx.clone(), pbkdf2)?)?;
    natives.set("hkdf", Function::new(ctx.clone(), hkdf)?)
}

/// Runs a function with a keyed digest.
fn keyed<D, T>(key: &[u8], use_it: impl FnOnce(Hmac<D>) -> T) -> T
where
    D: hmac::EagerHash,
    Hmac<D>: KeyInit,
{
    let mac = <Hmac<D> as KeyInit>::new_from_slice(key);
    use_it(mac.expect("HMAC takes keys of any length"))
}

/// PBKDF2 (RFC 8018, section 5.2).
fn pbkdf2<'js>(
    ctx: Ctx<'js>,
    hash: Hash,
    password: Data,
    salt: Data,
    iterations: u32,
    length: usize,
) -> Result<ArrayBuffer<'js>> {
    let mut derived = room(&ctx, length)?;
    with_hash!(hash, D => pbkdf2::pbkdf2_hmac::<D>(&password.0, &salt.0, iterations, &mut derived));
    buffer(&ctx, derived)
}

/// HKDF (RFC 5869).
fn hkdf<'js>(
    ctx: Ctx<'js>,
    hash: Hash,
    key: Data,
    salt: Data,
    info: Data,
    length: usize,
) -> Result<ArrayBuffer<'js>> {
    let mut derived = room(&ctx, length)?;
    let done = with_hash!(hash, D => {
        Hkdf::<D>::new(Some(&salt.0), &key.0).expand(&info.0, &mut derived).is_ok()
    });
    if !done {
        return Err(fail(&ctx, "OperationError", "length is too large"));
    }
    buffer(&ctx, derived)
}

fn room(ctx: &Ctx<'_>, length: usize) -> Result<Vec<u8>> {
    if length > DERIVED_MAX {
        return Err(fail(ctx, "OperationError", "length is too large"));
    }
    Ok(vec![0; length])
}
