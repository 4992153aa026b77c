//! What functions that run once a test give back: data as JSON, contents of files.
//!
//! Must not know who takes it. Invariant: `setup()` data is what k6 would make of it: Go's JSON of
//! the exported value (`encoding/json`), not `JSON.stringify`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rquickjs::{Coerced, Ctx, Error, Function, Object, TypedArray, Value};
use serde_json::{Map, Number, Value as Json};

use super::Returned;
use super::failure::{FailureKind, ScriptFailure, failure_of};
use crate::kinds::{array_buffer, is_made_by};

/// Levels of `setup()` data: Go calls deeper ones a cycle, and so does this.
const DEPTH_MAX: usize = 1_000;

/// Why data cannot be handed on.
enum Refusal {
    /// The script threw while it was read.
    Thrown(Error),
    /// It is no JSON, in Go's words.
    NotJson(String),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Thrown(error)
    }
}

/// What `setup()` returned, as JSON; `None`: nothing.
pub(super) fn data_of<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
) -> Result<Option<Returned>, ScriptFailure> {
    if value.is_undefined() {
        return Ok(None);
    }
    match json(ctx, value, 0) {
        Ok(json) => Ok(Some(Returned::Json(json.to_string()))),
        Err(Refusal::Thrown(error)) => Err(failure_of(ctx, &error)),
        Err(Refusal::NotJson(why)) => Err(ScriptFailure {
            kind: FailureKind::BadData,
            message: format!("error marshaling setup() data to JSON: json: {why}"),
            trace: String::new(),
        }),
    }
}

fn json<'js>(ctx: &Ctx<'js>, value: &Value<'js>, depth: usize) -> Result<Json, Refusal> {
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
    if value.is_function() {
        let kind = "func(sobek.FunctionCall) sobek.Value";
        return Err(Refusal::NotJson(format!("unsupported type: {kind}")));
    }
    let Some(object) = value.as_object() else {
        let text = value.get::<Coerced<String>>()?.0;
        let is_big = value.is_big_int();
        let digits = is_big.then(|| text.parse::<Number>().ok()).flatten();
        return Ok(digits.map_or(Json::String(text), Json::Number));
    };
    if depth >= DEPTH_MAX {
        let cycle = "unsupported value: encountered a cycle via map[string]interface {}";
        return Err(Refusal::NotJson(cycle.to_owned()));
    }
    of_object(ctx, object, depth + 1)
}

fn of_number(number: f64) -> Result<Json, Refusal> {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Ok(Json::from(number as i64));
    }
    Number::from_f64(number).map(Json::Number).ok_or_else(|| {
        let text = match number {
            infinite if infinite == f64::INFINITY => "+Inf",
            infinite if infinite == f64::NEG_INFINITY => "-Inf",
            _ => "NaN",
        };
        Refusal::NotJson(format!("unsupported value: {text}"))
    })
}

fn of_object<'js>(ctx: &Ctx<'js>, object: &Object<'js>, depth: usize) -> Result<Json, Refusal> {
    if object.is_array() {
        return of_list(ctx, object, depth);
    }
    if is_made_by(ctx, object, "Date")? {
        return Ok(match ctx.json_stringify(object.clone())? {
            Some(text) => time(&text.to_string()?),
            None => Json::Null,
        });
    }
    if let Ok(bytes) = TypedArray::<u8>::from_object(object.clone()) {
        // SAFETY: the bytes are copied before anything of the script runs.
        let bytes = unsafe { bytes.as_bytes() }.unwrap_or_default();
        return Ok(Json::String(STANDARD.encode(bytes)));
    }
    for class in ["Map", "Set"] {
        if is_made_by(ctx, object, class)? {
            let array: Object<'js> = ctx.globals().get("Array")?;
            let from: Function<'js> = array.get("from")?;
            let list: Object<'js> = from.call((object.clone(),))?;
            return of_list(ctx, &list, depth);
        }
    }
    let mut fields = Map::new();
    for field in object.props::<String, Value<'js>>() {
        let (name, value) = field?;
        fields.insert(name, json(ctx, &value, depth)?);
    }
    Ok(Json::Object(fields))
}

fn of_list<'js>(ctx: &Ctx<'js>, list: &Object<'js>, depth: usize) -> Result<Json, Refusal> {
    let length: u32 = list.get("length")?;
    let items = (0..length).map(|index| json(ctx, &list.get(index)?, depth));
    items
        .collect::<Result<Vec<Json>, Refusal>>()
        .map(Json::Array)
}

/// An instant as Go writes it: without the zeros at the end of its milliseconds.
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

/// What `handleSummary()` returned, as contents by name; `None` when that is no object.
pub(super) fn files_of<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
) -> Result<Option<Returned>, ScriptFailure> {
    let Some(object) = value.as_object() else {
        return Ok(None);
    };
    let mut files = Vec::new();
    for entry in object.props::<String, Value<'js>>() {
        let (name, content) = entry.map_err(|error| failure_of(ctx, &error))?;
        let bytes = bytes_of(&content).ok_or_else(|| ScriptFailure {
            kind: FailureKind::BadOutput,
            message: format!(
                "error handling summary object {name}: invalid type {}, it needs to be a string \
                 or ArrayBuffer",
                type_in_go(&content)
            ),
            trace: String::new(),
        })?;
        files.push((name, bytes));
    }
    Ok(Some(Returned::Files(files)))
}

fn bytes_of(content: &Value<'_>) -> Option<Vec<u8>> {
    if let Some(text) = content.as_string() {
        return text.to_string().ok().map(String::into_bytes);
    }
    let object = content.as_object()?;
    if let Some(buffer) = array_buffer(object) {
        // SAFETY: the bytes are copied before anything of the script runs.
        return unsafe { buffer.as_bytes() }.map(<[u8]>::to_vec);
    }
    let array = TypedArray::<u8>::from_object(object.clone()).ok()?;
    // SAFETY: as above.
    unsafe { array.as_bytes() }.map(<[u8]>::to_vec)
}

/// The type that a value has once k6 has it.
fn type_in_go(value: &Value<'_>) -> &'static str {
    if value.is_int() {
        "int64"
    } else if value.is_number() {
        "float64"
    } else if value.is_bool() {
        "bool"
    } else if value.is_array() {
        "[]interface {}"
    } else if value.is_function() {
        "func(sobek.FunctionCall) sobek.Value"
    } else if value.is_object() {
        "map[string]interface {}"
    } else {
        "<nil>"
    }
}
