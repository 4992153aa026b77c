//! `k6/encoding`: base64.
//!
//! Must not know what is encoded. Invariant: each coding decodes its own output.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use rquickjs::function::Opt;
use rquickjs::{Ctx, Result, Value};

use super::bytes;
use crate::go_error::{self, GoValue, refuse};
use crate::lazy::{Lazy, go_name, native};
use crate::natives::{Body, Builtin};

pub(super) const MODULE: Builtin = Builtin {
    name: "k6/encoding",
    body: Body::Natives(&[
        Lazy::new("b64decode", |ctx, _, _| {
            native(
                ctx,
                go_name!(
                    "internal/js/modules/k6/encoding",
                    "(*Encoding).b64Decode-fm"
                ),
                b64decode,
            )
        }),
        Lazy::new("b64encode", |ctx, _, _| {
            native(
                ctx,
                go_name!(
                    "internal/js/modules/k6/encoding",
                    "(*Encoding).b64Encode-fm"
                ),
                b64encode,
            )
        }),
    ]),
};

/// A base64 coding (RFC 4648, sections 4 and 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Standard,
    StandardRaw,
    Url,
    UrlRaw,
}

impl Coding {
    /// The coding with a name; the standard one for unknown names.
    fn named(name: &str) -> Coding {
        match name {
            "rawstd" => Coding::StandardRaw,
            "url" => Coding::Url,
            "rawurl" => Coding::UrlRaw,
            _ => Coding::Standard,
        }
    }

    fn encode(self, bytes: &[u8]) -> String {
        match self {
            Coding::Standard => STANDARD.encode(bytes),
            Coding::StandardRaw => STANDARD_NO_PAD.encode(bytes),
            Coding::Url => URL_SAFE.encode(bytes),
            Coding::UrlRaw => URL_SAFE_NO_PAD.encode(bytes),
        }
    }

    fn is_padded(self) -> bool {
        matches!(self, Coding::Standard | Coding::Url)
    }

    fn sextet(self, byte: u8) -> Option<u32> {
        let is_url = matches!(self, Coding::Url | Coding::UrlRaw);
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' if !is_url => 62,
            b'/' if !is_url => 63,
            b'-' if is_url => 62,
            b'_' if is_url => 63,
            _ => return None,
        };
        Some(u32::from(value))
    }

    /// Decodes text, ignoring line ends.
    ///
    /// # Errors
    /// The position of the first invalid byte, as Go counts.
    fn decode(self, text: &[u8]) -> std::result::Result<Vec<u8>, usize> {
        let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
        let (mut bits, mut held) = (0_u32, 0_usize);
        for (at, byte) in text.iter().copied().enumerate() {
            match self.sextet(byte) {
                Some(sextet) => {
                    bits = bits << 6 | sextet;
                    held += 1;
                    if held == 4 {
                        out.extend_from_slice(&bits.to_be_bytes()[1..]);
                        (bits, held) = (0, 0);
                    }
                }
                None if matches!(byte, b'\r' | b'\n') => {}
                None if byte == b'=' && self.is_padded() && held >= 2 => {
                    check_padding(text, at, held)?;
                    push_rest(&mut out, bits, held);
                    return Ok(out);
                }
                None => return Err(at),
            }
        }
        if held == 1 || (held > 0 && self.is_padded()) {
            return Err(text.len() - held);
        }
        push_rest(&mut out, bits, held);
        Ok(out)
    }
}

/// Checks that the padding that starts at `at`, after `held` characters of a group, is complete and the end of
/// the text.
fn check_padding(text: &[u8], at: usize, held: usize) -> std::result::Result<(), usize> {
    let mut rest = (at + 1..text.len()).filter(|at| !matches!(text[*at], b'\r' | b'\n'));
    if held == 2 {
        let second = rest.next().ok_or(text.len())?;
        if text[second] != b'=' {
            return Err(second);
        }
    }
    rest.next().map_or(Ok(()), Err)
}

fn push_rest(out: &mut Vec<u8>, bits: u32, held: usize) {
    match held {
        2 => out.push((bits >> 4) as u8),
        3 => out.extend_from_slice(&[(bits >> 10) as u8, (bits >> 2) as u8]),
        _ => {}
    }
}

fn coding_of(name: Opt<Value<'_>>) -> Result<Coding> {
    match name.0 {
        Some(name) if name.is_string() => Ok(Coding::named(&bytes::text(&name)?)),
        _ => Ok(Coding::Standard),
    }
}

fn b64encode<'js>(ctx: Ctx<'js>, data: Opt<Value<'js>>, coding: Opt<Value<'js>>) -> Result<String> {
    let coding = coding_of(coding)?;
    match data.0.as_ref().map(bytes::of_data).transpose()?.flatten() {
        Some(bytes) => Ok(coding.encode(&bytes)),
        None => Err(refuse(&ctx, &bytes::refusal(data.0.as_ref()))),
    }
}

fn b64decode<'js>(
    ctx: Ctx<'js>,
    text: Opt<Value<'js>>,
    coding: Opt<Value<'js>>,
    format: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let text = match text.0 {
        Some(text) if !text.is_undefined() && !text.is_null() => bytes::text(&text)?,
        _ => String::new(),
    };
    let decoded = coding_of(coding)?.decode(text.as_bytes());
    let decoded = decoded.map_err(|at| {
        let message = format!("illegal base64 data at input byte {at}");
        go_error::throw(&ctx, &GoValue::of_number_type(&message, at as f64))
    })?;
    let is_text = match format.0 {
        Some(format) if format.is_string() => bytes::text(&format)? == "s",
        _ => false,
    };
    if is_text {
        return bytes::text_of(&ctx, decoded.into());
    }
    bytes::buffer(&ctx, &decoded)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::Rehearsal;

    const ALL: [Coding; 4] = [
        Coding::Standard,
        Coding::StandardRaw,
        Coding::Url,
        Coding::UrlRaw,
    ];

    #[test]
    fn the_place_of_an_error_is_the_one_that_go_tells() {
        for (coding, text, place) in [
            (Coding::Standard, "aMOpPz5-w78", 7),
            (Coding::Url, "aMOpPz5-w78", 8),
            (Coding::StandardRaw, "aMOpPz5+w78=", 11),
            (Coding::Standard, "@@", 0),
            (Coding::Standard, "AQL6/w", 4),
            (Coding::Standard, "aG==aGk=", 4),
            (Coding::Standard, "aG=k", 3),
            (Coding::Standard, "a", 0),
        ] {
            assert_eq!(coding.decode(text.as_bytes()), Err(place), "{text}");
        }
        assert_eq!(
            Coding::Standard.decode(b"AQL6\n/w==\r\n"),
            Ok(vec![1, 2, 250, 255])
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            for coding in ALL {
                prop_assert_eq!(coding.decode(coding.encode(&bytes).as_bytes()), Ok(bytes.clone()));
            }
        }

        #[test]
        fn no_text_panics(text in prop::collection::vec(any::<u8>(), 0..16)) {
            for coding in ALL {
                if let Err(place) = coding.decode(&text) {
                    prop_assert!(place <= text.len());
                }
            }
        }
    }

    #[test]
    fn scripts_encode_what_k6_lets_them() {
        let script = r#"
            import encoding, { b64encode, b64decode } from "k6/encoding";
            const tried = (f) => { try { return f(); } catch (e) { return String(e); } };
            const bytes = new Uint8Array([1, 2, 250, 255]);
            export default function () {
                console.log(b64encode("hé?>~ÿ"), b64encode("hé?>~ÿ", "rawurl"), b64encode(bytes.buffer), b64encode(bytes.subarray(1, 2)), b64encode("\ud800x"));
                console.log(b64decode("aMOpPz5-w78", "rawurl", "s"), b64decode("AQL6/w=="));
                for (const bad of [5, 1.5, null, undefined, {}, [65], true]) console.log(tried(() => encoding.b64encode(bad)));
                console.log(tried(() => b64decode("@@")));
            }"#;
        let log = Rehearsal::new(script).run().log();
        let types = [
            "int64",
            "float64",
            "<nil>",
            "<nil>",
            "map[string]interface {}",
            "[]interface {}",
            "bool",
        ];
        let mut expected = vec![
            "aMOpPz5+w78= aMOpPz5-w78 AQL6/w== Ag== 77+9eA==".to_owned(),
            "hé?>~ÿ ArrayBuffer { [Uint8Contents]: <01 02 fa ff>, byteLength: 4 }".to_owned(),
        ];
        expected.extend(types.map(|kind| {
            format!("GoError: invalid type {kind}, expected string, []byte or ArrayBuffer")
        }));
        expected.push("GoError: illegal base64 data at input byte 0".to_owned());
        let expected: Vec<String> = expected
            .iter()
            .map(|text| format!("info {text} source=console"))
            .collect();
        assert_eq!(log, expected);
    }
}
