//! The global `crypto`: random values and `crypto.subtle` (W3C Web Cryptography).
//!
//! The JavaScript part holds keys and checks their allowed usages; the natives are functions on bytes. Must not
//! keep keys. Invariant: for any bytes, natives return a result or an error.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

mod aes;
mod curves;
mod hashing;
mod rsa;

use rquickjs::{ArrayBuffer, Ctx, Error, FromJs, Function, Object, Result, Value};

use crate::go_error::{self, GoValue};
use crate::modules::bytes;
use crate::natives::{Body, Builtin};
use crate::room;
use crate::vu::state;

pub(super) const MODULE: Builtin = Builtin {
    name: "loadline:web/crypto",
    body: Body::Script {
        text: include_str!("webcrypto.js"),
        natives,
    },
};

fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    go_error::add_to(&natives)?;
    let random = |ctx: Ctx<'js>, count: usize| {
        let random = random_bytes(&ctx, count);
        buffer(&ctx, random)
    };
    natives.set("random", Function::new(ctx.clone(), random)?)?;
    let copy = |ctx: Ctx<'js>, data: Data| buffer(&ctx, data.0);
    natives.set("copy", Function::new(ctx.clone(), copy)?)?;
    let from_text = |ctx: Ctx<'js>, text: String| buffer(&ctx, text.into_bytes());
    natives.set("fromText", Function::new(ctx.clone(), from_text)?)?;
    let to_text = |data: Data| String::from_utf8_lossy(&data.0).into_owned();
    natives.set("toText", Function::new(ctx.clone(), to_text)?)?;
    let to_text = |data: Data| base64url(&data.0);
    natives.set("toBase64Url", Function::new(ctx.clone(), to_text)?)?;
    natives.set("fromBase64Url", Function::new(ctx.clone(), from_base64url)?)?;
    hashing::add(ctx, &natives)?;
    aes::add(ctx, &natives)?;
    curves::add(ctx, &natives)?;
    rsa::add(ctx, &natives)?;
    Ok(natives)
}

/// Bytes passed by the JavaScript part: an `ArrayBuffer` or a view of one.
pub(super) struct Data(Vec<u8>);

impl<'js> FromJs<'js> for Data {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Data> {
        let found = bytes::of_source(&value)?;
        let why = "data is neither an ArrayBuffer, nor a TypedArray nor DataView";
        found
            .map(Data)
            .ok_or_else(|| fail(ctx, "OperationError", why))
    }
}

fn buffer<'js>(ctx: &Ctx<'js>, bytes: Vec<u8>) -> Result<ArrayBuffer<'js>> {
    ArrayBuffer::new(ctx.clone(), bytes)
}

/// A Go error with a name from the standard.
fn fail(ctx: &Ctx<'_>, name: &str, message: &str) -> Error {
    match go_error::value(ctx, &GoValue::named(name, message)) {
        Ok(value) => ctx.throw(value),
        Err(error) => error,
    }
}

/// Bytes to bytes; `None` for an invalid key or point.
type Conversion = fn(&[u8]) -> Option<Vec<u8>>;

/// Why an operation is refused: the error's name and message.
type Refusal = (&'static str, String);

/// Stack bytes for big number arithmetic, for which a virtual user's stack may be too small.
const ARITHMETIC_STACK: usize = 1 << 20;

/// Runs arithmetic on a separate stack; it must not call the engine.
fn with_room<T>(
    ctx: &Ctx<'_>,
    work: impl FnOnce() -> std::result::Result<T, Refusal>,
) -> Result<T> {
    let outcome = room::with_room(ARITHMETIC_STACK, work).unwrap_or_else(|error| {
        let message = format!("no memory for arithmetic: {error}");
        Err(("OperationError", message))
    });
    outcome.map_err(|(name, message)| fail(ctx, name, &message))
}

fn random_bytes(ctx: &Ctx<'_>, count: usize) -> Vec<u8> {
    let mut random = vec![0; count];
    super::crypto::fill_random(ctx, &mut random);
    random
}

fn base64url(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
}

fn from_base64url<'js>(ctx: Ctx<'js>, text: String) -> Result<ArrayBuffer<'js>> {
    use base64::Engine;
    let text = text.trim_end_matches('=');
    match base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text) {
        Ok(bytes) => buffer(&ctx, bytes),
        Err(_) => Err(fail(
            &ctx,
            "DataError",
            "the JWK holds a value that is not base64url",
        )),
    }
}

/// The host's randomness, adapted for key generation.
struct HostRandom<'a, 'js>(&'a Ctx<'js>);

impl ::rsa::rand_core::TryRng for HostRandom<'_, '_> {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> std::result::Result<u32, Self::Error> {
        Ok(state(self.0).host.random() as u32)
    }

    fn try_next_u64(&mut self) -> std::result::Result<u64, Self::Error> {
        Ok(state(self.0).host.random())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> std::result::Result<(), Self::Error> {
        super::crypto::fill_random(self.0, bytes);
        Ok(())
    }
}

impl ::rsa::rand_core::TryCryptoRng for HostRandom<'_, '_> {}

#[cfg(test)]
mod tests;
