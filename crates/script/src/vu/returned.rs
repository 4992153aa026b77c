//! Return values of functions that run once per test: data as JSON, contents of files.
//!
//! Must not know the receiver. Invariant: `setup()` data is the same as in k6.

use rquickjs::{Ctx, Object, TypedArray, Value};

use super::failure::{FailureKind, ScriptFailure, failure_of};
use super::{NamedFiles, Returned};
use crate::exported::{self, Refusal};
use crate::kinds::array_buffer;
use crate::modules::is_response;

/// The return value of `setup()` as JSON; `None`: nothing.
pub(super) fn data_of<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
) -> Result<Option<Returned>, ScriptFailure> {
    if value.is_undefined() {
        return Ok(None);
    }
    let message = match exported::json(ctx, value, is_response) {
        Ok(json) => return Ok(Some(Returned::Json(json))),
        Err(Refusal::Thrown(error)) => return Err(failure_of(ctx, &error)),
        Err(Refusal::Unsupported(why)) => format!("error marshaling setup() data to JSON: {why}"),
        Err(Refusal::TooDeep(why)) => why,
    };
    Err(ScriptFailure {
        kind: FailureKind::BadData,
        message,
        trace: String::new(),
    })
}

/// The return value of `handleSummary()`, as contents by name; `None`: nothing.
pub(super) fn files_of<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
) -> Result<Option<NamedFiles>, ScriptFailure> {
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    let refused = |message: String| ScriptFailure {
        kind: FailureKind::BadOutput,
        message,
        trace: String::new(),
    };
    let object = value.as_object().filter(|object| is_map_in_go(ctx, object));
    let object = object.ok_or_else(|| {
        refused("handleSummary() should return a map with string keys".to_owned())
    })?;
    let mut files = Vec::new();
    for entry in object.props::<String, Value<'js>>() {
        let (name, content) = entry.map_err(|error| failure_of(ctx, &error))?;
        let bytes = bytes_of(&content).ok_or_else(|| {
            refused(format!(
                "error handling summary object {name}: invalid type {}, it needs to be a string \
                 or ArrayBuffer",
                type_in_go(&content)
            ))
        })?;
        files.push((name, bytes));
    }
    Ok(Some(files))
}

/// Whether k6 sees an object as a map; lists, functions, maps and dates are other types to it.
fn is_map_in_go<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> bool {
    let is_a = |class: &str| {
        let class = ctx.globals().get::<_, Object<'js>>(class);
        class.is_ok_and(|class| object.is_instance_of(&class))
    };
    let others = ["Map", "Set", "Date", "ArrayBuffer"];
    !object.is_array() && !object.is_function() && !others.into_iter().any(is_a)
}

fn bytes_of(content: &Value<'_>) -> Option<Vec<u8>> {
    if let Some(text) = content.as_string() {
        return text.to_string().ok().map(String::into_bytes);
    }
    let object = content.as_object()?;
    if let Some(buffer) = array_buffer(object) {
        // SAFETY: the bytes are copied before any script code runs.
        return unsafe { buffer.as_bytes() }.map(<[u8]>::to_vec);
    }
    let array = TypedArray::<u8>::from_object(object.clone()).ok()?;
    // SAFETY: as above.
    unsafe { array.as_bytes() }.map(<[u8]>::to_vec)
}

/// The Go type of a value in k6.
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
