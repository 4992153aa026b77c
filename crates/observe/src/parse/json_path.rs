//! Numbers in JSON.
//!
//! Must not know where the JSON comes from. Invariant: anything but a number gives `None`, never a zero.

pub use loadline_model::JsonPath;
use serde_json::Value;

use super::finite;

/// The number in a value: a number, a string with a number, or true and false as one and zero.
#[must_use]
pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64().filter(|number| number.is_finite()),
        Value::String(text) => finite(text),
        Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_are_numbers() {
        for (value, known) in [
            (json!(3.5), Some(3.5)),
            (json!(-7), Some(-7.0)),
            (json!("1.5"), Some(1.5)),
            (json!("many"), None),
            (json!("inf"), None),
            (json!(true), Some(1.0)),
            (json!(null), None),
            (json!([1]), None),
        ] {
            assert_eq!(number(&value), known, "{value}");
        }
    }
}
