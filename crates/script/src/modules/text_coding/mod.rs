//! The globals `TextEncoder` and `TextDecoder` (WHATWG Encoding).
//!
//! Must not know where bytes come from. Invariant: a decoder is reset after a call unless more data is
//! announced.

#![expect(
    clippy::needless_pass_by_value,
    reason = "natives are handed their arguments by value"
)]

use std::cell::RefCell;

use encoding_rs::{Decoder, DecoderResult, Encoding, REPLACEMENT, UTF_8};
use rquickjs::convert::List;
use rquickjs::{Ctx, Exception, Function, Object, Result, TypedArray, Value};

use super::bytes;
use crate::go_error::refuse;
use crate::natives::{Body, Builtin};

pub(super) const MODULE: Builtin = Builtin {
    name: "loadline:web/text-coding",
    body: Body::Script {
        text: include_str!("text_coding.js"),
        natives,
    },
};

fn natives<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    natives.set("encode", Function::new(ctx.clone(), encode)?)?;
    natives.set("prefix", Function::new(ctx.clone(), prefix)?)?;
    natives.set("decoder", Function::new(ctx.clone(), decoder)?)?;
    Ok(natives)
}

fn encode<'js>(ctx: Ctx<'js>, text: Value<'js>) -> Result<TypedArray<'js, u8>> {
    TypedArray::new(ctx, bytes::text(&text)?)
}

/// The longest prefix of whole characters that fits into `room` bytes: its length in UTF-16 units, and its
/// bytes.
fn prefix<'js>(
    ctx: Ctx<'js>,
    text: Value<'js>,
    room: usize,
) -> Result<List<(usize, TypedArray<'js, u8>)>> {
    let text = bytes::text(&text)?;
    let fits = text.floor_char_boundary(room);
    let kept = &text[..fits];
    let units = kept.chars().map(char::len_utf16).sum();
    Ok(List((units, TypedArray::new(ctx, kept)?)))
}

/// State and options of a decoder.
struct Reading {
    encoding: &'static Encoding,
    fatal: bool,
    keeps_mark: bool,
    /// The state in the middle of a stream.
    decoder: RefCell<Option<Decoder>>,
}

impl Reading {
    fn fresh(&self) -> Decoder {
        if self.keeps_mark {
            self.encoding.new_decoder_without_bom_handling()
        } else {
            self.encoding.new_decoder_with_bom_removal()
        }
    }

    /// Decodes bytes; `None` for invalid bytes, if the decoder is fatal. `more`: the text continues.
    fn decode(&self, data: &[u8], more: bool) -> Option<String> {
        let mut decoder = self.decoder.take().unwrap_or_else(|| self.fresh());
        let mut text = String::new();
        if self.fatal {
            let room = decoder.max_utf8_buffer_length_without_replacement(data.len())?;
            text.reserve(room);
            let (result, _) = decoder.decode_to_string_without_replacement(data, &mut text, !more);
            if let DecoderResult::Malformed(..) = result {
                return None;
            }
        } else {
            text.reserve(decoder.max_utf8_buffer_length(data.len())?);
            let _ = decoder.decode_to_string(data, &mut text, !more);
        }
        if more {
            *self.decoder.borrow_mut() = Some(decoder);
        }
        Some(text)
    }
}

/// A decoder: the name of its encoding, and the function `decode(data, more)`.
fn decoder<'js>(
    ctx: Ctx<'js>,
    label: String,
    fatal: bool,
    keeps_mark: bool,
) -> Result<Object<'js>> {
    let encoding = match label.as_str() {
        "" => Some(UTF_8),
        label => Encoding::for_label(label.as_bytes()).filter(|found| *found != REPLACEMENT),
    };
    let Some(encoding) = encoding else {
        return Err(Exception::throw_range(
            &ctx,
            &format!("unsupported encoding: {label}"),
        ));
    };
    let reading = Reading {
        encoding,
        fatal,
        keeps_mark,
        decoder: RefCell::default(),
    };
    let object = Object::new(ctx.clone())?;
    object.set("encoding", encoding.name().to_ascii_lowercase())?;
    let decode = move |ctx: Ctx<'js>, data: Value<'js>, more: bool| {
        let data = data_of(&ctx, &data)?;
        let text = reading.decode(&data, more);
        text.ok_or_else(|| Exception::throw_type(&ctx, "decoding text: invalid byte sequence"))
    };
    object.set("decode", Function::new(ctx, decode)?)?;
    Ok(object)
}

/// The bytes to decode; as in k6, text counts as its bytes, and a missing argument as none.
fn data_of(ctx: &Ctx<'_>, data: &Value<'_>) -> Result<Vec<u8>> {
    if data.is_undefined() || data.is_null() {
        return Ok(Vec::new());
    }
    if data.is_string() {
        return Ok(bytes::text(data)?.into_bytes());
    }
    let why = "data is not an ArrayBuffer, typed array, or DataView";
    bytes::of_source(data)?.ok_or_else(|| refuse(ctx, why))
}

#[cfg(test)]
mod tests {
    use crate::testing::Rehearsal;

    fn log_of(body: &str) -> Vec<String> {
        let script = format!(
            r#"const u = (x) => new Uint8Array(x);
            const tried = (f) => {{ try {{ return f(); }} catch (e) {{ return String(e); }} }};
            export default function () {{ {body} }}"#
        );
        Rehearsal::new(&script).run().said()
    }

    #[test]
    fn text_becomes_bytes() {
        let log = log_of(
            "const e = new TextEncoder(); console.log(e.encoding, e.encode('hé😀').join(), e.encode('\\ud800').join(), e.encode().length, e.encode(null).length, e.encode(5).join());
             const into = u(3); console.log(JSON.stringify(e.encodeInto('hé😀', into)), into.join(), JSON.stringify(e.encodeInto('😀', into)));",
        );
        assert_eq!(
            log,
            [
                "utf-8 104,195,169,240,159,152,128 239,191,189 0 0 53",
                "{\"read\":2,\"written\":3} 104,195,169 {\"read\":0,\"written\":0}"
            ]
        );
    }

    #[test]
    fn bytes_become_text() {
        let log = log_of(
            "const d = new TextDecoder(); console.log(d.encoding, d.fatal, d.ignoreBOM, d.decode(u([104, 195, 169])), d.decode(u([195]).buffer), d.decode() === '', d.decode('x'));
             console.log(d.decode(u([195]), { stream: true }) + '|' + d.decode(u([169])), d.decode(new DataView(u([65, 66]).buffer, 1)), d.decode(u([0xef, 0xbb, 0xbf, 65])).length, new TextDecoder('utf-8', { ignoreBOM: true }).decode(u([0xef, 0xbb, 0xbf, 65])).length);
             console.log(new TextDecoder('utf-16').decode(u([65, 0])), new TextDecoder('utf-16be').decode(u([0, 65])), new TextDecoder('latin1').decode(u([233])), new TextDecoder(' UTF8 ', null).encoding);
             for (const f of [() => new TextDecoder('bogus'), () => new TextDecoder('replacement'), () => new TextDecoder('utf-8', { fatal: true }).decode(u([255])), () => d.decode(5), () => { d.encoding = 'x'; }]) console.log(tried(f));",
        );
        assert_eq!(
            log[..7],
            [
                "utf-8 false false hé \u{fffd} true x",
                "|é B 1 2",
                "A A é utf-8",
                "RangeError: unsupported encoding: bogus",
                "RangeError: unsupported encoding: replacement",
                "TypeError: decoding text: invalid byte sequence",
                "GoError: data is not an ArrayBuffer, typed array, or DataView",
            ]
        );
        assert!(log[7].starts_with("TypeError: "), "{}", log[7]);
    }
}
