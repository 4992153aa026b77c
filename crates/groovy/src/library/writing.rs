//! `DecimalFormat` and `StringJoiner`: numbers formatted with a pattern, texts joined by separators.
//!
//! Must not know the caller. Invariant: a pattern that Java refuses is refused.
// tidy: table

use std::cell::{Cell, RefCell};

use loadline_java::decimal_format::DecimalFormat;

use super::super::decimal::{Decimal, Rounding};
use super::super::number;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Object, Outcome, Value};
use super::numbers::rounding;
use super::{Class, text_of};

/// `java.text.DecimalFormat`.
struct Pattern {
    format: DecimalFormat,
    how: Cell<Rounding>,
}

fn pattern(text: &str) -> Outcome {
    let format = DecimalFormat::new(text)
        .ok_or_else(|| Thrown::argument(format!("Malformed pattern \"{text}\"")))?;
    let how = Cell::new(Rounding::HalfEven);
    Ok(Value::object(Pattern { format, how }))
}

/// A number with all its digits.
fn exactly(value: &Value) -> Option<Decimal> {
    match value {
        Value::Double(number) => Decimal::exactly(*number),
        Value::Float(number) => Decimal::exactly(f64::from(*number)),
        other => number::decimal_of(other),
    }
}

fn written(this: &Value, value: &Value) -> Outcome {
    let Some(pattern) = this.of::<Pattern>() else {
        return Ok(Value::Null);
    };
    let number = exactly(value)
        .filter(|_| value.is_number())
        .ok_or_else(|| Thrown::argument("Cannot format given Object as a Number"))?;
    let factor = Decimal::whole(pattern.format.multiplier());
    let number = number.times(&factor).unwrap_or(number);
    let counted = |digits: usize| i32::try_from(digits).unwrap_or(i32::MAX);
    let places = match pattern.format.significant_most() {
        None => counted(pattern.format.fraction_most()),
        Some(digits) => counted(digits).saturating_sub(power_of(&number)),
    };
    // A number rounded to zero keeps its sign.
    let is_negative = number.compare(&Decimal::whole(0)).is_lt();
    let plain = number.rounded(places, pattern.how.get()).plain();
    let plain = plain.trim_start_matches('-');
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let text = pattern.format.format_digits(is_negative, whole, fraction);
    Ok(Value::text(text))
}

/// The power of ten that a number is below: 3 for 123, -1 for 0.0123.
fn power_of(number: &Decimal) -> i32 {
    let plain = number.plain();
    let plain = plain.trim_start_matches('-');
    let (whole, fraction) = plain.split_once('.').unwrap_or((plain, ""));
    let whole = whole.trim_start_matches('0');
    let power = match whole.is_empty() {
        true => fraction.trim_start_matches('0').len() as i64 - fraction.len() as i64,
        false => whole.len() as i64,
    };
    i32::try_from(power).unwrap_or(0)
}

pub(super) static PATTERN: Table = Table::new(&[
    row("format", 1, 1, |_, this, given| written(this, &given[0])),
    row("setRoundingMode", 1, 1, |_, this, given| {
        if let Some(pattern) = this.of::<Pattern>() {
            pattern.how.set(rounding(given.first()));
        }
        Ok(Value::Null)
    }),
]);

impl Object for Pattern {
    fn class(&self) -> &'static str {
        "java.text.DecimalFormat"
    }

    fn methods(&self) -> &'static Table {
        &PATTERN
    }
}

/// `java.util.StringJoiner`.
struct Joiner {
    between: String,
    before: String,
    behind: String,
    texts: RefCell<Vec<String>>,
}

fn joined(this: &Value) -> String {
    this.of::<Joiner>().map_or_else(String::new, Object::text)
}

pub(super) static JOINER: Table = Table::new(&[
    row("add", 1, 1, |machine, this, given| {
        let text = text_of(given, 0);
        machine.take(text.len())?;
        if let Some(joiner) = this.of::<Joiner>() {
            joiner.texts.borrow_mut().push(text);
        }
        Ok(this.clone())
    }),
    row("length", 0, 0, |_, this, _| {
        Ok(Value::count(joined(this).encode_utf16().count()))
    }),
]);

impl Object for Joiner {
    fn class(&self) -> &'static str {
        "java.util.StringJoiner"
    }

    fn methods(&self) -> &'static Table {
        &JOINER
    }

    fn text(&self) -> String {
        let texts = self.texts.borrow().join(&self.between);
        format!("{}{texts}{}", self.before, self.behind)
    }
}

static PATTERNS: Table = Table::new(&[row("new", 0, 1, |_, _, given| pattern(&text_of(given, 0)))]);
static JOINERS: Table = Table::new(&[
    row("new", 1, 1, |_, _, given| Ok(joiner(given))),
    row("new", 3, 3, |_, _, given| Ok(joiner(given))),
]);

fn joiner(given: &[Value]) -> Value {
    Value::object(Joiner {
        between: text_of(given, 0),
        before: text_of(given, 1),
        behind: text_of(given, 2),
        texts: RefCell::default(),
    })
}

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.text.DecimalFormat",
        statics: &PATTERNS,
    },
    Class {
        name: "java.util.StringJoiner",
        statics: &JOINERS,
    },
];
