//! A script's value as k6 exports it: Go's JSON of the exported value (`encoding/json`), not `JSON.stringify`.
//!
//! Must not know the purpose. Invariant: conversion terminates in constant stack for every value, however deep
//! or cyclic.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rquickjs::{Coerced, Ctx, Error, Function, Object, TypedArray, Value};
use serde_json::{Number, Value as Json};

use crate::items::Items;
use crate::kinds::is_made_by;

/// Depth from which Go checks for cycles.
const CYCLES_SOUGHT_FROM: usize = 1_000;
/// Maximum depth that Go can read back.
const LEVELS_MAX: usize = 10_000;

/// Why a value has no JSON.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The script threw while the value was read.
    Thrown(Error),
    /// Not representable in JSON, in Go's words.
    Unsupported(String),
    /// Too deep for Go to read back, in Go's words.
    TooDeep(String),
}

impl Refusal {
    fn unsupported(why: &str) -> Refusal {
        Refusal::Unsupported(format!("json: unsupported {why}"))
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Thrown(error)
    }
}

/// Whether an object is a struct in Go, whose methods are not fields.
pub(crate) type IsStructure = fn(&Object<'_>) -> bool;

/// Converts a value to JSON. Descends without recursion: a target may control the depth.
///
/// # Errors
/// An exception from a getter of the value, or the reason why it has no JSON.
pub(crate) fn json<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    is_structure: IsStructure,
) -> Result<String, Refusal> {
    let mut out = String::new();
    let begin = |value: &Value<'js>, around: &[Open<'js>], out: &mut String| {
        begin(ctx, value, is_structure, around, out)
    };
    let mut open: Vec<Open<'js>> = begin(value, &[], &mut out)?.into_iter().collect();
    while let Some(innermost) = open.last_mut() {
        match innermost.next(&mut out)? {
            None => drop(open.pop()),
            Some(value) => {
                let inner = begin(&value, &open, &mut out)?;
                open.extend(inner);
            }
        }
    }
    Ok(out)
}

/// A list or object whose start has been written.
struct Open<'js> {
    object: Object<'js>,
    items: Items<'js>,
    is_empty: bool,
}

impl<'js> Open<'js> {
    /// The next value to write, after its name and separator have been written; `None` at the end, which has
    /// then been written.
    fn next(&mut self, out: &mut String) -> Result<Option<Value<'js>>, Refusal> {
        let Some((name, value)) = self.items.next()? else {
            out.push(brackets(&self.items)[1]);
            return Ok(None);
        };
        if !self.is_empty {
            out.push(',');
        }
        self.is_empty = false;
        if let Some(name) = name {
            out.push_str(&Json::String(name).to_string());
            out.push(':');
        }
        Ok(Some(value))
    }
}

fn brackets(items: &Items<'_>) -> [char; 2] {
    match items {
        Items::Indexed(..) => ['[', ']'],
        Items::Fields(_) => ['{', '}'],
    }
}

/// Go's type name in an error about a cycle.
fn type_in_go(items: &Items<'_>) -> &'static str {
    match items {
        Items::Indexed(..) => "[]interface {}",
        Items::Fields(_) => "map[string]interface {}",
    }
}

/// Writes a value; for a list or object, only its start.
fn begin<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    is_structure: IsStructure,
    around: &[Open<'js>],
    out: &mut String,
) -> Result<Option<Open<'js>>, Refusal> {
    let Some(object) = value.as_object() else {
        out.push_str(&of_primitive(value)?.to_string());
        return Ok(None);
    };
    // As in k6, which sees nothing of what a proxy stands for, such as a `SharedArray`.
    if value.is_proxy() {
        out.push_str("{}");
        return Ok(None);
    }
    if value.is_function() {
        return Err(Refusal::unsupported(
            "type: func(sobek.FunctionCall) sobek.Value",
        ));
    }
    if let Some(text) = at_once(ctx, object)? {
        out.push_str(&text.to_string());
        return Ok(None);
    }
    let (object, items) = opened(ctx, object, is_structure)?;
    if around.len() >= CYCLES_SOUGHT_FROM && around.iter().any(|open| open.object == object) {
        let through = type_in_go(&items);
        let why = format!("value: encountered a cycle via {through}");
        return Err(Refusal::unsupported(&why));
    }
    let [bracket, _] = brackets(&items);
    if around.len() >= LEVELS_MAX {
        let why = format!("invalid character '{bracket}' exceeded max depth");
        return Err(Refusal::TooDeep(why));
    }
    out.push(bracket);
    Ok(Some(Open {
        object,
        items,
        is_empty: true,
    }))
}

fn of_primitive(value: &Value<'_>) -> Result<Json, Refusal> {
    if value.is_undefined() || value.is_null() {
        return Ok(Json::Null);
    }
    if let Some(truth) = value.as_bool() {
        return Ok(Json::Bool(truth));
    }
    if let Some(integer) = value.as_int() {
        return Ok(Json::from(integer));
    }
    if let Some(number) = value.as_number() {
        return of_number(number);
    }
    if let Some(symbol) = value.as_symbol() {
        let description = symbol.description()?;
        return Ok(Json::String(description.get::<Coerced<String>>()?.0));
    }
    let text = value.get::<Coerced<String>>()?.0;
    let is_big = value.is_big_int();
    let digits = is_big.then(|| text.parse::<Number>().ok()).flatten();
    Ok(digits.map_or(Json::String(text), Json::Number))
}

fn of_number(number: f64) -> Result<Json, Refusal> {
    // All that fit into 64 bits are integers, as in Go.
    if number.fract() == 0.0 && number.abs() < 9.2e18 {
        return Ok(Json::from(number as i64));
    }
    Number::from_f64(number).map(Json::Number).ok_or_else(|| {
        Refusal::unsupported(match number {
            infinite if infinite == f64::INFINITY => "value: +Inf",
            infinite if infinite == f64::NEG_INFINITY => "value: -Inf",
            _ => "value: NaN",
        })
    })
}

/// The text of an object that becomes a string; `None` for one that becomes a list or an object.
fn at_once<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Result<Option<Json>, Refusal> {
    if object.is_array() {
        return Ok(None);
    }
    if is_made_by(ctx, object, "Date")? {
        return Ok(Some(match ctx.json_stringify(object.clone())? {
            Some(text) => time(&text.to_string()?),
            None => Json::Null,
        }));
    }
    let Ok(bytes) = TypedArray::<u8>::from_object(object.clone()) else {
        return Ok(None);
    };
    // SAFETY: the bytes are copied before any script code runs.
    let bytes = unsafe { bytes.as_bytes() }.unwrap_or_default();
    Ok(Some(Json::String(STANDARD.encode(bytes))))
}

/// A container with its items; a `Map` or `Set` becomes the list of its entries.
fn opened<'js>(
    ctx: &Ctx<'js>,
    object: &Object<'js>,
    is_structure: IsStructure,
) -> Result<(Object<'js>, Items<'js>), Refusal> {
    if object.is_array() {
        return Ok((object.clone(), Items::of_list(object)?));
    }
    for class in ["Map", "Set"] {
        if is_made_by(ctx, object, class)? {
            let array: Object<'js> = ctx.globals().get("Array")?;
            let from: Function<'js> = array.get("from")?;
            let list: Object<'js> = from.call((object.clone(),))?;
            let items = Items::of_list(&list)?;
            return Ok((list, items));
        }
    }
    let fields = object.props::<String, Value<'js>>();
    let mut fields = fields.collect::<Result<Vec<_>, Error>>()?;
    if is_structure(object) {
        fields.retain(|(_, value)| !value.is_function());
    }
    fields.sort_by(|left, right| left.0.cmp(&right.0));
    Ok((object.clone(), Items::of_fields(fields)))
}

/// An instant in Go's format: without trailing zeros in its milliseconds.
fn time(quoted: &str) -> Json {
    let text = quoted.trim_matches('"');
    match text.strip_suffix('Z').and_then(|text| text.split_once('.')) {
        Some((seconds, fraction)) => match fraction.trim_end_matches('0') {
            "" => Json::String(format!("{seconds}Z")),
            fraction => Json::String(format!("{seconds}.{fraction}Z")),
        },
        None => Json::Null,
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};

    use super::*;

    fn exported(script: &str) -> Result<String, String> {
        let runtime = Runtime::new().unwrap();
        let context = Context::full(&runtime).unwrap();
        context.with(|ctx| {
            let value: Value<'_> = ctx.eval(script).unwrap();
            json(&ctx, &value, |_| false).map_err(|refusal| match refusal {
                Refusal::Thrown(error) => error.to_string(),
                Refusal::Unsupported(why) | Refusal::TooDeep(why) => why,
            })
        })
    }

    #[test]
    fn values_are_those_of_go() {
        let script = "({ z: [1, 1.5, -0, 2n ** 60n, null, undefined, true, 'a\\n', Symbol('s')],
            a: { y: new Map([[1, { k: 2 }]]), x: new Set(['q']) }, d: new Date(1500),
            b: new Uint8Array([1, 2]), n: new Date(NaN), e: [], f: {} })";
        let json = concat!(
            r#"{"a":{"x":["q"],"y":[[1,{"k":2}]]},"b":"AQI=","d":"1970-01-01T00:00:01.5Z","e":[],"f":{},"#,
            r#""n":null,"z":[1,1.5,0,1152921504606846976,null,null,true,"a\n","s"]}"#
        );
        assert_eq!(exported(script), Ok(json.to_owned()));
        assert_eq!(exported("'x'"), Ok("\"x\"".to_owned()));
        let proxies = "[new Proxy({ a: 1 }, {}), new Proxy([1], {}), new Proxy(() => 1, {})]";
        assert_eq!(exported(proxies), Ok("[{},{},{}]".to_owned()));
    }

    #[test]
    fn what_go_has_no_json_of_is_refused() {
        let unsupported = |what: &str| Err(format!("json: unsupported {what}"));
        let function = "type: func(sobek.FunctionCall) sobek.Value";
        assert_eq!(exported("[() => 1]"), unsupported(function));
        assert_eq!(exported("[-1 / 0]"), unsupported("value: -Inf"));
        let cycle = |of: &str| unsupported(&format!("value: encountered a cycle via {of}"));
        let object = "map[string]interface {}";
        assert_eq!(exported("let a = { x: 1 }; a.a = a; a"), cycle(object));
        assert_eq!(exported("let a = []; a[0] = a; a"), cycle("[]interface {}"));
    }

    #[test]
    fn depth_ends_where_gos_does() {
        let nested =
            |levels: usize| format!("let a = 1; for (let i = 0; i < {levels}; i++) a = {{ a }}; a");
        let deep = exported(&nested(LEVELS_MAX)).unwrap();
        assert_eq!(deep.len(), LEVELS_MAX * 6 + 1);
        let refused = "invalid character '{' exceeded max depth".to_owned();
        assert_eq!(exported(&nested(LEVELS_MAX + 1)), Err(refused.clone()));
        assert_eq!(exported(&nested(1_000_000)), Err(refused));
    }
}
