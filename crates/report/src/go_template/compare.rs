//! `eq`, `ne`, `lt`, `le`, `gt`, `ge` as Go's templates define them.
//!
//! Must not know the tree. Invariant: signed and unsigned integers compare by value; no other two
//! kinds compare at all.

use std::cmp::Ordering;

use super::value::Value;

enum Basic<'a> {
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(&'a str),
}

fn basic(value: &Value) -> Option<Basic<'_>> {
    Some(match value {
        Value::Bool(value) => Basic::Bool(*value),
        Value::Int(value) | Value::Duration(value) => Basic::Int(i128::from(*value)),
        Value::Uint(value) => Basic::Int(i128::from(*value)),
        Value::Float(value) => Basic::Float(*value),
        Value::Text(value) => Basic::Text(value),
        _ => return None,
    })
}

/// Whether the first argument equals any of the others.
pub(super) fn equal(arguments: &[Value]) -> Result<bool, String> {
    let [first, others @ ..] = arguments else {
        return Err("missing argument for comparison".to_owned());
    };
    for other in others {
        if equal_two(first, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn equal_two(left: &Value, right: &Value) -> Result<bool, String> {
    match (left, right) {
        (Value::Nil | Value::Missing, Value::Nil | Value::Missing) => Ok(true),
        (Value::Nil | Value::Missing, _) | (_, Value::Nil | Value::Missing) => Ok(false),
        (Value::Uuid(left), Value::Uuid(right)) => Ok(left == right),
        _ => match (basic(left), basic(right)) {
            (Some(left), Some(right)) => match (left, right) {
                (Basic::Bool(left), Basic::Bool(right)) => Ok(left == right),
                (Basic::Int(left), Basic::Int(right)) => Ok(left == right),
                (Basic::Float(left), Basic::Float(right)) => Ok(left == right),
                (Basic::Text(left), Basic::Text(right)) => Ok(left == right),
                _ => Err("incompatible types for comparison".to_owned()),
            },
            _ => Err(format!(
                "non-comparable types {} and {}",
                left.type_name(),
                right.type_name()
            )),
        },
    }
}

/// How two values are ordered; `None` when one is not a number.
pub(super) fn order(arguments: &[Value]) -> Result<Option<Ordering>, String> {
    let [left, right] = arguments else {
        return Err("missing argument for comparison".to_owned());
    };
    match (basic(left), basic(right)) {
        (Some(Basic::Int(left)), Some(Basic::Int(right))) => Ok(Some(left.cmp(&right))),
        (Some(Basic::Float(left)), Some(Basic::Float(right))) => Ok(left.partial_cmp(&right)),
        (Some(Basic::Text(left)), Some(Basic::Text(right))) => Ok(Some(left.cmp(right))),
        (Some(left), Some(right))
            if std::mem::discriminant(&left) != std::mem::discriminant(&right) =>
        {
            Err("incompatible types for comparison".to_owned())
        }
        _ => Err("invalid type for comparison".to_owned()),
    }
}
