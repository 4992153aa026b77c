//! JSON in the format of k6's files: ordered keys, four spaces, Go's numbers.
//!
//! Must not know what is written. Invariant: the output is valid JSON; empty lists and objects take no lines.

use loadline_go::json::{self, HtmlEscape};
use serde_json::{Map, Number, Value};

/// A value as indented JSON, without a trailing line end.
#[must_use]
pub fn indented(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out
}

fn write(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(value) => out.push_str(&number(value)),
        Value::String(text) => json::push_string(text, HtmlEscape::Off, out),
        Value::Array(items) => nested(items.iter(), depth, ['[', ']'], out, |item, out| {
            write(item, depth + 1, out);
        }),
        Value::Object(fields) => write_object(fields, depth, out),
    }
}

/// Sorted here: whether a map keeps the order of insertion depends on what else is in the binary.
fn write_object(fields: &Map<String, Value>, depth: usize, out: &mut String) {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_unstable_by_key(|(name, _)| *name);
    let each = |(name, value): (&String, &Value), out: &mut String| {
        json::push_string(name, HtmlEscape::Off, out);
        out.push_str(": ");
        write(value, depth + 1, out);
    };
    nested(sorted.into_iter(), depth, ['{', '}'], out, each);
}

fn nested<T>(
    items: impl Iterator<Item = T>,
    depth: usize,
    [open, close]: [char; 2],
    out: &mut String,
    mut each: impl FnMut(T, &mut String),
) {
    out.push(open);
    let mut count = 0;
    for item in items {
        out.push_str(if count > 0 { ",\n" } else { "\n" });
        out.push_str(&" ".repeat(4 * (depth + 1)));
        each(item, out);
        count += 1;
    }
    if count > 0 {
        out.push('\n');
        out.push_str(&" ".repeat(4 * depth));
    }
    out.push(close);
}

fn number(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => json::number(float),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_gos_and_empty_things_take_no_lines() {
        let value =
            serde_json::json!({"b": [1.0, 1e21, 3], "a": {}, "c": [], "d": "p<1\u{2028}\n"});
        assert_eq!(
            indented(&value),
            "{\n    \"a\": {},\n    \"b\": [\n        1,\n        1e+21,\n        3\n    ],\n    \"c\": [],\n    \"d\": \"p<1\\u2028\\n\"\n}"
        );
    }
}
