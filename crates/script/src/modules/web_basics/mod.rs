//! Small web globals that k6 lacks: `atob`, `btoa`, `performance`, `queueMicrotask`, `structuredClone`.
//!
//! Must not read any clock but the host's. Invariant: `performance` counts from the start of the run.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use rquickjs::{Ctx, Function, Object, Result, Value};

use super::bytes;
use crate::natives::{Body, Builtin};
use crate::vu::state;

pub(super) const MODULE: Builtin = Builtin {
    name: "loadline:web/basics",
    body: Body::Script {
        text: include_str!("web_basics.js"),
        natives,
    },
};

/// The forgiving base64 of WHATWG's Infra, section 7: padding is optional, and excess bits are ignored.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    natives.set("atob", Function::new(ctx.clone(), atob)?)?;
    natives.set("btoa", Function::new(ctx.clone(), btoa)?)?;
    let enqueue = |callback: Function<'js>| callback.defer(());
    natives.set("enqueue", Function::new(ctx.clone(), enqueue)?)?;
    let now = |ctx: Ctx<'_>| state(&ctx).host.now().0 as f64 / 1e6;
    natives.set("now", Function::new(ctx.clone(), now)?.with_name("now")?)?;
    natives.set("timeOrigin", Function::new(ctx.clone(), time_origin)?)?;
    Ok(natives)
}

/// When the run started, in milliseconds since 1970.
fn time_origin(ctx: Ctx<'_>) -> f64 {
    let host = &state(&ctx).host;
    host.unix_ns().saturating_sub(host.now().0) as f64 / 1e6
}

/// Decodes base64 text, one character per byte; `None` if it is invalid.
fn atob(text: Value<'_>) -> Result<Option<String>> {
    let mut text = bytes::text(&text)?;
    text.retain(|c| !matches!(c, '\t' | '\n' | '\x0c' | '\r' | ' '));
    let decoded = FORGIVING.decode(text.as_bytes());
    Ok(decoded
        .ok()
        .map(|bytes| bytes.into_iter().map(char::from).collect()))
}

/// Encodes characters up to 255 in base64; `None` if one is larger.
fn btoa(text: Value<'_>) -> Result<Option<String>> {
    let text = bytes::text(&text)?;
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    Ok(bytes.map(|bytes| FORGIVING.encode(bytes)))
}

#[cfg(test)]
mod tests {
    use crate::testing::Rehearsal;

    fn log_of(body: &str) -> Vec<String> {
        let script = format!(
            r#"import {{ sleep }} from "k6";
            const tried = (f) => {{ try {{ return f(); }} catch (e) {{ return e.name; }} }};
            export default async function () {{ {body} }}"#
        );
        Rehearsal::new(&script).run().said()
    }

    #[test]
    fn base64_is_forgiving() {
        let log = log_of(
            "console.log(btoa('h\\xff'), atob('aP8='), atob(' a P\\n8 '), atob('') === '', atob(btoa('\\0\\x80')) === '\\0\\x80', tried(() => btoa('€')), tried(() => atob('a')), tried(() => atob('a===')), tried(() => atob('@@@@')));",
        );
        let bad = "InvalidCharacterError";
        assert_eq!(
            log,
            [format!("aP8= hÿ hÿ true true {bad} {bad} {bad} {bad}")]
        );
    }

    #[test]
    fn time_is_that_of_the_run() {
        let log = log_of(
            "const begun = performance.now(); sleep(0.0125); console.log(performance.now() - begun, performance.timeOrigin);",
        );
        assert_eq!(log, ["12.5 1700000000000"]);
    }

    #[test]
    fn microtasks_run_after_the_script_and_before_timers() {
        let log = log_of(
            "setTimeout(() => console.log('timer'), 0); queueMicrotask(() => console.log('micro')); console.log('script', tried(() => queueMicrotask(5)));",
        );
        assert_eq!(log, ["script TypeError", "micro", "timer"]);
    }

    #[test]
    fn values_are_cloned_with_their_shape() {
        let log = log_of(
            "const shared = { n: 1 }; const value = { a: [shared, shared], d: new Date(5), r: /x/gi, m: new Map([[1, new Set([shared])]]), b: new Uint8Array([1, 2, 3]).subarray(1), e: new RangeError('bad'), u: undefined };
             value.self = value; const copy = structuredClone(value);
             console.log(copy !== value, copy.self === copy, copy.a[0] === copy.a[1], copy.a[0] !== shared, copy.d.getTime(), String(copy.r), copy.m.get(1).has(copy.a[0]), copy.b.join(), copy.e instanceof RangeError, copy.e.message, 'u' in copy);
             console.log(structuredClone(5n), structuredClone(null), tried(() => structuredClone(() => 1)), tried(() => structuredClone({ s: Symbol() })), tried(() => structuredClone(Promise.resolve())));",
        );
        let bad = "DataCloneError";
        assert_eq!(
            log,
            [
                "true true true true 5 /x/gi true 2,3 true bad true".to_owned(),
                format!("5 null {bad} {bad} {bad}")
            ]
        );
    }
}
