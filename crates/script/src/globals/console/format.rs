//! A value as `console.log` writes it.
//!
//! Must not run anything of the script but getters and `toJSON`. Invariant: the text is bounded by
//! [`DEPTH_MAX`]; beyond it an object is named, not spelled out.

use rquickjs::{ArrayBuffer, Coerced, Ctx, Object, Value};

/// Levels that are spelled out.
const DEPTH_MAX: usize = 64;

/// A value as text.
pub(super) fn text<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> String {
    if let Some(text) = value.as_string() {
        return text.to_string().unwrap_or_default();
    }
    let mut out = String::new();
    let mut ancestors = Vec::new();
    if write(ctx, value, &mut ancestors, &mut out).is_none() {
        drop(ctx.catch());
        return "[object Object]".to_owned();
    }
    out
}

/// `None` when the value holds itself, is too deep, or throws.
fn write<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    ancestors: &mut Vec<Value<'js>>,
    out: &mut String,
) -> Option<()> {
    let Some(object) = value.as_object() else {
        out.push_str(&primitive(value)?);
        return Some(());
    };
    if ancestors.len() >= DEPTH_MAX || ancestors.contains(value) {
        return None;
    }
    if value.is_function() {
        out.push_str("[object Function]");
        return Some(());
    }
    if object.is_error() {
        out.push_str(&value.get::<Coerced<String>>().ok()?.0);
        return Some(());
    }
    if let Some(buffer) = ArrayBuffer::from_object(object.clone()) {
        // SAFETY: nothing of the script runs while the bytes are read.
        let bytes = unsafe { buffer.as_bytes() };
        out.push_str(&array_buffer(bytes.unwrap_or_default()));
        return Some(());
    }
    ancestors.push(value.clone());
    let written = match object.as_array() {
        Some(array) => {
            let items = array.iter::<Value<'js>>().map(|item| Some((None, item.ok()?)));
            list(ctx, items, ["[", "]"], ancestors, out)
        }
        None if is_array_like(value) => {
            let length: u32 = object.get("length").ok()?;
            let items = (0..length).map(|index| Some((None, object.get(index).ok()?)));
            list(ctx, items, ["[", "]"], ancestors, out)
        }
        None => write_object(ctx, object, ancestors, out),
    };
    ancestors.pop();
    written
}

/// Whether `Array.isArray` holds of something that is no plain array: a proxy for one.
fn is_array_like(value: &Value<'_>) -> bool {
    let target = value.as_proxy().and_then(|proxy| proxy.target().ok());
    target.is_some_and(|target| target.is_array())
}

fn write_object<'js>(
    ctx: &Ctx<'js>,
    object: &Object<'js>,
    ancestors: &mut Vec<Value<'js>>,
    out: &mut String,
) -> Option<()> {
    let to_json: Value<'js> = object.get("toJSON").ok()?;
    if to_json.is_function() {
        let json = ctx.json_stringify(object.clone()).ok()??;
        out.push_str(&json.to_string().ok()?);
        return Some(());
    }
    let fields = object
        .props::<String, Value<'js>>()
        .map(|field| field.ok().map(|(name, value)| (Some(name), value)));
    list(ctx, fields, ["{", "}"], ancestors, out)
}

fn list<'js>(
    ctx: &Ctx<'js>,
    items: impl Iterator<Item = Option<(Option<String>, Value<'js>)>>,
    [open, close]: [&str; 2],
    ancestors: &mut Vec<Value<'js>>,
    out: &mut String,
) -> Option<()> {
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
        match value.as_string() {
            Some(text) => {
                let text = text.to_string().ok()?;
                out.push_str(&serde_json::to_string(&text).ok()?);
            }
            None => write(ctx, &value, ancestors, out)?,
        }
    }
    out.push_str(if first { "" } else { " " });
    out.push_str(close);
    Some(())
}

fn primitive(value: &Value<'_>) -> Option<String> {
    if value.is_symbol() {
        let description = value.as_symbol()?.description().ok()?;
        return Some(format!(
            "Symbol({})",
            description.get::<Coerced<String>>().map_or(String::new(), |text| text.0)
        ));
    }
    Some(value.get::<Coerced<String>>().ok()?.0)
}

fn array_buffer(bytes: &[u8]) -> String {
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "ArrayBuffer {{ [Uint8Contents]: <{}>, byteLength: {} }}",
        hex.join(" "),
        bytes.len()
    )
}
