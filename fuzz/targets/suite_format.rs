//! Any text as the format of a document's cell.
//!
//! Invariant checked: a format that suits a kind writes any amount of it, the same each time, and says
//! that a cell without values has none; a refusal points into the text, or right behind it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_suite::expression::{Dimension, Value, ValueKind};
use loadline_suite::format::{Blank, Format, ListStyle};

const DIMENSIONS: [Dimension; 6] = [
    Dimension::NUMBER,
    Dimension::TIME,
    Dimension::BYTES,
    Dimension::RATE,
    Dimension::BYTE_RATE,
    Dimension::CORES,
];
const AMOUNTS: [f64; 8] = [
    0.0, -0.004, 0.000_95, 0.999_6, 59.7, -13_177.4, 6.8e9, 1e300,
];

fuzz_target!(|text: &str| match text.parse::<Format>() {
    Ok(format) => {
        for dimension in DIMENSIONS {
            if format.check(&[ValueKind::Number(Some(dimension))]).is_ok() {
                for amount in AMOUNTS {
                    written(&format, &Value::number(amount, dimension));
                }
            }
        }
    }
    Err(error) => {
        assert!((1..=text.chars().count() + 1).contains(&error.column));
        assert!(!error.what.is_empty());
    }
});

fn written(format: &Format, value: &Value<'_>) {
    let list = ListStyle::default();
    let write = |value: &Value<'_>, blank: &Blank| {
        let mut out = String::new();
        let is_filled = format.write(std::slice::from_ref(value), blank, &list, &mut out);
        (is_filled, out)
    };
    let first = write(value, &Blank::Unit);
    assert_eq!(first, write(value, &Blank::Unit));
    assert_eq!(first.0, !value.is_missing());
    assert_eq!(
        write(&Value::Missing, &Blank::Empty),
        (false, String::new())
    );
}
