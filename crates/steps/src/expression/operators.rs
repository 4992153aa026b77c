//! What operators make of values, by language.
//!
//! Must not know variables. Invariant: what a language throws at is an error, never a value.

use std::cmp::Ordering;

use loadline_java::numbers;
use regex::Regex;

use super::Dialect;
use super::decimal::Decimal;
use super::value::{Outcome, Value, thrown};

/// What stands between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    ExclusiveOr,
    And,
    Equal,
    Unequal,
    /// -1, 0 or 1.
    Order,
    /// `=~`: in JEXL whether the whole text matches or the list holds it, in Groovy whether a part of it matches.
    Matches,
    MatchesNot,
    /// `==~`
    MatchesWhole,
    Begins,
    BeginsNot,
    Ends,
    EndsNot,
    Less,
    AtMost,
    Greater,
    AtLeast,
    In,
    Plus,
    Minus,
    Times,
    Over,
    Remainder,
    Power,
}

/// The names of types that values are converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeName {
    Int,
    Long,
    Double,
    Decimal,
    Truth,
    Text,
}

impl TypeName {
    pub(super) fn named(name: &str) -> Option<TypeName> {
        Some(match name {
            "int" | "Integer" => TypeName::Int,
            "long" | "Long" => TypeName::Long,
            "double" | "Double" | "float" | "Float" => TypeName::Double,
            "BigDecimal" => TypeName::Decimal,
            "boolean" | "Boolean" => TypeName::Truth,
            "String" => TypeName::Text,
            _ => return None,
        })
    }
}

impl Operator {
    /// The level of comparisons, among which Groovy's `as` is.
    pub(super) const COMPARING: usize = 4;
    /// The level that binds most.
    pub(super) const LEVELS: usize = 7;

    /// The operator of a sign, and its level.
    pub(super) fn by_sign(sign: &str, dialect: Dialect) -> Option<(Operator, usize)> {
        let groovy = dialect == Dialect::Groovy;
        let jexl3 = dialect == Dialect::Jexl3;
        Some(match sign {
            "|" => (Operator::Or, 0),
            "^" => (Operator::ExclusiveOr, 1),
            "&" => (Operator::And, 2),
            "==" => (Operator::Equal, 3),
            "!=" => (Operator::Unequal, 3),
            "<=>" if groovy => (Operator::Order, 3),
            "=~" => (Operator::Matches, 3),
            "!~" if !groovy => (Operator::MatchesNot, 3),
            "==~" if groovy => (Operator::MatchesWhole, 3),
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
            "**" if groovy => (Operator::Power, 7),
            _ => return None,
        })
    }

    /// The operator of a word, and its level.
    pub(super) fn by_word(word: &str, dialect: Dialect) -> Option<(Operator, usize)> {
        if dialect == Dialect::Groovy {
            return (word == "in").then_some((Operator::In, 4));
        }
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

/// What two operands come to.
pub(super) fn apply(operator: Operator, left: &Value, right: &Value, dialect: Dialect) -> Outcome {
    let truth = |holds| Ok(Value::Truth(holds));
    let ordered = |fits: fn(Ordering) -> bool| {
        let order = compare(left, right, dialect)?;
        truth(order.is_some_and(fits))
    };
    match operator {
        Operator::Equal => truth(equal(left, right, dialect)?),
        Operator::Unequal => truth(!equal(left, right, dialect)?),
        Operator::Less => ordered(Ordering::is_lt),
        Operator::AtMost => ordered(Ordering::is_le),
        Operator::Greater => ordered(Ordering::is_gt),
        Operator::AtLeast => ordered(Ordering::is_ge),
        Operator::Order => {
            let order = compare(left, right, dialect)?.map_or(0, |order| order as i32);
            Ok(Value::Int(order))
        }
        Operator::In => truth(matches!(right, Value::List(list) if contains(list, left, dialect)?)),
        Operator::Matches if dialect == Dialect::Groovy => matched(left, right),
        Operator::MatchesWhole => truth(matches_whole(left, right)?),
        Operator::Matches => truth(jexl_matches(left, right, dialect)?),
        Operator::MatchesNot => truth(!jexl_matches(left, right, dialect)?),
        Operator::Begins => truth(left.text().starts_with(&right.text())),
        Operator::BeginsNot => truth(!left.text().starts_with(&right.text())),
        Operator::Ends => truth(left.text().ends_with(&right.text())),
        Operator::EndsNot => truth(!left.text().ends_with(&right.text())),
        Operator::Or | Operator::ExclusiveOr | Operator::And => bits(operator, left, right),
        _ if dialect == Dialect::Groovy => groovy_arithmetic(operator, left, right),
        _ => jexl_arithmetic(operator, left, right, dialect),
    }
}

/// Whether a list holds a value.
pub(super) fn contains(list: &[Value], value: &Value, dialect: Dialect) -> Result<bool, String> {
    for one in list {
        if equal(one, value, dialect)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether two values are equal.
pub(super) fn equal(left: &Value, right: &Value, dialect: Dialect) -> Result<bool, String> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (Value::Truth(_), _) | (_, Value::Truth(_)) if dialect != Dialect::Groovy => {
            Ok(left.truth(dialect)? == right.truth(dialect)?)
        }
        (Value::Truth(left), Value::Truth(right)) => Ok(left == right),
        (Value::List(left), Value::List(right)) => {
            let pairs = left.iter().zip(right);
            let mut same = left.len() == right.len();
            for (left, right) in pairs {
                same = same && equal(left, right, dialect)?;
            }
            Ok(same)
        }
        // Groovy takes a number, a text and a truth for different, whatever they say.
        (Value::Truth(_), _) | (_, Value::Truth(_)) => Ok(false),
        _ if dialect == Dialect::Groovy && left.is_number() != right.is_number() => {
            Ok(code_points(left, right) == Some(Ordering::Equal))
        }
        _ if left.is_plain() && right.is_plain() => {
            let order = compare(left, right, dialect)?;
            Ok(order == Some(Ordering::Equal))
        }
        _ => Ok(false),
    }
}

/// How two values are ordered; `None`: neither way.
pub(super) fn compare(
    left: &Value,
    right: &Value,
    dialect: Dialect,
) -> Result<Option<Ordering>, String> {
    let groovy = dialect == Dialect::Groovy;
    match (left, right) {
        // Groovy's null is less than anything; JEXL's is in no order.
        (Value::Null, _) | (_, Value::Null) if groovy => {
            Ok((*left != Value::Null).partial_cmp(&(*right != Value::Null)))
        }
        (Value::Null, _) | (_, Value::Null) => Ok(None),
        (Value::Text(left), Value::Text(right)) => {
            Ok(Some(left.encode_utf16().cmp(right.encode_utf16())))
        }
        (Value::Truth(left), Value::Truth(right)) => Ok(left.partial_cmp(right)),
        _ if groovy && left.is_number() && right.is_number() => {
            Ok(match (left.decimal(), right.decimal()) {
                (Some(left), Some(right)) => left.partial_cmp(&right),
                _ => left.double()?.partial_cmp(&right.double()?),
            })
        }
        _ if groovy => match code_points(left, right) {
            None => thrown("values of different types are compared"),
            order => Ok(order),
        },
        _ if matches!(left, Value::Double(_)) || matches!(right, Value::Double(_)) => {
            Ok(left.double()?.partial_cmp(&right.double()?))
        }
        _ => Ok(left.long()?.partial_cmp(&right.long()?)),
    }
}

/// How Groovy orders a number and a text of one character, by the character's code; `None`: they are none of these.
fn code_points(left: &Value, right: &Value) -> Option<Ordering> {
    let code = |text: &str| {
        let mut units = text.encode_utf16();
        let code = units.next().filter(|_| units.next().is_none())?;
        Some(f64::from(code))
    };
    match (left, right) {
        (Value::Text(text), number) if number.is_number() => {
            code(text)?.partial_cmp(&number.double().ok()?)
        }
        (number, Value::Text(text)) if number.is_number() => {
            number.double().ok()?.partial_cmp(&code(text)?)
        }
        _ => None,
    }
}

fn regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|fault| fault.to_string())
}

fn matches_whole(left: &Value, right: &Value) -> Result<bool, String> {
    let pattern = regex(&format!("^(?:{})$", right.text()))?;
    Ok(*left != Value::Null && pattern.is_match(&left.text()))
}

/// What Groovy's `=~` gives: a matcher, which is a truth where a part matches.
fn matched(left: &Value, right: &Value) -> Outcome {
    let pattern = regex(&right.text())?;
    Ok(Value::Match {
        found: pattern.is_match(&left.text()),
        whole: matches_whole(left, right)?,
    })
}

fn jexl_matches(left: &Value, right: &Value, dialect: Dialect) -> Result<bool, String> {
    match right {
        Value::List(list) => contains(list, left, dialect),
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

fn groovy_arithmetic(operator: Operator, left: &Value, right: &Value) -> Outcome {
    match (operator, left, right) {
        (Operator::Plus, Value::Truth(_), _) => thrown("a truth is added to"),
        (Operator::Plus, Value::Text(_), _) | (Operator::Plus, _, Value::Text(_)) => {
            Ok(Value::Text(left.text() + &right.text()))
        }
        (Operator::Minus, Value::Text(left), _) => {
            Ok(Value::Text(left.replacen(&right.text(), "", 1)))
        }
        (Operator::Times, Value::Text(text), _) if right.is_number() => {
            let count = usize::try_from(right.long()?).map_err(|fault| fault.to_string())?;
            match text.len().saturating_mul(count) <= super::LONGEST {
                true => Ok(Value::Text(text.repeat(count))),
                false => thrown("a text of this length"),
            }
        }
        (_, Value::Int(left), Value::Int(right)) => {
            let (wide_left, wide_right) = (i64::from(*left), i64::from(*right));
            match operator {
                Operator::Plus => Ok(Value::Int(left.wrapping_add(*right))),
                Operator::Minus => Ok(Value::Int(left.wrapping_sub(*right))),
                Operator::Times => Ok(Value::Int(left.wrapping_mul(*right))),
                _ => groovy_whole(operator, wide_left, wide_right, true),
            }
        }
        (_, Value::Int(_) | Value::Long(_), Value::Int(_) | Value::Long(_)) => {
            groovy_whole(operator, left.long()?, right.long()?, false)
        }
        _ if !left.is_number() || !right.is_number() => {
            thrown("arithmetic on what is not a number")
        }
        _ => match (left.decimal(), right.decimal()) {
            (Some(left), Some(right)) if operator != Operator::Power => {
                decimal_arithmetic(operator, left, right)
            }
            _ => doubles(operator, left.double()?, right.double()?),
        },
    }
}

fn groovy_whole(operator: Operator, left: i64, right: i64, narrow: bool) -> Outcome {
    let whole = match operator {
        Operator::Plus => left.wrapping_add(right),
        Operator::Minus => left.wrapping_sub(right),
        Operator::Times => left.wrapping_mul(right),
        Operator::Remainder => left.checked_rem(right).ok_or("Division by zero")?,
        Operator::Over => return decimal_arithmetic(operator, left.into(), right.into()),
        Operator::Power => match u32::try_from(right)
            .ok()
            .and_then(|power| left.checked_pow(power))
        {
            Some(power) => return Ok(Value::whole(power)),
            None => return doubles(operator, left as f64, right as f64),
        },
        _ => return thrown("an operator of no numbers"),
    };
    Ok(match i32::try_from(whole) {
        Ok(whole) if narrow => Value::Int(whole),
        _ => Value::Long(whole),
    })
}

fn decimal_arithmetic(operator: Operator, left: Decimal, right: Decimal) -> Outcome {
    let value = match operator {
        Operator::Plus => left.plus(right),
        Operator::Minus => left.plus(right.negated()),
        Operator::Times => left.times(right),
        Operator::Over => left.divided_by(right),
        Operator::Remainder => left.remainder(right),
        _ => None,
    };
    value
        .map(Value::Decimal)
        .ok_or_else(|| "a division by zero, or too many digits".to_owned())
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

fn jexl_arithmetic(operator: Operator, left: &Value, right: &Value, dialect: Dialect) -> Outcome {
    if *left == Value::Null || *right == Value::Null {
        return thrown("arithmetic on null");
    }
    let texts = matches!(left, Value::Text(_)) || matches!(right, Value::Text(_));
    if operator == Operator::Plus && texts {
        let joined = || Value::Text(left.text() + &right.text());
        return match dialect {
            Dialect::Jexl2 => {
                Ok(jexl_numbers(operator, left, right, dialect).unwrap_or_else(|_| joined()))
            }
            _ => Ok(joined()),
        };
    }
    jexl_numbers(operator, left, right, dialect)
}

fn jexl_numbers(operator: Operator, left: &Value, right: &Value, dialect: Dialect) -> Outcome {
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
        // JEXL 2 takes BigInteger's remainder, which is never below zero.
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

/// A value as another type: `x as int`, `(int) x`.
pub(super) fn cast(value: &Value, kind: TypeName) -> Outcome {
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    let parsed =
        |text: &str| numbers::parse_long(text.trim()).ok_or_else(|| numbers::complaint(text));
    match (kind, value) {
        (TypeName::Text, _) => Ok(Value::Text(value.text())),
        (TypeName::Truth, _) => Ok(Value::Truth(value.truth(Dialect::Groovy)?)),
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
