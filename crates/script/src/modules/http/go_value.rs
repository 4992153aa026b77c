//! Formats script values as Go does: k6 writes forms with `fmt`'s `%v`, and names Go's types in its messages.
//!
//! Source: the documentation of Go's package `fmt`. Must not know requests. Invariant: a cyclic value is cut at
//! [`DEPTH_MAX`].

use loadline_go::float;
use rquickjs::function::This;
use rquickjs::{Array, Coerced, Function, Object, Result, Value};

use crate::kinds::{array_buffer, is_made_by};
use crate::modules::bytes::{self, view_of};

/// Maximum depth of a nested value that is written.
const DEPTH_MAX: usize = 32;

/// The Go type of an array or a set.
pub(super) const LIST: &str = "[]interface {}";
/// The Go type of every other object with fields.
pub(super) const FIELDS: &str = "map[string]interface {}";

/// The Go type of a value in k6.
pub(super) fn type_name(value: &Value<'_>) -> String {
    if value.is_null() || value.is_undefined() {
        return "<nil>".to_owned();
    }
    if value.is_bool() {
        return "bool".to_owned();
    }
    if let Some(number) = value.as_number() {
        return if is_integer(number) {
            "int64"
        } else {
            "float64"
        }
        .to_owned();
    }
    if value.is_big_int() {
        return "*big.Int".to_owned();
    }
    let Some(object) = value.as_object() else {
        return "string".to_owned();
    };
    if object.is_array() {
        return LIST.to_owned();
    }
    if object.is_function() {
        return "func(sobek.FunctionCall) sobek.Value".to_owned();
    }
    if array_buffer(object).is_some() {
        return "sobek.ArrayBuffer".to_owned();
    }
    match constructor_name(object).as_str() {
        "Date" => "time.Time",
        "Map" => "[][2]interface {}",
        "Set" => LIST,
        "Int8Array" => "[]int8",
        "Uint8Array" | "Uint8ClampedArray" => "[]uint8",
        "Uint16Array" => "[]uint16",
        "Int16Array" => "[]int16",
        "Uint32Array" => "[]uint32",
        "Int32Array" => "[]int32",
        "Float32Array" => "[]float32",
        "Float64Array" => "[]float64",
        "BigInt64Array" => "[]int64",
        "BigUint64Array" => "[]uint64",
        _ => FIELDS,
    }
    .to_owned()
}

fn constructor_name(object: &Object<'_>) -> String {
    let constructor = object.get::<_, Object<'_>>("constructor");
    constructor
        .and_then(|constructor| constructor.get::<_, String>("name"))
        .unwrap_or_default()
}

/// Formats a value like `%v`.
///
/// # Errors
/// A getter of the script throws.
pub(super) fn format(value: &Value<'_>) -> Result<String> {
    let mut out = String::new();
    write(value, 0, &mut out)?;
    Ok(out)
}

fn write(value: &Value<'_>, depth: usize, out: &mut String) -> Result<()> {
    if value.is_null() || value.is_undefined() || depth > DEPTH_MAX {
        out.push_str("<nil>");
    } else if let Some(number) = value.as_number() {
        out.push_str(&number_text(number));
    } else if let Some(array) = value.as_array() {
        write_array(array, depth, out)?;
    } else if let Some(bytes) = view_bytes(value)? {
        let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
        out.push_str(&format!("[{}]", numbers.join(" ")));
    } else if let Some(time) = time_text(value)? {
        out.push_str(&time);
    } else if let Some(object) = value.as_object().filter(|object| !object.is_function()) {
        write_map(object, depth, out)?;
    } else {
        out.push_str(&value.get::<Coerced<String>>()?.0);
    }
    Ok(())
}

/// The bytes of a view of an array buffer.
fn view_bytes(value: &Value<'_>) -> Result<Option<Vec<u8>>> {
    match value.as_object() {
        Some(object) if view_of(object)?.is_some() => bytes::of_source(value),
        _ => Ok(None),
    }
}

/// A `Date` in Go's time format: `1970-01-01 00:00:00.5 +0000 UTC`.
fn time_text(value: &Value<'_>) -> Result<Option<String>> {
    let Some(object) = value.as_object() else {
        return Ok(None);
    };
    if !is_made_by(value.ctx(), object, "Date")? {
        return Ok(None);
    }
    let spelled: Function<'_> = object.get("toJSON")?;
    // Null for an invalid date.
    let Some(spelled) = spelled.call::<_, Option<String>>((This(value.clone()),))? else {
        return Ok(None);
    };
    let time = spelled.trim_end_matches('Z').trim_end_matches('0');
    let time = time.trim_end_matches('.').replace('T', " ");
    Ok(Some(format!("{time} +0000 UTC")))
}

fn write_array(array: &Array<'_>, depth: usize, out: &mut String) -> Result<()> {
    out.push('[');
    for (at, item) in array.iter::<Value<'_>>().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        write(&item?, depth + 1, out)?;
    }
    out.push(']');
    Ok(())
}

fn write_map(object: &Object<'_>, depth: usize, out: &mut String) -> Result<()> {
    let mut entries = object
        .props::<String, Value<'_>>()
        .collect::<Result<Vec<_>>>()?;
    entries.sort_by(|left, right| left.0.cmp(&right.0));
    out.push_str("map[");
    for (at, (key, value)) in entries.iter().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(key);
        out.push(':');
        write(value, depth + 1, out)?;
    }
    out.push(']');
    Ok(())
}

/// Formats a number like `%v`: those that sobek holds as integers have all their digits.
fn number_text(number: f64) -> String {
    if is_integer(number) {
        (number as i64).to_string()
    } else {
        float::shortest(number)
    }
}

/// Whether sobek holds a number as an integer: up to 53 bits, and not minus zero.
fn is_integer(number: f64) -> bool {
    const LIMIT: f64 = (1_u64 << 53) as f64;
    number.fract() == 0.0 && number.abs() < LIMIT && !(number == 0.0 && number.is_sign_negative())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_k6_writes_them() {
        for (number, expected) in [
            (1.5, "1.5"),
            (-3.0, "-3"),
            (-0.0, "-0"),
            (1e15, "1000000000000000"),
            (9_007_199_254_740_992.0, "9.007199254740992e+15"),
            (1e20, "1e+20"),
            (1_234_567.5, "1.2345675e+06"),
            (0.00001, "1e-05"),
            (f64::INFINITY, "+Inf"),
        ] {
            assert_eq!(number_text(number), expected);
        }
    }
}
