//! The conditions of a script's `thresholds`: k6's grammar, and what loadline adds to it.
//!
//! What k6 2.2 accepts has the same meaning here. What k6 refuses is refused with k6's words, except a
//! condition with a window (`p(95)[1m]<500`) or a bound with a unit (`p(95)<1s`, `rate<1%`). The short forms of
//! the other commands (`p95`, `goodput`) are refused: a script that is accepted here also runs under k6, or
//! uses what the documentation lists as added. Must not know metrics.

use super::parse::{self, Cursor};
use super::{Aggregation, Bound, Operator, Threshold};
use loadline_go::float;
use std::fmt;
use std::time::Duration;

/// In k6's search order: the first operator that is followed by text splits the condition.
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
    /// No operator, or nothing after it.
    Malformed,
    /// The text before the operator is not an aggregation.
    NoAggregation,
    /// The text in the parentheses of `p(…)` is not a number; Go's words.
    Percentile(String),
    /// The percentile is not in 0..=100.
    PercentileRange,
    /// The text after the operator is not a number; Go's words.
    Bound(String),
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

/// Splits off the window: the text before `[1m]`, and the window. The whole text if no window can be read.
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
        // Without a number, k6 uses the 0th percentile.
        "p" => Aggregation::Percentile(0.0),
        _ => {
            let number = left
                .strip_prefix("p(")
                .and_then(|rest| rest.strip_suffix(')'))
                .ok_or(ConditionProblem::NoAggregation)?;
            let percentile = float::parse_float(number).map_err(ConditionProblem::Percentile)?;
            if !(0.0..=100.0).contains(&percentile) {
                return Err(ConditionProblem::PercentileRange);
            }
            Aggregation::Percentile(percentile)
        }
    })
}

fn bound(right: &str) -> Result<Bound, String> {
    let refused = match float::parse_float(right) {
        Ok(number) => return Ok(Bound::Number(number)),
        Err(refused) => refused,
    };
    let mut cursor = Cursor::new(right);
    match parse::bound(&mut cursor) {
        Ok(bound @ (Bound::Percent(_) | Bound::Time(..))) if cursor.rest().is_empty() => Ok(bound),
        _ => Err(refused),
    }
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
