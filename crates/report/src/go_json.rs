//! Values of templates as Go's `encoding/json` writes them.
//!
//! Must not know reports. Invariant: the output is valid JSON; numbers that JSON cannot hold become
//! null (Go gives up on the whole text).

use crate::go_template::{List, Value, float};

/// One value as JSON without white space.
pub(crate) fn encode(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Missing | Value::Nil => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(value) | Value::Duration(value) => out.push_str(&value.to_string()),
        Value::Uint(value) => out.push_str(&value.to_string()),
        Value::Float(value) => out.push_str(&number(*value)),
        Value::Text(text) => out.push_str(&string(text)),
        Value::Bytes(bytes) => out.push_str(&string(&String::from_utf8_lossy(bytes))),
        Value::Uuid(_) => out.push_str(&string(&crate::go_template::show::printed(value))),
        Value::List(list) => write_list(list, out),
        Value::Map(rows) => {
            let key = |key: &Value| match key {
                Value::Text(text) => text.to_string(),
                other => crate::go_template::show::printed(other),
            };
            write_rows(rows.iter().map(|(name, value)| (key(name), value)), out);
        }
        Value::Object(object) => {
            write_rows(
                object
                    .fields()
                    .map(|(name, value)| (name.to_owned(), value)),
                out,
            );
        }
    }
}

fn write_list(list: &List, out: &mut String) {
    out.push('[');
    for (at, item) in (0..list.len()).filter_map(|at| list.get(at)).enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        write(&item, out);
    }
    out.push(']');
}

fn write_rows<'a>(rows: impl Iterator<Item = (String, &'a Value)>, out: &mut String) {
    out.push('{');
    for (at, (name, value)) in rows.enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        out.push_str(&string(&name));
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

/// A float: plain digits between 1e-6 and 1e21, an exponent without leading zeros beyond.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "null".to_owned();
    }
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        return float::format(value, 'f', None);
    }
    let text = float::format(value, 'e', None);
    match text.split_once("e-0") {
        Some((digits, power)) => format!("{digits}e-{power}"),
        None => text,
    }
}

/// A string; Go also escapes what HTML would read.
pub(crate) fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..'\u{20}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_strings_are_written_as_in_go() {
        for (value, text) in [
            (0.000075242, "0.000075242"),
            (1e-7, "1e-7"),
            (1e21, "1e+21"),
            (3.0, "3"),
            (0.0, "0"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(number(f64::NAN), "null");
        assert_eq!(string("a\"<\u{1}é\n"), r#""a\"\u003c\u0001é\n""#);
    }
}
