//! JSON with keys in a given order, written as by Go's `encoding/json`.
//!
//! Source: the documentation of that package (HTML characters escaped). Must not know options. Invariant: the
//! output is valid JSON.

use std::fmt::Write as _;

use loadline_go::json::{self, HtmlEscape, push_string};
use serde_json::Value;

/// A JSON value whose objects keep their order.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object; its keys are written in this order.
    Object(Vec<(String, Json)>),
    /// A number in its written form.
    Number(String),
}

impl Json {
    /// A string.
    pub fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    /// A value that is only passed on; keys are sorted, as Go does with a map.
    #[must_use]
    pub fn from_value(value: &Value) -> Json {
        ordered(value)
    }

    /// On one line, without white space.
    #[must_use]
    pub fn compact(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, None);
        out
    }

    /// Indented by two spaces, without a final line end.
    #[must_use]
    pub fn pretty(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, Some(0));
        out
    }

    fn write(&self, out: &mut String, depth: Option<usize>) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Int(value) => {
                write!(out, "{value}").expect("writing to a string cannot fail");
            }
            Json::Text(text) => push_string(text, HtmlEscape::On, out),
            Json::List(items) => write_all(out, depth, ['[', ']'], items, |item, out, depth| {
                item.write(out, depth);
            }),
            Json::Object(rows) => {
                write_all(out, depth, ['{', '}'], rows, |(name, value), out, depth| {
                    push_string(name, HtmlEscape::On, out);
                    out.push_str(if depth.is_some() { ": " } else { ":" });
                    value.write(out, depth);
                });
            }
            Json::Number(digits) => out.push_str(digits),
        }
    }
}

fn ordered(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::String(text) => Json::text(text),
        Value::Array(items) => Json::List(items.iter().map(ordered).collect()),
        Value::Object(rows) => {
            let rows = rows.iter();
            let mut rows: Vec<_> = rows
                .map(|(name, value)| (name.clone(), ordered(value)))
                .collect();
            rows.sort_by(|a, b| a.0.cmp(&b.0));
            Json::Object(rows)
        }
        Value::Number(number) => Json::Number(match number.as_f64() {
            Some(float) if number.is_f64() => json::number(float),
            _ => number.to_string(),
        }),
    }
}

fn write_all<T>(
    out: &mut String,
    depth: Option<usize>,
    [open, close]: [char; 2],
    items: &[T],
    write_one: impl Fn(&T, &mut String, Option<usize>),
) {
    out.push(open);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        if let Some(depth) = depth {
            break_line(out, depth + 1);
        }
        write_one(item, out, depth.map(|depth| depth + 1));
    }
    if let (Some(depth), false) = (depth, items.is_empty()) {
        break_line(out, depth);
    }
    out.push(close);
}

fn break_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn as_go_writes_it() {
        let value = Json::Object(vec![
            ("b".to_owned(), Json::List(vec![Json::Int(1), Json::Null])),
            ("a".to_owned(), Json::text("x<1 & \"y\"\n")),
            ("e".to_owned(), Json::Object(Vec::new())),
            (
                "o".to_owned(),
                Json::from_value(&serde_json::json!({"z": [1.5, 3.0, 1e21], "k": [true]})),
            ),
        ]);
        assert_eq!(
            value.compact(),
            r#"{"b":[1,null],"a":"x\u003c1 \u0026 \"y\"\n","e":{},"o":{"k":[true],"z":[1.5,3,1e+21]}}"#
        );
        assert_eq!(
            Json::Object(vec![("a".to_owned(), Json::List(vec![Json::Int(1)]))]).pretty(),
            "{\n  \"a\": [\n    1\n  ]\n}"
        );
    }

    proptest! {
        #[test]
        fn every_text_comes_back(text: String) {
            let written = Json::text(text.clone()).compact();
            let back: String = serde_json::from_str(&written).expect("valid JSON");
            prop_assert_eq!(back, text);
        }
    }
}
