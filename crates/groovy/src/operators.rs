//! Operators that are methods in Groovy: sums of texts, lists, maps and dates, shifts, identity.
//!
//! Must not know variables. Invariant: the left operand is not changed, except by `<<`.

use std::rc::Rc;

use super::ast::Operator;
use super::library;
use super::number::{self, Bits, Sum};
use super::print;
use super::thrown::Thrown;
use super::value::{Machine, Outcome, Value};

/// The result of an operator with two operands, except comparisons.
///
/// # Errors
/// There is no such operator for them, or it throws.
pub(crate) fn arithmetic(
    machine: &mut dyn Machine,
    operator: Operator,
    left: &Value,
    right: &Value,
) -> Outcome {
    let found = match operator {
        Operator::Plus => number::sum(Sum::Plus, left, right)?,
        Operator::Minus => number::sum(Sum::Minus, left, right)?,
        Operator::Times => number::sum(Sum::Times, left, right)?,
        Operator::Remainder => number::sum(Sum::Remainder, left, right)?,
        Operator::Divide => number::divide(left, right)?,
        Operator::Power => number::power(left, right)?,
        Operator::LeftShift => number::bits(Bits::Left, left, right)?,
        Operator::RightShift => number::bits(Bits::Right, left, right)?,
        Operator::UnsignedShift => number::bits(Bits::UnsignedRight, left, right)?,
        Operator::BitAnd => number::bits(Bits::And, left, right)?,
        Operator::BitOr => number::bits(Bits::Or, left, right)?,
        Operator::BitXor => number::bits(Bits::Xor, left, right)?,
        _ => None,
    };
    if let Some(value) = found {
        return Ok(value);
    }
    let name = match operator {
        Operator::Plus => "plus",
        Operator::Minus => "minus",
        Operator::Times => "multiply",
        Operator::Remainder => "mod",
        Operator::Divide => "div",
        Operator::Power => "power",
        Operator::LeftShift => "leftShift",
        Operator::RightShift => "rightShift",
        Operator::UnsignedShift => "rightShiftUnsigned",
        Operator::BitAnd => "and",
        Operator::BitOr => "or",
        _ => "xor",
    };
    match (left, operator) {
        (Value::Truth(one), Operator::BitAnd | Operator::BitOr | Operator::BitXor) => {
            let other = super::order::truth(right);
            Ok(Value::Truth(match operator {
                Operator::BitAnd => *one & other,
                Operator::BitOr => *one | other,
                _ => *one ^ other,
            }))
        }
        // The sum of a number and a text is a text.
        (left, Operator::Plus)
            if (left.is_number() || matches!(left, Value::Char(_)) || left.is_null())
                && matches!(right, Value::Text(_) | Value::Composed(_)) =>
        {
            let text = print::text(left) + &print::text(right);
            machine.take(text.len())?;
            Ok(Value::text(text))
        }
        (left, Operator::Plus) if left.is_null() => Err(Thrown::of(
            "java.lang.NullPointerException",
            format!("Cannot execute null+{}", print::text(right)),
        )),
        (left, _) if left.is_null() => Err(Thrown::null_call(name)),
        _ => machine.invoke(left, name, std::slice::from_ref(right)),
    }
}

/// `~x`: a pattern from a text, or the bitwise complement.
///
/// # Errors
/// It is neither.
pub(crate) fn complement(value: &Value) -> Outcome {
    match value {
        Value::Int(number) => Ok(Value::Int(!number)),
        Value::Long(number) => Ok(Value::Long(!number)),
        Value::Byte(number) => Ok(Value::Int(!i32::from(*number))),
        Value::Text(_) | Value::Composed(_) => library::pattern(&print::text(value)),
        other => Err(library::missing(other, "bitwiseNegate", &[])),
    }
}

/// Whether values are identical.
#[must_use]
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Text(one), Value::Text(other)) => {
            std::sync::Arc::ptr_eq(one, other) || one == other && one.len() < 64
        }
        (Value::Composed(one), Value::Composed(other)) => Rc::ptr_eq(one, other),
        (Value::List(one), Value::List(other)) => Rc::ptr_eq(one, other),
        (Value::Map(one), Value::Map(other)) | (Value::Set(one), Value::Set(other)) => {
            Rc::ptr_eq(one, other)
        }
        (Value::Object(one), Value::Object(other)) => {
            std::ptr::addr_eq(one.any(), other.any())
                || one.class() == other.class() && one.equals(&**other)
        }
        _ => super::order::java_equals(one, other),
    }
}

/// Java's `==`: texts and objects are compared by identity, numbers by value.
#[must_use]
pub(crate) fn is_same_in_java(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Void, Value::Void) | (Value::Null, Value::Null) => true,
        (Value::Void | Value::Null, _) | (_, Value::Void | Value::Null) => false,
        (Value::Text(one), Value::Text(other)) => std::sync::Arc::ptr_eq(one, other),
        (Value::Truth(one), Value::Truth(other)) => one == other,
        _ => match number::compare(one, other) {
            Some(order) => order.is_eq(),
            None => is_same(one, other),
        },
    }
}
