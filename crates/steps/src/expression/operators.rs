//! Operators on values, for each language.
//!
//! Must not know variables. Invariant: an operation that throws in a language is an error, never a value.

use std::cmp::Ordering;

use loadline_java::numbers;
use regex::Regex;

use super::Dialect;
use super::decimal::Decimal;
use super::value::{Outcome, Value, thrown};

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    ExclusiveOr,
    And,
    Equal,
    Unequal,
    /// `=~`: whether the whole text matches, or the list contains it.
    Matches,
    MatchesNot,
    Begins,
    BeginsNot,
    Ends,
    EndsNot,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Plus,
    Minus,
    Times,
    Over,
    Remainder,
}

/// Names of types for conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeName {
    Int,
    Long,
    Double,
    Decimal,
}

impl Operator {
    /// The highest precedence level, which binds most tightly.
    pub(super) const LEVELS: usize = 6;

    /// The operator for a sign, and its level.
    pub(super) fn by_sign(sign: &str, dialect: Dialect) -> Option<(Operator, usize)> {
        let jexl3 = dialect == Dialect::Jexl3;
        Some(match sign {
            "|" => (Operator::Or, 0),
            "^" => (Operator::ExclusiveOr, 1),
            "&" => (Operator::And, 2),
            "==" => (Operator::Equal, 3),
            "!=" => (Operator::Unequal, 3),
            "=~" => (Operator::Matches, 3),
            "!~" => (Operator::MatchesNot, 3),
            "=^" if jexl3 => (Operator::Begins, 3),
            "!^" if jexl3 => (Operator::BeginsNot, 3),
            "=$" if jexl3 => (Operator::Ends, 3),
            "!$" if jexl3 => (Operator::EndsNot, 3),
            "<" => (Operator::Less, 4),
            "<=" => (Operator::AtMost, 4),
            ">" => (Operator::Greater, 4),
            ">=" => (Operator::AtLeast, 4),
            "+" => (Operator::Plus, 5),
            "-" => (Operator::Minus, 5),
            "*" => (Operator::Times, 6),
            "/" => (Operator::Over, 6),
            "%" => (Operator::Remainder, 6),
            _ => return None,
        })
    }

    /// The operator for a word, and its level.
    pub(super) fn by_word(word: &str) -> Option<(Operator, usize)> {
        Some(match word {
            "eq" => (Operator::Equal, 3),
            "ne" => (Operator::Unequal, 3),
            "lt" => (Operator::Less, 4),
            "le" => (Operator::AtMost, 4),
            "gt" => (Operator::Greater, 4),
            "ge" => (Operator::AtLeast, 4),
            "div" => (Operator::Over, 6),
            "mod" => (Operator::Remainder, 6),
            _ => return None,
        })
    }
}

/// The result of an operation.
pub(super) fn apply(operator: Operator, left: &Value, right: &Value, dialect: Dialect) -> Outcome {
    let truth = |holds| Ok(Value::Truth(holds));
    let ordered = |fits: fn(Ordering) -> bool| {
        let order = compare(left, right)?;
        truth(order.is_some_and(fits))
    };
    match operator {
        Operator::Equal => truth(equal(left, right)?),
        Operator::Unequal => truth(!equal(left, right)?),
        Operator::Less => ordered(Ordering::is_lt),
        Operator::AtMost => ordered(Ordering::is_le),
        Operator::Greater => ordered(Ordering::is_gt),
        Operator::AtLeast => ordered(Ordering::is_ge),
        Operator::Matches => truth(matches(left, right)?),
        Operator::MatchesNot => truth(!matches(left, right)?),
        Operator::Begins => truth(left.text().starts_with(&right.text())),
        Operator::BeginsNot => truth(!left.text().starts_with(&right.text())),
        Operator::Ends => truth(left.text().ends_with(&right.text())),
        Operator::EndsNot => truth(!left.text().ends_with(&right.text())),
        Operator::Or | Operator::ExclusiveOr | Operator::And => bits(operator, left, right),
        _ => arithmetic(operator, left, right, dialect),
    }
}

/// Whether a list contains a value.
pub(super) fn contains(list: &[Value], value: &Value) -> Result<bool, String> {
    for one in list {
        if equal(one, value)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether two values are equal.
pub(super) fn equal(left: &Value, right: &Value) -> Result<bool, String> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (Value::Truth(_), _) | (_, Value::Truth(_)) => Ok(left.truth()? == right.truth()?),
        (Value::List(left), Value::List(right)) => {
            let pairs = left.iter().zip(right);
            let mut same = left.len() == right.len();
            for (left, right) in pairs {
                same = same && equal(left, right)?;
            }
            Ok(same)
        }
        _ if left.is_plain() && right.is_plain() => {
            let order = compare(left, right)?;
            Ok(order == Some(Ordering::Equal))
        }
        _ => Ok(false),
    }
}

/// The order of two values; `None`: they cannot be ordered.
pub(super) fn compare(left: &Value, right: &Value) -> Result<Option<Ordering>, String> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => Ok(None),
        (Value::Text(left), Value::Text(right)) => {
            Ok(Some(left.encode_utf16().cmp(right.encode_utf16())))
        }
        (Value::Truth(left), Value::Truth(right)) => Ok(left.partial_cmp(right)),
        _ if has_point(left) || has_point(right) => {
            Ok(left.double()?.partial_cmp(&right.double()?))
        }
        _ => Ok(left.long()?.partial_cmp(&right.long()?)),
    }
}

/// Whether it is a floating point or decimal number.
fn has_point(value: &Value) -> bool {
    matches!(value, Value::Double(_) | Value::Decimal(_))
}

fn regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|fault| fault.to_string())
}

fn matches_whole(left: &Value, right: &Value) -> Result<bool, String> {
    let pattern = regex(&format!("^(?:{})$", right.text()))?;
    Ok(*left != Value::Null && pattern.is_match(&left.text()))
}

fn matches(left: &Value, right: &Value) -> Result<bool, String> {
    match right {
        Value::List(list) => contains(list, left),
        _ => matches_whole(left, right),
    }
}

fn bits(operator: Operator, left: &Value, right: &Value) -> Outcome {
    let apply = |left: i64, right: i64| match operator {
        Operator::Or => left | right,
        Operator::And => left & right,
        _ => left ^ right,
    };
    match (left, right) {
        (Value::Truth(left), Value::Truth(right)) => Ok(Value::Truth(
            apply(i64::from(*left), i64::from(*right)) != 0,
        )),
        _ => Ok(Value::whole(apply(left.long()?, right.long()?))),
    }
}

fn doubles(operator: Operator, left: f64, right: f64) -> Outcome {
    Ok(Value::Double(match operator {
        Operator::Plus => left + right,
        Operator::Minus => left - right,
        Operator::Times => left * right,
        Operator::Over => left / right,
        Operator::Remainder => left % right,
        _ => left.powf(right),
    }))
}

fn arithmetic(operator: Operator, left: &Value, right: &Value, dialect: Dialect) -> Outcome {
    if *left == Value::Null || *right == Value::Null {
        return thrown("arithmetic on null");
    }
    let texts = matches!(left, Value::Text(_)) || matches!(right, Value::Text(_));
    if operator == Operator::Plus && texts {
        let joined = || Value::Text(left.text() + &right.text());
        return match dialect {
            Dialect::Jexl2 => {
                Ok(on_numbers(operator, left, right, dialect).unwrap_or_else(|_| joined()))
            }
            _ => Ok(joined()),
        };
    }
    on_numbers(operator, left, right, dialect)
}

fn on_numbers(operator: Operator, left: &Value, right: &Value, dialect: Dialect) -> Outcome {
    let truths = matches!(left, Value::Truth(_)) || matches!(right, Value::Truth(_));
    if truths && dialect == Dialect::Jexl2 {
        return thrown("arithmetic on a truth");
    }
    if left.is_fraction() || right.is_fraction() {
        let (left, right) = (left.double()?, right.double()?);
        return match operator {
            Operator::Over | Operator::Remainder if right == 0.0 => thrown("/ by zero"),
            _ => doubles(operator, left, right),
        };
    }
    let (left, right) = (left.long()?, right.long()?);
    let whole = match operator {
        Operator::Plus => left.checked_add(right),
        Operator::Minus => left.checked_sub(right),
        Operator::Times => left.checked_mul(right),
        Operator::Over => left.checked_div(right),
        // JEXL 2 uses BigInteger's `mod`, which is never negative.
        Operator::Remainder if dialect == Dialect::Jexl2 => left.checked_rem_euclid(right),
        Operator::Remainder => left.checked_rem(right),
        _ => None,
    };
    match whole {
        Some(whole) => Ok(Value::whole(whole)),
        None if right == 0 => thrown("/ by zero"),
        None => thrown("a number beyond 64 bits"),
    }
}

/// Converts a value to another type.
pub(super) fn cast(value: &Value, kind: TypeName) -> Outcome {
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    let parsed =
        |text: &str| numbers::parse_long(text.trim()).ok_or_else(|| numbers::complaint(text));
    match (kind, value) {
        (TypeName::Int, Value::Text(text)) => {
            let whole = parsed(text)?;
            i32::try_from(whole)
                .map(Value::Int)
                .map_err(|_| numbers::complaint(text))
        }
        (TypeName::Long, Value::Text(text)) => Ok(Value::Long(parsed(text)?)),
        (TypeName::Int, _) => {
            let low = value.truncated()? & 0xffff_ffff;
            let low = u32::try_from(low).map_err(|fault| fault.to_string())?;
            Ok(Value::Int(low.cast_signed()))
        }
        (TypeName::Long, _) => Ok(Value::Long(value.truncated()?)),
        (TypeName::Double, Value::Text(text)) => {
            let number = numbers::parse_double(text).ok_or_else(|| numbers::complaint(text))?;
            Ok(Value::Double(number))
        }
        (TypeName::Double, _) => Ok(Value::Double(value.double()?)),
        (TypeName::Decimal, _) => {
            let decimal = Decimal::parse(value.text().trim());
            decimal
                .map(Value::Decimal)
                .ok_or_else(|| numbers::complaint(&value.text()))
        }
    }
}
