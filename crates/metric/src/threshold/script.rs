//! The conditions of a script's `thresholds`: k6's grammar, and what loadline adds to it.
//!
//! What k6 2.2 reads means what it means there; a text that it refuses is refused with its words, unless it is a
//! condition with a window (`p(95)[1m]<500`) or a bound with a unit (`p(95)<1s`, `rate<1%`). Short forms of the other
//! commands (`p95`, `goodput`) are refused: a script that is accepted here runs under k6 as well, or uses what the
//! documentation names as added. Must not know metrics.

use super::parse::{self, Cursor};
use super::{Aggregation, Bound, Operator, Threshold};
use std::fmt;
use std::time::Duration;

/// In the order in which k6 looks for them: the first one with something behind it divides the text.
const OPERATORS: [(&str, Operator); 7] = [
    ("<=", Operator::AtMost),
    ("<", Operator::Less),
    (">=", Operator::AtLeast),
    (">", Operator::Greater),
    ("===", Operator::Equal),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
];

/// Why a script's condition cannot be read. Shown in k6's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// The whole condition.
    pub text: String,
    /// What is wrong with it.
    pub problem: ConditionProblem,
}

/// What is wrong with a script's condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionProblem {
    /// No operator, or nothing behind it.
    Malformed,
    /// What stands before the operator is no aggregation.
    NoAggregation,
    /// What stands between the brackets of `p(…)` is no number.
    Percentile(NumberError),
    /// The percentile is not in 0..=100.
    PercentileRange,
    /// What stands behind the operator is no number.
    Bound(NumberError),
}

/// A text that Go's `strconv.ParseFloat` refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberError {
    /// The text.
    pub text: String,
    /// Whether it is a number, but one beyond the range of a float.
    pub is_out_of_range: bool,
}

impl fmt::Display for NumberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.is_out_of_range {
            true => "value out of range",
            false => "invalid syntax",
        };
        write!(f, "strconv.ParseFloat: parsing {:?}: {why}", self.text)
    }
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        let left = |f: &mut fmt::Formatter<'_>| {
            write!(
                f,
                "failed parsing threshold expression's {text:?} left hand side; reason: "
            )
        };
        match &self.problem {
            ConditionProblem::Malformed => write!(
                f,
                "failed parsing threshold expression {text:?}; reason: malformed threshold expression"
            ),
            ConditionProblem::NoAggregation => {
                left(f)?;
                f.write_str("failed parsing method from expression")
            }
            ConditionProblem::Percentile(error) => {
                left(f)?;
                write!(f, "malformed percentile value; reason: {error}")
            }
            ConditionProblem::PercentileRange => {
                left(f)?;
                f.write_str("malformed percentile value, provide a number between 0 and 100")
            }
            // k6 spells it so.
            ConditionProblem::Bound(error) => write!(
                f,
                "failed parsing threshold expresion's {text:?} right hand side; reason: {error}"
            ),
        }
    }
}

impl std::error::Error for ConditionError {}

impl Threshold {
    /// Reads a condition of a script's `thresholds`; it names no metric.
    ///
    /// # Errors
    /// [`ConditionError`] with k6's words.
    pub fn parse_script(text: &str) -> Result<Threshold, ConditionError> {
        let wrong = |problem| ConditionError {
            text: text.to_owned(),
            problem,
        };
        let (left, operator, right) =
            divided(text).ok_or_else(|| wrong(ConditionProblem::Malformed))?;
        let (left, window) = without_window(left);
        Ok(Threshold {
            source: text.into(),
            metric: None,
            aggregation: aggregation(left).map_err(wrong)?,
            window,
            operator,
            bound: bound(right).map_err(|error| wrong(ConditionProblem::Bound(error)))?,
        })
    }
}

fn divided(text: &str) -> Option<(&str, Operator, &str)> {
    OPERATORS.into_iter().find_map(|(sign, operator)| {
        let (left, right) = text.split_once(sign)?;
        (!right.is_empty()).then(|| (left.trim(), operator, right.trim()))
    })
}

/// What stands before `[1m]`, and the window; the whole text where no window can be read.
fn without_window(left: &str) -> (&str, Option<Duration>) {
    let read = || {
        let (before, _) = left.split_once('[')?;
        let mut cursor = Cursor::new(&left[before.len()..]);
        let window = parse::window(&mut cursor).ok()??;
        cursor.rest().is_empty().then_some((before, Some(window)))
    };
    read().unwrap_or((left, None))
}

fn aggregation(left: &str) -> Result<Aggregation, ConditionProblem> {
    Ok(match left {
        "value" => Aggregation::Value,
        "count" => Aggregation::Count,
        "rate" => Aggregation::Rate,
        "avg" => Aggregation::Avg,
        "min" => Aggregation::Min,
        "med" => Aggregation::Med,
        "max" => Aggregation::Max,
        // Without a number k6 takes the 0th.
        "p" => Aggregation::Percentile(0.0),
        _ => {
            let number = left
                .strip_prefix("p(")
                .and_then(|rest| rest.strip_suffix(')'))
                .ok_or(ConditionProblem::NoAggregation)?;
            let percentile = go_float(number).map_err(ConditionProblem::Percentile)?;
            if !(0.0..=100.0).contains(&percentile) {
                return Err(ConditionProblem::PercentileRange);
            }
            Aggregation::Percentile(percentile)
        }
    })
}

fn bound(right: &str) -> Result<Bound, NumberError> {
    let refused = match go_float(right) {
        Ok(number) => return Ok(Bound::Number(number)),
        Err(refused) => refused,
    };
    let mut cursor = Cursor::new(right);
    match parse::bound(&mut cursor) {
        Ok(bound @ (Bound::Percent(_) | Bound::Time(..))) if cursor.rest().is_empty() => Ok(bound),
        _ => Err(refused),
    }
}

/// A number as Go's `strconv.ParseFloat` reads it: decimal, or hexadecimal with a binary exponent, `_` between
/// digits, and the names of what is infinite or no number.
fn go_float(text: &str) -> Result<f64, NumberError> {
    let refused = |is_out_of_range| NumberError {
        text: text.to_owned(),
        is_out_of_range,
    };
    let (sign, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (-1.0, &text[1..]),
        Some(b'+') => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    if ["inf", "infinity"].contains(&unsigned.to_ascii_lowercase().as_str()) {
        return Ok(sign * f64::INFINITY);
    }
    if text.eq_ignore_ascii_case("nan") {
        return Ok(f64::NAN);
    }
    let digits = without_underscores(unsigned).ok_or_else(|| refused(false))?;
    let value = match digits.get(..2) {
        Some("0x" | "0X") => hexadecimal(&digits[2..]),
        _ => decimal(&digits),
    };
    match value {
        Some(value) if value.is_finite() => Ok(sign * value),
        Some(_) => Err(refused(true)),
        None => Err(refused(false)),
    }
}

/// `None`: an underscore does not stand between two digits.
fn without_underscores(text: &str) -> Option<String> {
    let is_digit =
        |at: Option<char>| at.is_some_and(|c| c.is_ascii_hexdigit() || c == 'x' || c == 'X');
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if character == '_' && !(is_digit(before) && is_digit(rest.peek().copied())) {
            return None;
        }
        before = Some(character);
    }
    Some(text.replace('_', ""))
}

fn decimal(text: &str) -> Option<f64> {
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    let is_signed = text.starts_with(['-', '+']);
    if is_signed || !text.chars().all(plain) {
        return None;
    }
    text.parse().ok()
}

/// What stands behind `0x`: digits with a point, and `p` with a power of two.
fn hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let places = i32::try_from(fraction.len()).ok()?.checked_mul(4)?;
    Some(value * 2f64.powi(exponent.checked_sub(places)?))
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
