//! ECDSA and ECDH on the curves P-256, P-384 and P-521.
//!
//! A private key is its number, a public key its uncompressed point (SEC 1, section 2.3.3). Must not know
//! scripts' algorithm objects. Invariant: a point that is not on its curve is refused.

use rquickjs::{ArrayBuffer, Ctx, FromJs, Function, Object, Result, Value};

use super::hashing::Hash;
use super::{Conversion, Data, buffer, fail, random_bytes, with_room};

/// A curve of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Curve {
    P256,
    P384,
    P521,
}

impl<'js> FromJs<'js> for Curve {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Curve> {
        let name: String = value.get()?;
        match name.as_str() {
            "P-256" => Ok(Curve::P256),
            "P-384" => Ok(Curve::P384),
            "P-521" => Ok(Curve::P521),
            _ => {
                let why = format!("elliptic curve {name} is not supported");
                Err(fail(ctx, "NotSupportedError", &why))
            }
        }
    }
}

/// Point, digest and signature; `Some` if the signature is valid.
type Verification = fn(&[u8], &[u8], &[u8]) -> Option<()>;

/// One of a curve's functions.
type Choice = fn(&Functions) -> Conversion;

/// The functions of one curve; each returns `None` for bytes that are not a key or point of it.
struct Functions {
    /// Bytes of a coordinate, and a mask of the bits allowed in the first.
    width: usize,
    top: u8,
    public: Conversion,
    point: Conversion,
    sign: fn(&[u8], &[u8]) -> Option<Vec<u8>>,
    verify: Verification,
    agree: fn(&[u8], &[u8]) -> Option<Vec<u8>>,
    from_pkcs8: Conversion,
    to_pkcs8: Conversion,
    from_spki: Conversion,
    to_spki: Conversion,
}

macro_rules! curve {
    ($krate:ident, $width:literal, $top:literal) => {{
        use $krate::ecdsa::signature::hazmat::{PrehashSigner, PrehashVerifier};
        use $krate::ecdsa::{Signature, SigningKey, VerifyingKey};
        use $krate::pkcs8::{DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey};
        use $krate::{PublicKey, SecretKey};
        Functions {
            width: $width,
            top: $top,
            public: |secret| {
                Some(
                    SecretKey::from_slice(secret)
                        .ok()?
                        .public_key()
                        .to_sec1_bytes()
                        .into(),
                )
            },
            point: |point| {
                Some(
                    PublicKey::from_sec1_bytes(point)
                        .ok()?
                        .to_sec1_bytes()
                        .into(),
                )
            },
            sign: |secret, digest| {
                let key = SigningKey::from_slice(secret).ok()?;
                let signature: Signature = key.sign_prehash(digest).ok()?;
                Some(signature.to_bytes().to_vec())
            },
            verify: |point, digest, signature| {
                let key = VerifyingKey::from_sec1_bytes(point).ok()?;
                let signature = Signature::from_slice(signature).ok()?;
                key.verify_prehash(digest, &signature).ok()
            },
            agree: |secret, point| {
                let secret = SecretKey::from_slice(secret).ok()?;
                let point = PublicKey::from_sec1_bytes(point).ok()?;
                Some(secret.diffie_hellman(&point).raw_secret_bytes().to_vec())
            },
            from_pkcs8: |der| Some(SecretKey::from_pkcs8_der(der).ok()?.to_bytes().to_vec()),
            to_pkcs8: |secret| {
                let key = SecretKey::from_slice(secret).ok()?;
                Some(key.to_pkcs8_der().ok()?.as_bytes().to_vec())
            },
            from_spki: |der| {
                Some(
                    PublicKey::from_public_key_der(der)
                        .ok()?
                        .to_sec1_bytes()
                        .into(),
                )
            },
            to_spki: |point| {
                let key = PublicKey::from_sec1_bytes(point).ok()?;
                Some(key.to_public_key_der().ok()?.as_bytes().to_vec())
            },
        }
    }};
}

impl Curve {
    fn functions(self) -> Functions {
        match self {
            Curve::P256 => curve!(p256, 32, 0xff),
            Curve::P384 => curve!(p384, 48, 0xff),
            Curve::P521 => curve!(p521, 66, 0x01),
        }
    }
}

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    natives.set("ecGenerate", Function::new(ctx.clone(), generate)?)?;
    let conversions: [(&str, Choice); 6] = [
        ("ecPublic", |curve| curve.public),
        ("ecPoint", |curve| curve.point),
        ("ecFromPkcs8", |curve| curve.from_pkcs8),
        ("ecToPkcs8", |curve| curve.to_pkcs8),
        ("ecFromSpki", |curve| curve.from_spki),
        ("ecToSpki", |curve| curve.to_spki),
    ];
    for (name, conversion) in conversions {
        let convert = move |ctx: Ctx<'js>, curve: Curve, data: Data| {
            let convert = conversion(&curve.functions());
            some(
                &ctx,
                "DataError",
                "unable to import elliptic curve key data",
                || convert(&data.0),
            )
        };
        natives.set(name, Function::new(ctx.clone(), convert)?)?;
    }
    let sign = |ctx: Ctx<'js>, curve: Curve, hash: Hash, secret: Data, data: Data| {
        some(&ctx, "OperationError", "could not sign data", || {
            (curve.functions().sign)(&secret.0, &padded(curve, hash.of(&data.0)))
        })
    };
    natives.set("ecSign", Function::new(ctx.clone(), sign)?)?;
    natives.set("ecVerify", Function::new(ctx.clone(), verify)?)?;
    let agree = |ctx: Ctx<'js>, curve: Curve, secret: Data, point: Data| {
        some(
            &ctx,
            "OperationError",
            "could not derive a shared secret",
            || (curve.functions().agree)(&secret.0, &point.0),
        )
    };
    natives.set("ecAgree", Function::new(ctx.clone(), agree)?)
}

fn some<'js>(
    ctx: &Ctx<'js>,
    name: &'static str,
    why: &str,
    work: impl FnOnce() -> Option<Vec<u8>>,
) -> Result<ArrayBuffer<'js>> {
    let bytes = with_room(ctx, || work().ok_or_else(|| (name, why.to_owned())))?;
    buffer(ctx, bytes)
}

fn verify(
    ctx: Ctx<'_>,
    curve: Curve,
    hash: Hash,
    point: Data,
    signature: Data,
    data: Data,
) -> Result<bool> {
    with_room(&ctx, || {
        let digest = padded(curve, hash.of(&data.0));
        Ok((curve.functions().verify)(&point.0, &digest, &signature.0).is_some())
    })
}

/// A digest too short for its curve is left-padded with zeros.
fn padded(curve: Curve, digest: Vec<u8>) -> Vec<u8> {
    let missing = curve.functions().width.saturating_sub(digest.len());
    let mut padded = vec![0; missing];
    padded.extend_from_slice(&digest);
    padded
}

/// A new private key: random numbers until one is a valid key, nearly always the first.
fn generate<'js>(ctx: Ctx<'js>, curve: Curve) -> Result<ArrayBuffer<'js>> {
    let functions = curve.functions();
    loop {
        let mut secret = random_bytes(&ctx, functions.width);
        secret[0] &= functions.top;
        if with_room(&ctx, || Ok((functions.public)(&secret).is_some()))? {
            return buffer(&ctx, secret);
        }
    }
}
