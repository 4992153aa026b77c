//! A value as `console.log` writes it.
//!
//! Must not run anything of the script but getters. Invariant: the text is bounded by [`DEPTH_MAX`];
//! beyond it an object is named, not spelled out.

use rquickjs::{Coerced, Ctx, Object, Result, Value};

use crate::kinds::{array_buffer, is_made_by};

/// Levels that are spelled out.
const DEPTH_MAX: usize = 64;

/// Views of binary data that k6 spells out, by their constructors' names; and what it calls them.
const TYPED_ARRAYS: [(&str, &str); 11] = [
    ("Uint8Array", "Uint8Array"),
    ("Uint8ClampedArray", "Uint8Array"),
    ("Int8Array", "Int8Array"),
    ("Uint16Array", "Uint16Array"),
    ("Int16Array", "Int16Array"),
    ("Uint32Array", "Uint32Array"),
    ("Int32Array", "Int32Array"),
    ("Float32Array", "Float32Array"),
    ("Float64Array", "Float64Array"),
    ("BigInt64Array", "BigInt64Array"),
    ("BigUint64Array", "BigUint64Array"),
];

/// A value as text.
///
/// # Errors
/// What a getter of the value throws.
pub(super) fn text<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    if value.is_undefined() {
        return Ok("undefined".to_owned());
    }
    if value.is_object() {
        let mut out = String::new();
        write(ctx, value, &mut Vec::new(), &mut out)?;
        return Ok(out);
    }
    primitive(value)
}

fn write<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    ancestors: &mut Vec<Value<'js>>,
    out: &mut String,
) -> Result<()> {
    let Some(object) = value.as_object() else {
        out.push_str(&within(value)?);
        return Ok(());
    };
    if ancestors.contains(value) {
        out.push_str("[Circular]");
        return Ok(());
    }
    if ancestors.len() >= DEPTH_MAX {
        out.push_str("[object Object]");
        return Ok(());
    }
    if let Some(text) = at_once(ctx, value, object)? {
        out.push_str(&text);
        return Ok(());
    }
    ancestors.push(value.clone());
    if value.is_array() || is_array_like(value) {
        let length: u32 = object.get("length")?;
        let items = (0..length).map(|index| Ok((None, object.get(index)?)));
        list(ctx, items, ["[", "]"], ancestors, out)?;
    } else if let Some(name) = typed_array(ctx, object)? {
        let length: u32 = object.get("length")?;
        out.push_str(&format!("{name}({length}) "));
        let items = (0..length).map(|index| Ok((None, object.get(index)?)));
        list(ctx, items, ["[", "]"], ancestors, out)?;
    } else {
        let fields = object
            .props::<String, Value<'js>>()
            .map(|field| field.map(|(name, value)| (Some(name), value)));
        list(ctx, fields, ["{", "}"], ancestors, out)?;
    }
    ancestors.pop();
    Ok(())
}

/// The text of an object that is not spelled out by its fields; `None` for all others.
fn at_once<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    object: &Object<'js>,
) -> Result<Option<String>> {
    if value.is_function() {
        return Ok(Some("[object Function]".to_owned()));
    }
    if object.is_error() {
        return Ok(Some(value.get::<Coerced<String>>()?.0));
    }
    if let Some(buffer) = array_buffer(object) {
        // SAFETY: nothing of the script runs while the bytes are read.
        let bytes = unsafe { buffer.as_bytes() };
        return Ok(Some(buffer_text(bytes.unwrap_or_default())));
    }
    if is_made_by(ctx, object, "Date")? {
        let json = ctx.json_stringify(object.clone())?;
        return Ok(Some(
            json.map_or(Ok(String::new()), |json| json.to_string())?,
        ));
    }
    Ok(None)
}

/// Whether `Array.isArray` holds of something that is no plain array: a proxy for one.
fn is_array_like(value: &Value<'_>) -> bool {
    let target = value.as_proxy().and_then(|proxy| proxy.target().ok());
    target.is_some_and(|target| target.is_array())
}

/// What k6 calls a view of binary data; `None` for anything else.
fn typed_array<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Result<Option<&'static str>> {
    for (class, name) in TYPED_ARRAYS {
        if is_made_by(ctx, object, class)? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn list<'js>(
    ctx: &Ctx<'js>,
    items: impl Iterator<Item = Result<(Option<String>, Value<'js>)>>,
    [open, close]: [&str; 2],
    ancestors: &mut Vec<Value<'js>>,
    out: &mut String,
) -> Result<()> {
    out.push_str(open);
    let mut first = true;
    for item in items {
        let (name, value) = item?;
        out.push_str(if first { " " } else { ", " });
        first = false;
        if let Some(name) = name {
            out.push_str(&name);
            out.push_str(": ");
        }
        write(ctx, &value, ancestors, out)?;
    }
    out.push_str(if first { "" } else { " " });
    out.push_str(close);
    Ok(())
}

/// A value that is no object, inside of one: text in quotes, nothing as `null`.
fn within(value: &Value<'_>) -> Result<String> {
    if value.is_undefined() {
        return Ok("null".to_owned());
    }
    let text = primitive(value)?;
    if value.is_string() || value.is_symbol() {
        return Ok(format!("\"{text}\""));
    }
    Ok(text)
}

fn primitive(value: &Value<'_>) -> Result<String> {
    if let Some(text) = value.as_string() {
        return text.to_string();
    }
    if let Some(symbol) = value.as_symbol() {
        return Ok(symbol.description()?.get::<Coerced<String>>()?.0);
    }
    Ok(value.get::<Coerced<String>>()?.0)
}

fn buffer_text(bytes: &[u8]) -> String {
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "ArrayBuffer {{ [Uint8Contents]: <{}>, byteLength: {} }}",
        hex.join(" "),
        bytes.len()
    )
}
