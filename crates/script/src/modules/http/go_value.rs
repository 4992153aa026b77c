//! Values of a script as Go prints them: k6 writes forms with `fmt`'s `%v`, and names Go's types
//! in its messages.
//!
//! Source: the documentation of Go's `fmt` and `time` packages. Must not know requests.
//! Invariant: a value that holds itself ends at [`DEPTH_MAX`].

use rquickjs::{Array, Coerced, Object, Result, Value};

use crate::kinds::array_buffer;

/// Levels of a nested value that are written.
const DEPTH_MAX: usize = 32;

/// The Go type that k6 sees in a value.
pub(super) fn type_name(value: &Value<'_>) -> String {
    if value.is_null() || value.is_undefined() {
        return "<nil>".to_owned();
    }
    if value.is_bool() {
        return "bool".to_owned();
    }
    if let Some(number) = value.as_number() {
        let is_whole = number.fract() == 0.0 && number.abs() < 9e15;
        return if is_whole { "int64" } else { "float64" }.to_owned();
    }
    if value.is_big_int() {
        return "*big.Int".to_owned();
    }
    let Some(object) = value.as_object() else {
        return "string".to_owned();
    };
    if object.is_array() {
        return "[]interface {}".to_owned();
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
        "Set" => "[]interface {}",
        "Int8Array" => "[]int8",
        "Uint16Array" => "[]uint16",
        "Int16Array" => "[]int16",
        "Uint32Array" => "[]uint32",
        "Int32Array" => "[]int32",
        "Float32Array" => "[]float32",
        "Float64Array" => "[]float64",
        "BigInt64Array" => "[]int64",
        "BigUint64Array" => "[]uint64",
        _ => "map[string]interface {}",
    }
    .to_owned()
}

fn constructor_name(object: &Object<'_>) -> String {
    let constructor = object.get::<_, Object<'_>>("constructor");
    constructor
        .and_then(|constructor| constructor.get::<_, String>("name"))
        .unwrap_or_default()
}

/// A value as `%v` writes it.
///
/// # Errors
/// When a getter of the script throws.
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
    } else if let Some(object) = value.as_object().filter(|object| !object.is_function()) {
        write_map(object, depth, out)?;
    } else {
        out.push_str(&value.get::<Coerced<String>>()?.0);
    }
    Ok(())
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

/// A number as `%v` writes it: with an exponent below 1e-4 and from 1e21 on.
fn number_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let size = number.abs();
    if number == 0.0 || (1e-4..1e21).contains(&size) {
        return format!("{number}");
    }
    let written = format!("{number:e}");
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// Nanoseconds of a duration such as `1m30s`, of a plain number of milliseconds, or of either
/// after a number of days (`1d12h`).
///
/// # Errors
/// The message of Go's `time.ParseDuration`.
pub(super) fn duration_ns(text: &str) -> std::result::Result<f64, String> {
    if let Ok(milliseconds) = text.parse::<f64>() {
        return Ok(milliseconds * 1e6);
    }
    let invalid = || format!("time: invalid duration {}", super::url::quoted(text));
    let (days, rest) = match text.split_once('d') {
        Some((days, rest)) => (days.parse::<f64>().map_err(|_| invalid())?, rest),
        None => (0.0, text),
    };
    let mut ns = days * 86_400e9;
    let (sign, mut rest) = match rest.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, rest.strip_prefix('+').unwrap_or(rest)),
    };
    if rest.is_empty() && days == 0.0 {
        return Err(invalid());
    }
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(|| {
                format!(
                    "time: missing unit in duration {}",
                    super::url::quoted(text)
                )
            })?;
        let number: f64 = rest[..digits].parse().map_err(|_| invalid())?;
        rest = &rest[digits..];
        let end = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        let unit_ns = match &rest[..end] {
            "ns" => 1.0,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3_600e9,
            unit => {
                return Err(format!(
                    "time: unknown unit {} in duration {}",
                    super::url::quoted(unit),
                    super::url::quoted(text)
                ));
            }
        };
        ns += sign * number * unit_ns;
        rest = &rest[end..];
    }
    Ok(ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_written_as_go_does() {
        let table = [
            (1.5, "1.5"),
            (1e21, "1e+21"),
            (0.00001, "1e-05"),
            (-3.0, "-3"),
            (1e20, "100000000000000000000"),
            (f64::INFINITY, "+Inf"),
        ];
        for (number, expected) in table {
            assert_eq!(number_text(number), expected);
        }
    }

    #[test]
    fn durations_are_gos() {
        assert_eq!(duration_ns("1m30s"), Ok(90e9));
        assert_eq!(duration_ns("200ms"), Ok(200e6));
        assert_eq!(duration_ns("250"), Ok(250e6));
        assert_eq!(duration_ns("1d12h"), Ok(36.0 * 3_600e9));
        assert_eq!(
            duration_ns("x"),
            Err("time: invalid duration \"x\"".to_owned())
        );
        assert_eq!(
            duration_ns("5y"),
            Err("time: unknown unit \"y\" in duration \"5y\"".to_owned())
        );
    }

    proptest! {
        #[test]
        fn any_duration_is_read_or_refused(text in "\\PC{0,12}|[0-9a-zµ.+-]{0,10}") {
            match duration_ns(&text) {
                Ok(ns) => prop_assert!(!ns.is_nan() || text.to_lowercase().contains("nan")),
                Err(why) => prop_assert!(why.starts_with("time: ")),
            }
        }
    }
}
