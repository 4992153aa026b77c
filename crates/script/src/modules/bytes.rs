//! Bytes passed by scripts: text, array buffers, views of them.
//!
//! Must not know their purpose. Invariant: the result is a copy, so the script cannot change it afterwards.

use bytes::Bytes;
use rquickjs::{ArrayBuffer, Ctx, IntoJs, Object, Result, TypedArray, Value};

use crate::kinds::array_buffer;
use crate::vu::{Stage, state};

/// The bytes of text (its original ones, otherwise UTF-8; an unpaired surrogate is U+FFFD), an `ArrayBuffer` or
/// a `Uint8Array`; `None` for anything else.
pub(crate) fn of_data(value: &Value<'_>) -> Result<Option<Vec<u8>>> {
    if value.is_string() {
        return of_text(value).map(Some);
    }
    let Some(object) = value.as_object() else {
        return Ok(None);
    };
    if let Some(bytes) = of_buffer(object) {
        return Ok(Some(bytes));
    }
    let Ok(array) = TypedArray::<u8>::from_object(object.clone()) else {
        return Ok(None);
    };
    // SAFETY: the bytes are copied before any script code runs.
    Ok(unsafe { array.as_bytes() }.map(<[u8]>::to_vec))
}

/// The bytes of an `ArrayBuffer` or of any view of one; `None` for anything else.
pub(crate) fn of_source(value: &Value<'_>) -> Result<Option<Vec<u8>>> {
    let Some(object) = value.as_object() else {
        return Ok(None);
    };
    if let Some(bytes) = of_buffer(object) {
        return Ok(Some(bytes));
    }
    let Some((buffer, start, length)) = view_of(object)? else {
        return Ok(None);
    };
    // SAFETY: as above.
    let bytes = unsafe { buffer.as_bytes() }.and_then(|all| all.get(start..start + length));
    Ok(bytes.map(<[u8]>::to_vec))
}

/// The buffer of a view, with the view's offset and length; `None` if it is not a view.
pub(crate) fn view_of<'js>(
    object: &Object<'js>,
) -> Result<Option<(ArrayBuffer<'js>, usize, usize)>> {
    let is_view: rquickjs::Function<'js> = {
        let class: Object<'js> = object.ctx().globals().get("ArrayBuffer")?;
        class.get("isView")?
    };
    if !is_view.call::<_, bool>((object.clone(),))? {
        return Ok(None);
    }
    let buffer: Object<'js> = object.get("buffer")?;
    let (start, length) = (object.get("byteOffset")?, object.get("byteLength")?);
    Ok(array_buffer(&buffer).map(|buffer| (buffer, start, length)))
}

fn of_buffer(object: &Object<'_>) -> Option<Vec<u8>> {
    let buffer = array_buffer(object)?;
    // SAFETY: as above.
    Some(unsafe { buffer.as_bytes() }.unwrap_or_default().to_vec())
}

/// Bytes as text; each invalid byte becomes U+FFFD, as in Go.
pub(crate) fn text_of<'js>(ctx: &Ctx<'js>, bytes: Bytes) -> Result<Value<'js>> {
    if let Ok(text) = std::str::from_utf8(&bytes) {
        return text.into_js(ctx);
    }
    let text = mended(&bytes).into_js(ctx)?;
    let state = state(ctx);
    let is_init = state.stage.get() == Stage::Init;
    state.raw_texts.keep(ctx, &text, bytes, is_init);
    Ok(text)
}

/// Text in which each invalid byte became U+FFFD, as in Go.
pub(crate) fn mended(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 2);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for _ in chunk.invalid() {
            text.push('\u{fffd}');
        }
    }
    text
}

/// The original bytes of a string, otherwise its text as UTF-8.
pub(crate) fn of_text(value: &Value<'_>) -> Result<Vec<u8>> {
    let known = || state(value.ctx()).raw_texts.find(value);
    match value.is_string().then(known).flatten() {
        Some(bytes) => Ok(bytes.to_vec()),
        None => text(value).map(String::into_bytes),
    }
}

/// A value's text; an unpaired surrogate is U+FFFD.
pub(crate) fn text(value: &Value<'_>) -> Result<String> {
    Ok(value.get::<rquickjs::Coerced<String>>()?.0)
}

/// Bytes as an `ArrayBuffer`.
pub(crate) fn buffer<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    ArrayBuffer::new_copy(ctx.clone(), bytes).map(ArrayBuffer::into_value)
}

/// Why a value is not accepted as data by k6's own functions, in the words of the language in which they are
/// written.
pub(crate) fn refusal(value: Option<&Value<'_>>) -> String {
    let kind = value.map_or("<nil>", go_type);
    format!("invalid type {kind}, expected string, []byte or ArrayBuffer")
}

fn go_type(value: &Value<'_>) -> &'static str {
    if value.is_undefined() || value.is_null() {
        return "<nil>";
    }
    if value.is_bool() {
        return "bool";
    }
    if let Some(number) = value.as_number() {
        return if number.fract() == 0.0 {
            "int64"
        } else {
            "float64"
        };
    }
    if value.is_array() {
        return "[]interface {}";
    }
    "map[string]interface {}"
}
