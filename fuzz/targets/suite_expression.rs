//! Any text as the expression of a document's column.
//!
//! Invariant checked: what is read is written so that it reads the same (or is refused for its length or depth alone,
//! since brackets are added); what it comes to is of the kind that was known beforehand; a refusal points into the
//! text, or right behind it, and says what is wrong.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_suite::expression::{Dimension, Expression, Path, Scope, Value, ValueKind, evaluate};

/// Says something of every path: what its kind promises.
struct Facts<'a>(&'a [Path]);

impl Scope for Facts<'_> {
    fn value(&self, path: usize) -> Value<'_> {
        let number =
            |dimension: Option<Dimension>| Value::number(2.5, dimension.unwrap_or_default());
        match self.0[path].kind() {
            ValueKind::Number(dimension) | ValueKind::List(dimension) => number(dimension),
            ValueKind::Text | ValueKind::Any => Value::Text("1m30s".into()),
            ValueKind::Truth => Value::Truth(true),
        }
    }

    fn other(&self, _row: usize, path: usize) -> Value<'_> {
        self.value(path)
    }
}

fuzz_target!(|text: &str| match text.parse::<Expression>() {
    Ok(read) => {
        let written = read.to_string();
        match written.parse::<Expression>() {
            Ok(again) => assert_eq!(again, read, "{written}"),
            Err(error) => {
                let refused = error.what.contains("nested") || error.what.contains("at most");
                assert!(refused, "{written}: {error}");
            }
        }
        let found = evaluate(&read, &Facts(read.paths())).into_owned();
        if let (Value::Number(quantity), Some(known)) = (&found, read.kind().dimension()) {
            assert!(quantity.amount.is_finite());
            assert_eq!(quantity.dimension, known, "{written}");
        }
    }
    Err(error) => {
        assert!((1..=text.chars().count() + 1).contains(&error.column));
        assert!(!error.what.is_empty());
    }
});
