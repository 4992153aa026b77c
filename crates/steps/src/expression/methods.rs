//! Methods of texts, numbers and lists in scripts.
//!
//! Must not know the thread. Invariant: a missing method throws.

use loadline_java::numbers;
use regex::Regex;

use super::Dialect;
use super::method_names::Method;
use super::operators::{Operator, TypeName, apply, cast, compare, contains, equal};
use super::value::{Outcome, Value, thrown};

/// Calls a method of a plain value.
pub(super) fn call(receiver: &Value, method: Method, given: &[Value], dialect: Dialect) -> Outcome {
    match (method, given) {
        (Method::Equals, [other]) => return Ok(Value::Truth(java_equal(receiver, other)?)),
        (Method::ToString, []) if *receiver != Value::Null => {
            return Ok(Value::Text(receiver.text()));
        }
        _ => {}
    }
    match receiver {
        Value::Null => thrown("a method is called on null"),
        Value::Text(text) => of_text(text, method, given, dialect),
        Value::List(list) => of_list(list, method, given),
        _ => of_number(receiver, method, given, dialect),
    }
}

/// Java's `equals`: same class, same value.
fn java_equal(left: &Value, right: &Value) -> Result<bool, String> {
    let same = std::mem::discriminant(left) == std::mem::discriminant(right);
    match left {
        Value::Null => thrown("a method is called on null"),
        _ => Ok(same && equal(left, right)?),
    }
}

fn unknown<T>(method: Method) -> Result<T, String> {
    Err(format!("no such method: {method:?}"))
}

fn of_text(text: &str, method: Method, given: &[Value], dialect: Dialect) -> Outcome {
    let truth = |holds| Ok(Value::Truth(holds));
    let owned = |text: &str| Ok(Value::Text(text.to_owned()));
    match (method, given) {
        (Method::Length | Method::Size, []) => Ok(Value::count(text.encode_utf16().count())),
        (Method::IsEmpty, []) => truth(text.is_empty()),
        (Method::IsBlank, []) => truth(text.trim().is_empty()),
        (Method::Trim | Method::Strip, []) => owned(text.trim()),
        (Method::ToUpperCase, []) => owned(&text.to_uppercase()),
        (Method::ToLowerCase, []) => owned(&text.to_lowercase()),
        (Method::Reverse, []) => owned(&text.chars().rev().collect::<String>()),
        (Method::Capitalize, []) => {
            let mut rest = text.chars();
            let first = rest.next().map(|first| first.to_uppercase().to_string());
            owned(&(first.unwrap_or_default() + rest.as_str()))
        }
        (Method::HashCode, []) => {
            let hash = text.encode_utf16().fold(0_i32, |hash, unit| {
                hash.wrapping_mul(31).wrapping_add(i32::from(unit))
            });
            Ok(Value::Int(hash))
        }
        (Method::IsInteger, []) => truth(numbers::parse_int(text.trim()).is_some()),
        (Method::IsLong, []) => truth(numbers::parse_long(text.trim()).is_some()),
        (Method::IsNumber | Method::IsDouble, []) => {
            truth(numbers::parse_double(text.trim()).is_some())
        }
        (Method::ToList, []) => Ok(Value::List(
            text.chars()
                .map(|one| Value::Text(one.to_string()))
                .collect(),
        )),
        (Method::Tokenize, []) => Ok(listed(text.split_whitespace())),
        (_, []) => converted(text, method, dialect),
        (Method::CharAt | Method::GetAt, [at]) => at_index(text, at.long()?),
        (Method::Substring, [from]) => slice(text, from.long()?, i64::MAX),
        (Method::Substring, [from, to]) => slice(text, from.long()?, to.long()?),
        (Method::PadLeft | Method::PadRight, [width, rest @ ..]) => {
            let pad = rest.first().map_or(" ".to_owned(), Value::text);
            let missing = usize::try_from(width.long()?)
                .unwrap_or(0)
                .min(super::LONGEST);
            let missing = missing.saturating_sub(text.encode_utf16().count());
            let padding: String = pad.chars().cycle().take(missing).collect();
            match method == Method::PadLeft {
                true => owned(&(padding + text)),
                false => owned(&(text.to_owned() + &padding)),
            }
        }
        (_, [one]) => with_text(text, method, one, dialect),
        (Method::Replace, [from, to]) => owned(&text.replace(&from.text(), &to.text())),
        (Method::ReplaceAll, [pattern, to]) => {
            let replaced = regex(&pattern.text())?
                .replace_all(text, to.text())
                .into_owned();
            Ok(Value::Text(replaced))
        }
        (Method::ReplaceFirst, [pattern, to]) => {
            let replaced = regex(&pattern.text())?
                .replace(text, to.text())
                .into_owned();
            Ok(Value::Text(replaced))
        }
        _ => unknown(method),
    }
}

/// Methods of a text with another text as argument.
fn with_text(text: &str, method: Method, other: &Value, dialect: Dialect) -> Outcome {
    if *other == Value::Null && !matches!(method, Method::Plus | Method::EqualsIgnoreCase) {
        return thrown("null as an argument");
    }
    let with = other.text();
    let truth = |holds| Ok(Value::Truth(holds));
    let position = |at: Option<usize>| match at {
        None => Ok(Value::Int(-1)),
        Some(at) => Ok(Value::count(text[..at].encode_utf16().count())),
    };
    match method {
        Method::Contains => truth(text.contains(&with)),
        Method::StartsWith => truth(text.starts_with(&with)),
        Method::EndsWith => truth(text.ends_with(&with)),
        Method::EqualsIgnoreCase => truth(text.to_lowercase() == with.to_lowercase()),
        Method::Matches => truth(regex(&format!("^(?:{with})$"))?.is_match(text)),
        Method::IndexOf => position(text.find(&with)),
        Method::LastIndexOf => position(text.rfind(&with)),
        Method::Concat | Method::Plus => Ok(Value::Text(text.to_owned() + &with)),
        Method::CompareTo => {
            let differ = text
                .encode_utf16()
                .zip(with.encode_utf16())
                .find(|(a, b)| a != b);
            let (left, right) = (text.encode_utf16().count(), with.encode_utf16().count());
            Ok(match differ {
                Some((a, b)) => Value::Int(i32::from(a) - i32::from(b)),
                None => Value::whole(
                    i64::try_from(left).unwrap_or(0) - i64::try_from(right).unwrap_or(0),
                ),
            })
        }
        Method::Split => {
            let pattern = regex(&with)?;
            let mut parts: Vec<&str> = pattern.split(text).collect();
            while parts.len() > 1 && parts.last().is_some_and(|last| last.is_empty()) {
                parts.pop();
            }
            Ok(listed(parts.into_iter()))
        }
        Method::Tokenize => {
            let parts = text.split(|one| with.contains(one));
            Ok(listed(parts.filter(|part| !part.is_empty())))
        }
        Method::Minus => apply(
            Operator::Minus,
            &Value::Text(text.to_owned()),
            other,
            dialect,
        ),
        Method::Multiply => apply(
            Operator::Times,
            &Value::Text(text.to_owned()),
            other,
            dialect,
        ),
        _ => unknown(method),
    }
}

fn listed<'t>(parts: impl Iterator<Item = &'t str>) -> Value {
    Value::List(parts.map(|part| Value::Text(part.to_owned())).collect())
}

/// Converts a text to a number or a boolean.
fn converted(text: &str, method: Method, dialect: Dialect) -> Outcome {
    // JEXL 3 inherits them from its arithmetic; JEXL 2 does not.
    if dialect == Dialect::Jexl2 {
        return unknown(method);
    }
    let value = Value::Text(text.trim().to_owned());
    match method {
        Method::ToInteger => cast(&value, TypeName::Int),
        Method::ToLong => cast(&value, TypeName::Long),
        Method::ToDouble | Method::ToFloat => cast(&value, TypeName::Double),
        Method::ToBigDecimal => cast(&value, TypeName::Decimal),
        Method::ToBoolean => Ok(Value::Truth(value.truth()?)),
        _ => unknown(method),
    }
}

fn regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|fault| fault.to_string())
}

/// The character of a text at an index, or from its end if the index is negative.
pub(super) fn at_index(text: &str, at: i64) -> Outcome {
    let length = i64::try_from(text.encode_utf16().count()).unwrap_or(i64::MAX);
    let at = if at < 0 { at + length } else { at };
    slice(text, at, at.saturating_add(1))
}

/// A part of a text; a `to` beyond the length means the end.
pub(super) fn slice(text: &str, from: i64, to: i64) -> Outcome {
    let units: Vec<u16> = text.encode_utf16().collect();
    let to = if to == i64::MAX {
        units.len()
    } else {
        usize::try_from(to).unwrap_or(usize::MAX)
    };
    let part = usize::try_from(from)
        .ok()
        .and_then(|from| units.get(from..to));
    match part {
        Some(part) => Ok(Value::Text(String::from_utf16_lossy(part))),
        None => thrown("String index out of range"),
    }
}

fn of_list(list: &[Value], method: Method, given: &[Value]) -> Outcome {
    match (method, given) {
        (Method::Size, []) => Ok(Value::count(list.len())),
        (Method::IsEmpty, []) => Ok(Value::Truth(list.is_empty())),
        (Method::First, []) => list
            .first()
            .cloned()
            .ok_or_else(|| "an empty list".to_owned()),
        (Method::Last, []) => list
            .last()
            .cloned()
            .ok_or_else(|| "an empty list".to_owned()),
        (Method::Contains, [value]) => Ok(Value::Truth(contains(list, value)?)),
        (Method::Get | Method::GetAt, [at]) => item(list, at.long()?),
        (Method::Join, [between]) => {
            let texts: Vec<String> = list.iter().map(Value::text).collect();
            Ok(Value::Text(texts.join(&between.text())))
        }
        (Method::IndexOf, [value]) => {
            for (index, one) in list.iter().enumerate() {
                if equal(one, value)? {
                    return Ok(Value::count(index));
                }
            }
            Ok(Value::Int(-1))
        }
        _ => unknown(method),
    }
}

/// The item of a list at an index, or from its end if the index is negative; null if there is none.
pub(super) fn item(list: &[Value], at: i64) -> Outcome {
    let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
    let at = if at < 0 { at + length } else { at };
    let item = usize::try_from(at).ok().and_then(|at| list.get(at));
    Ok(item.cloned().unwrap_or(Value::Null))
}

fn of_number(value: &Value, method: Method, given: &[Value], dialect: Dialect) -> Outcome {
    let with = |operator| match given {
        [other] => apply(operator, value, other, dialect),
        _ => unknown(method),
    };
    match method {
        Method::IntValue | Method::ToInteger => cast(value, TypeName::Int),
        Method::LongValue | Method::ToLong => cast(value, TypeName::Long),
        Method::DoubleValue | Method::ToDouble => cast(value, TypeName::Double),
        Method::ToBigDecimal => cast(value, TypeName::Decimal),
        Method::ToBoolean => Ok(Value::Truth(value.truth()?)),
        Method::Plus => with(Operator::Plus),
        Method::Minus => with(Operator::Minus),
        Method::Multiply => with(Operator::Times),
        Method::Div => with(Operator::Over),
        Method::Mod => with(Operator::Remainder),
        Method::Intdiv => {
            let quotient = match given {
                [other] => value.truncated()?.checked_div(other.truncated()?),
                _ => None,
            };
            quotient
                .map(Value::whole)
                .ok_or_else(|| "Division by zero".to_owned())
        }
        Method::Abs if value.is_number() => match compare(value, &Value::Int(0))? {
            Some(std::cmp::Ordering::Less) => {
                apply(Operator::Minus, &Value::Int(0), value, dialect)
            }
            _ => Ok(value.clone()),
        },
        Method::CompareTo => match given {
            [other] => Ok(Value::Int(
                compare(value, other)?.map_or(0, |order| order as i32),
            )),
            _ => unknown(method),
        },
        _ => unknown(method),
    }
}
