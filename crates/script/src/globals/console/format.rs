//! Formats a value as `console.log` does.
//!
//! Must not run script code except getters. Invariant: the text is bounded by [`DEPTH_MAX`]; deeper objects are
//! only named.

use rquickjs::{Atom, Coerced, Ctx, Object, Result, Value};

use crate::go_error;
use crate::items::Items;
use crate::kinds::{array_buffer, is_made_by};
use crate::modules::bytes;

/// Maximum depth that is written out.
const DEPTH_MAX: usize = 1000;

/// Typed arrays whose elements k6 writes out, by constructor name, with k6's names for them.
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
/// An exception from a getter of the value.
pub(super) fn text<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    if value.is_undefined() {
        return Ok("undefined".to_owned());
    }
    if value.is_object() {
        let mut out = String::new();
        write(ctx, value, &mut out)?;
        return Ok(out);
    }
    primitive(value)
}

/// Descends without recursion: a script may have nearly used up the stack, which is not guarded while no script
/// runs.
fn write<'js>(ctx: &Ctx<'js>, value: &Value<'js>, out: &mut String) -> Result<()> {
    let mut open: Vec<Open<'js>> = begin(ctx, value, &[], out)?.into_iter().collect();
    while let Some(innermost) = open.last_mut() {
        match innermost.next(out)? {
            None => drop(open.pop()),
            Some(value) => {
                let inner = begin(ctx, &value, &open, out)?;
                open.extend(inner);
            }
        }
    }
    Ok(())
}

/// A list or object whose start has been written.
struct Open<'js> {
    value: Value<'js>,
    items: Items<'js>,
    close: char,
    is_empty: bool,
}

impl<'js> Open<'js> {
    /// The next value to write, after its separator has been written; `None` at the end, which has then been
    /// written.
    fn next(&mut self, out: &mut String) -> Result<Option<Value<'js>>> {
        let Some((name, value)) = self.items.next()? else {
            out.push_str(if self.is_empty { "" } else { " " });
            out.push(self.close);
            return Ok(None);
        };
        out.push_str(if self.is_empty { " " } else { ", " });
        self.is_empty = false;
        if let Some(name) = name {
            out.push_str(&name);
            out.push_str(": ");
        }
        Ok(Some(value))
    }
}

/// Writes a value; for a list or object, only its start.
fn begin<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    around: &[Open<'js>],
    out: &mut String,
) -> Result<Option<Open<'js>>> {
    let Some(object) = value.as_object() else {
        out.push_str(&within(value)?);
        return Ok(None);
    };
    if around.iter().any(|open| open.value == *value) {
        out.push_str("[Circular]");
        return Ok(None);
    }
    if around.len() >= DEPTH_MAX {
        out.push_str("[object Object]");
        return Ok(None);
    }
    if let Some(text) = at_once(ctx, value, object)? {
        out.push_str(&text);
        return Ok(None);
    }
    let (items, brackets) = if value.is_array() || is_array_like(value) {
        (Items::of_list(object)?, ['[', ']'])
    } else if let Some(name) = typed_array(ctx, object)? {
        let length: u32 = object.get("length")?;
        out.push_str(&format!("{name}({length}) "));
        (Items::of_list(object)?, ['[', ']'])
    } else {
        (fields(object)?, ['{', '}'])
    };
    out.push(brackets[0]);
    Ok(Some(Open {
        value: value.clone(),
        items,
        close: brackets[1],
        is_empty: true,
    }))
}

fn fields<'js>(object: &Object<'js>) -> Result<Items<'js>> {
    let fields = object.props::<Atom<'js>, Value<'js>>().map(|field| {
        let (name, value) = field?;
        Ok((bytes::text(&name.to_value()?)?, value))
    });
    Ok(Items::of_fields(fields.collect::<Result<_>>()?))
}

/// The text of an object that is not written field by field; `None` for all others.
fn at_once<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    object: &Object<'js>,
) -> Result<Option<String>> {
    if value.is_function() {
        return Ok(Some("[object Function]".to_owned()));
    }
    if object.is_error() || go_error::is_value(ctx, object) {
        let told = value.get::<Coerced<rquickjs::String<'js>>>()?.0;
        return Ok(Some(bytes::text(told.as_value())?));
    }
    if let Some(buffer) = array_buffer(object) {
        // SAFETY: no script code runs while the bytes are read.
        let bytes = unsafe { buffer.as_bytes() };
        return Ok(Some(buffer_text(bytes.unwrap_or_default())));
    }
    if is_made_by(ctx, object, "Date")? {
        let json = ctx.json_stringify(object.clone())?;
        let json = json.map_or(Ok(String::new()), |json| json.to_string())?;
        let is_none = json == "null";
        return Ok(Some(if is_none { "{}".to_owned() } else { json }));
    }
    Ok(None)
}

/// Whether `Array.isArray` is true for an object that is not a plain array: a proxy for one.
fn is_array_like(value: &Value<'_>) -> bool {
    let target = value.as_proxy().and_then(|proxy| proxy.target().ok());
    target.is_some_and(|target| target.is_array())
}

/// k6's name for a typed array; `None` for anything else.
fn typed_array<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Result<Option<&'static str>> {
    for (class, name) in TYPED_ARRAYS {
        if is_made_by(ctx, object, class)? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// A primitive value inside an object: text in quotes, `undefined` as `null`.
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
    match value.as_symbol() {
        Some(symbol) => bytes::text(&symbol.description()?),
        None => bytes::text(value),
    }
}

fn buffer_text(bytes: &[u8]) -> String {
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "ArrayBuffer {{ [Uint8Contents]: <{}>, byteLength: {} }}",
        hex.join(" "),
        bytes.len()
    )
}
