//! How values print without a format: Go's `fmt.Sprint`, `fmt.Sprintln` and the default of actions.
//!
//! Must not know verbs. Invariant: every value prints.

use super::printf;
use super::value::Value;

/// What an action writes for a value.
pub(crate) fn printed(value: &Value) -> String {
    match value {
        Value::Missing => "<no value>".to_owned(),
        Value::Text(text) => text.to_string(),
        other => printf::default_format(other),
    }
}

/// Operands side by side, with a space between two that are not text.
pub(super) fn sprint(values: &[Value]) -> String {
    let mut out = String::new();
    let mut text_before = true;
    for value in values {
        let is_text = matches!(value, Value::Text(_));
        if !is_text && !text_before {
            out.push(' ');
        }
        text_before = is_text;
        out.push_str(&printf::default_format(value));
    }
    out
}

/// Operands with a space between each two, and a line end.
pub(super) fn sprintln(values: &[Value]) -> String {
    let parts: Vec<String> = values.iter().map(printf::default_format).collect();
    format!("{}\n", parts.join(" "))
}
