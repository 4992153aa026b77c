//! `k6/crypto`: hashes, keyed hashes, random bytes; `x509` reads certificates.
//!
//! Must not know who uses them. Invariant: results are those of the named standards; error texts are k6's.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

mod hashes;
pub(super) mod x509;

use std::cell::RefCell;
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use data_encoding::HEXLOWER;
use rquickjs::function::{Opt, Rest};
use rquickjs::{Coerced, Ctx, Function, IntoJs, Object, Result, Value};

use self::hashes::{Hash, Running};
use super::bytes;
use crate::go_error::refuse;
use crate::lazy::{GO_METHOD, Lazy, go_name, native};
use crate::natives::{Body, Builtin};
use crate::vu::state;

pub(super) const MODULE: Builtin = Builtin {
    name: "k6/crypto",
    body: Body::Natives(&[
        Lazy::new("createHMAC", |ctx, _, _| {
            native(
                ctx,
                go_name!("internal/js/modules/k6/crypto", "(*Crypto).createHMAC-fm"),
                create_hmac,
            )
        }),
        Lazy::new("createHash", |ctx, _, _| {
            native(
                ctx,
                go_name!("internal/js/modules/k6/crypto", "(*Crypto).createHash-fm"),
                create_hash,
            )
        }),
        Lazy::new("hexEncode", |ctx, _, _| {
            native(
                ctx,
                go_name!("internal/js/modules/k6/crypto", "(*Crypto).hexEncode-fm"),
                hex_encode,
            )
        }),
        Lazy::new("hmac", |ctx, _, _| {
            native(
                ctx,
                go_name!("internal/js/modules/k6/crypto", "(*Crypto).hmac-fm"),
                hmac,
            )
        }),
        Lazy::new("md4", |ctx, _, name| hash_function(ctx, name)),
        Lazy::new("md5", |ctx, _, name| hash_function(ctx, name)),
        Lazy::new("randomBytes", |ctx, _, _| {
            native(
                ctx,
                go_name!("internal/js/modules/k6/crypto", "(*Crypto).randomBytes-fm"),
                random_bytes,
            )
        }),
        Lazy::new("ripemd160", |ctx, _, name| hash_function(ctx, name)),
        Lazy::new("sha1", |ctx, _, name| hash_function(ctx, name)),
        Lazy::new("sha256", |ctx, _, name| hash_function(ctx, name)),
        Lazy::new("sha384", |ctx, _, name| hash_function(ctx, name)),
        Lazy::new("sha512", |ctx, _, name| hash_function(ctx, name)),
        Lazy::new("sha512_224", |ctx, _, name| hash_function(ctx, name)),
        Lazy::new("sha512_256", |ctx, _, name| hash_function(ctx, name)),
    ]),
};

/// Maximum random bytes per call: a script's mistake must not use up the machine's memory.
const RANDOM_MAX: f64 = (1 << 30) as f64;

/// The function named after its hash.
fn hash_function<'js>(ctx: &Ctx<'js>, name: &'static str) -> Result<Value<'js>> {
    let named = Hash::ALL.into_iter().find(|(hash, _)| *hash == name);
    let (_, hash) = named.expect("every row names a hash");
    let go_name = format!(
        concat!(
            go_name!("internal/js/modules/k6/crypto", "(*Crypto)"),
            ".{}-fm"
        ),
        name
    );
    native(
        ctx,
        &go_name,
        move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| digest(&ctx, name, hash, &arguments.0),
    )
}

fn digest<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    hash: Hash,
    arguments: &[Value<'js>],
) -> Result<Value<'js>> {
    let Some(data) = data_of(arguments.first())? else {
        let why = bytes::refusal(arguments.first());
        return Err(refuse(ctx, &format!("{name} failed: {why}")));
    };
    encoded(ctx, &hash.of(&data), arguments.get(1))
}

fn hmac<'js>(ctx: Ctx<'js>, arguments: Rest<Value<'js>>) -> Result<Value<'js>> {
    let mut mac = keyed(&ctx, arguments.0.first(), arguments.0.get(1))?;
    mac.update(&needed(&ctx, arguments.0.get(2))?);
    encoded(&ctx, &mac.result(), arguments.0.get(3))
}

fn create_hash<'js>(ctx: Ctx<'js>, name: Opt<Value<'js>>) -> Result<Object<'js>> {
    let hash = algorithm(&ctx, name.0.as_ref())?;
    object_of(&ctx, hash.start())
}

fn create_hmac<'js>(
    ctx: Ctx<'js>,
    name: Opt<Value<'js>>,
    key: Opt<Value<'js>>,
) -> Result<Object<'js>> {
    let mac = keyed(&ctx, name.0.as_ref(), key.0.as_ref())?;
    object_of(&ctx, mac)
}

fn keyed<'js>(
    ctx: &Ctx<'js>,
    name: Option<&Value<'js>>,
    key: Option<&Value<'js>>,
) -> Result<Box<dyn Running>> {
    let hash = algorithm(ctx, name)?;
    Ok(hash.start_keyed(&needed(ctx, key)?))
}

fn algorithm(ctx: &Ctx<'_>, name: Option<&Value<'_>>) -> Result<Hash> {
    let name = name.map(bytes::text).transpose()?.unwrap_or_default();
    Hash::named(&name).ok_or_else(|| refuse(ctx, &format!("invalid algorithm: {name}")))
}

/// The script object for a hash in progress.
fn object_of<'js>(ctx: &Ctx<'js>, running: Box<dyn Running>) -> Result<Object<'js>> {
    let running = Rc::new(RefCell::new(running));
    let same = Rc::clone(&running);
    let object = Object::new(ctx.clone())?;
    let update = move |ctx: Ctx<'js>, data: Opt<Value<'js>>| -> Result<()> {
        let data = needed(&ctx, data.0.as_ref())?;
        same.borrow_mut().update(&data);
        Ok(())
    };
    let digest = move |ctx: Ctx<'js>, encoding: Opt<Value<'js>>| {
        let result = running.borrow().result();
        encoded(&ctx, &result, encoding.0.as_ref())
    };
    object.set(
        "digest",
        Function::new(ctx.clone(), digest)?.with_name(GO_METHOD)?,
    )?;
    object.set(
        "update",
        Function::new(ctx.clone(), update)?.with_name(GO_METHOD)?,
    )?;
    Ok(object)
}

fn data_of(value: Option<&Value<'_>>) -> Result<Option<Vec<u8>>> {
    Ok(value.map(bytes::of_data).transpose()?.flatten())
}

fn needed(ctx: &Ctx<'_>, value: Option<&Value<'_>>) -> Result<Vec<u8>> {
    data_of(value)?.ok_or_else(|| refuse(ctx, &bytes::refusal(value)))
}

/// Bytes in the named encoding.
fn encoded<'js>(ctx: &Ctx<'js>, bytes: &[u8], encoding: Option<&Value<'js>>) -> Result<Value<'js>> {
    let encoding = match encoding {
        Some(encoding) if !encoding.is_undefined() && !encoding.is_null() => bytes::text(encoding)?,
        _ => String::new(),
    };
    match encoding.as_str() {
        "hex" => HEXLOWER.encode(bytes).into_js(ctx),
        "base64" => STANDARD.encode(bytes).into_js(ctx),
        "base64url" => URL_SAFE.encode(bytes).into_js(ctx),
        "base64rawurl" => URL_SAFE_NO_PAD.encode(bytes).into_js(ctx),
        "binary" => bytes::buffer(ctx, bytes),
        other => Err(refuse(ctx, &format!("invalid output encoding: {other}"))),
    }
}

fn hex_encode(ctx: Ctx<'_>, data: Opt<Value<'_>>) -> Result<String> {
    Ok(HEXLOWER.encode(&needed(&ctx, data.0.as_ref())?))
}

fn random_bytes<'js>(ctx: Ctx<'js>, size: Opt<Coerced<f64>>) -> Result<Value<'js>> {
    let size = size.0.map_or(f64::NAN, |size| size.0);
    if !(1.0..=RANDOM_MAX).contains(&size) {
        return Err(refuse(&ctx, "invalid size"));
    }
    let mut random = vec![0; size as usize];
    fill_random(&ctx, &mut random);
    bytes::buffer(&ctx, &random)
}

/// Fills the slice with random bytes.
pub(super) fn fill_random(ctx: &Ctx<'_>, bytes: &mut [u8]) {
    let host = &state(ctx).host;
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&host.random().to_le_bytes()[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Rehearsal;

    fn log_of(body: &str) -> Vec<String> {
        let script = format!(
            r#"import crypto, {{ createHash, createHMAC, hexEncode, randomBytes }} from "k6/crypto";
            const tried = (f) => {{ try {{ return f(); }} catch (e) {{ return String(e); }} }};
            export default function () {{ {body} }}"#
        );
        Rehearsal::new(&script).run().said()
    }

    #[test]
    fn hashes_are_those_that_k6_gives() {
        let log = log_of(
            "for (const name of ['md4', 'md5', 'sha1', 'sha256', 'sha512_224', 'ripemd160']) {
                const hash = createHash(name); hash.update('hel'); hash.update('lo');
                console.log(crypto[name]('hello', 'hex') === hash.digest('hex'), hash.digest('hex'), crypto.hmac(name, 'key', 'hello', 'hex'));
             }",
        );
        assert_eq!(
            log,
            [
                "true 866437cb7a794bce2b727acc0362ee27 37466b39d12186d0231e6b783358cfe4",
                "true 5d41402abc4b2a76b9719d911017c592 04130747afca4d79e32e87cf2104f087",
                "true aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d b34ceac4516ff23a143e61d79d0fa7a4fbe5f266",
                "true 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 9307b3b915efb5171ff14d8cb55fbcc798c6c0ef1456d66ded1a6aa723a58b7b",
                "true fe8509ed1fb7dcefc27e6ac1a80eddbec4cb3d2c6fe565244374061c 65f0de09201bada199441610a81e6fa6e805bc96684444139a7fc3aa",
                "true 108f07b8382412612c048d07d13f814118445acd 43ab51f803a68a8b894cb32ee19e6854e9f4e468",
            ]
        );
    }

    #[test]
    fn long_hashes_are_those_that_k6_gives() {
        let log = log_of(
            "for (const name of ['sha384', 'sha512', 'sha512_256']) console.log(crypto[name]('hello', 'hex').slice(0, 16), crypto.hmac(name, 'key', 'hello', 'hex').slice(0, 16));",
        );
        assert_eq!(
            log,
            [
                "59e1748777448c69 eacbad575c301fa6",
                "9b71d224bd62f378 ff06ab3675777781",
                "e30d87cfa2a75db5 6149bdedc72e1cb4"
            ]
        );
    }

    #[test]
    fn results_are_encoded_as_named() {
        let log = log_of(
            "for (const encoding of ['hex', 'base64', 'base64url', 'base64rawurl', 'binary', undefined, 'bogus', 5]) console.log(tried(() => crypto.md5('hello', encoding)));
             console.log(hexEncode(new Uint8Array([1, 2, 250, 255]).subarray(1)), createHMAC('md5', 'k').update('x'));",
        );
        assert_eq!(
            log,
            [
                "5d41402abc4b2a76b9719d911017c592",
                "XUFAKrxLKna5cZ2REBfFkg==",
                "XUFAKrxLKna5cZ2REBfFkg==",
                "XUFAKrxLKna5cZ2REBfFkg",
                "ArrayBuffer { [Uint8Contents]: <5d 41 40 2a bc 4b 2a 76 b9 71 9d 91 10 17 c5 92>, byteLength: 16 }",
                "GoError: invalid output encoding: ",
                "GoError: invalid output encoding: bogus",
                "GoError: invalid output encoding: 5",
                "02faff undefined",
            ]
        );
    }

    #[test]
    fn what_cannot_be_hashed_is_refused_in_k6s_words() {
        let log = log_of(
            "for (const f of [() => crypto.md5(5, 'hex'), () => crypto.md5(), () => crypto.hmac('md5', {}, 'x', 'hex'), () => crypto.hmac('bogus', 'k', 'x', 'hex'),
                () => createHash('bogus'), () => hexEncode([1]), () => randomBytes(0), () => randomBytes(-1), () => randomBytes(), () => randomBytes(1e300)]) console.log(tried(f));
             console.log(randomBytes(4).byteLength, randomBytes(2.7).byteLength, hexEncode(randomBytes(8)) !== hexEncode(randomBytes(8)));",
        );
        assert_eq!(
            log,
            [
                "GoError: md5 failed: invalid type int64, expected string, []byte or ArrayBuffer",
                "GoError: md5 failed: invalid type <nil>, expected string, []byte or ArrayBuffer",
                "GoError: invalid type map[string]interface {}, expected string, []byte or ArrayBuffer",
                "GoError: invalid algorithm: bogus",
                "GoError: invalid algorithm: bogus",
                "GoError: invalid type []interface {}, expected string, []byte or ArrayBuffer",
                "GoError: invalid size",
                "GoError: invalid size",
                "GoError: invalid size",
                "GoError: invalid size",
                "4 2 true",
            ]
        );
    }
}
