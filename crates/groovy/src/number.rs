//! Arithmetic as in Groovy: the type and value of results.
//!
//! Must not know operators. Invariant: integers wrap as in Java; decimals are exact.

use std::cmp::Ordering;
use std::rc::Rc;

use num_bigint::BigInt;
use num_traits::{Signed as _, ToPrimitive as _, Zero as _};

use super::decimal::{Decimal, wrapped};
use super::thrown::Thrown;
use super::value::{Outcome, Value};

/// The width of a number's type: the result of two numbers has the wider one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Width {
    Int,
    Long,
    Whole,
    Decimal,
    Double,
}

fn width(value: &Value) -> Option<Width> {
    Some(match value {
        Value::Byte(_) | Value::Int(_) | Value::Char(_) => Width::Int,
        Value::Long(_) => Width::Long,
        Value::Whole(_) => Width::Whole,
        Value::Decimal(_) => Width::Decimal,
        Value::Float(_) | Value::Double(_) => Width::Double,
        _ => return None,
    })
}

/// A number as an `int`, truncated as in Java's casts; `None`: not a number.
#[must_use]
pub fn int_of(value: &Value) -> Option<i32> {
    Some(match value {
        Value::Int(number) => *number,
        Value::Double(number) => *number as i32,
        Value::Float(number) => *number as i32,
        other => long_of(other)? as i32,
    })
}

/// A number as a `long`.
#[must_use]
pub fn long_of(value: &Value) -> Option<i64> {
    Some(match value {
        Value::Byte(number) => i64::from(*number),
        Value::Int(number) => i64::from(*number),
        Value::Char(one) => i64::from(u32::from(*one)),
        Value::Long(number) => *number,
        Value::Float(number) => *number as i64,
        Value::Double(number) => *number as i64,
        Value::Whole(number) => wrapped(number),
        Value::Decimal(number) => number.to_long(),
        _ => return None,
    })
}

/// A number as a `double`.
#[must_use]
pub fn double_of(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Float(number) => f64::from(*number),
        Value::Double(number) => *number,
        Value::Whole(number) => number.to_f64().unwrap_or(f64::NAN),
        Value::Decimal(number) => number.to_double(),
        other => long_of(other)? as f64,
    })
}

/// An integer of any length; a decimal is truncated.
#[must_use]
pub fn whole_of(value: &Value) -> Option<BigInt> {
    Some(match value {
        Value::Whole(number) => (**number).clone(),
        Value::Decimal(number) => number.truncated(),
        Value::Double(number) => Decimal::exactly(*number)?.truncated(),
        other => BigInt::from(long_of(other)?),
    })
}

/// A number as a decimal.
#[must_use]
pub fn decimal_of(value: &Value) -> Option<Decimal> {
    match value {
        Value::Decimal(number) => Some((**number).clone()),
        Value::Whole(number) => Some(Decimal::whole((**number).clone())),
        Value::Double(number) => Decimal::of_double(*number),
        Value::Float(number) => Decimal::of_double(f64::from(*number)),
        other => Some(Decimal::whole(long_of(other)?)),
    }
}

/// The order of two numbers; `None`: one is not a number.
#[must_use]
pub fn compare(one: &Value, other: &Value) -> Option<Ordering> {
    match width(one)?.max(width(other)?) {
        Width::Int | Width::Long => Some(long_of(one)?.cmp(&long_of(other)?)),
        Width::Whole => Some(whole_of(one)?.cmp(&whole_of(other)?)),
        Width::Decimal => Some(decimal_of(one)?.compare(&decimal_of(other)?)),
        Width::Double => double_of(one)?.partial_cmp(&double_of(other)?),
    }
}

/// A decimal as a value.
#[must_use]
pub fn decimal(number: Decimal) -> Value {
    Value::Decimal(Rc::new(number))
}

/// An integer of any length as a value.
///
/// # Errors
/// It is too long.
pub fn whole(number: BigInt) -> Outcome {
    match number.bits() > 1 << 18 {
        true => Err(Thrown::of(
            "java.lang.ArithmeticException",
            "BigInteger would overflow supported range",
        )),
        false => Ok(Value::Whole(Rc::new(number))),
    }
}

fn integer_by_zero() -> Thrown {
    Thrown::of("java.lang.ArithmeticException", "/ by zero")
}

fn by_zero() -> Thrown {
    Thrown::of("java.lang.ArithmeticException", "Division by zero")
}

fn too_long() -> Thrown {
    Thrown::of("java.lang.ArithmeticException", "Overflow")
}

/// An arithmetic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// `+`.
    Plus,
    /// `-`.
    Minus,
    /// `*`.
    Times,
    /// `%`.
    Remainder,
}

/// Adds, subtracts, multiplies, or computes the remainder; `None`: one is not a number.
///
/// # Errors
/// The remainder of a division by zero.
pub fn sum(how: Sum, one: &Value, other: &Value) -> Outcome<Option<Value>> {
    if let (Value::Int(one), Value::Int(other)) = (one, other) {
        return ints(how, *one, *other).map(Some);
    }
    let (Some(left), Some(right)) = (width(one), width(other)) else {
        return Ok(None);
    };
    let kind = left.max(right);
    let value = match kind {
        Width::Int => match (int_of(one), int_of(other)) {
            (Some(one), Some(other)) => Some(ints(how, one, other)?),
            _ => None,
        },
        Width::Long => match (long_of(one), long_of(other)) {
            (Some(one), Some(other)) => Some(longs(how, one, other)?),
            _ => None,
        },
        Width::Whole => match (whole_of(one), whole_of(other)) {
            (Some(one), Some(other)) => Some(wholes(how, &one, &other)?),
            _ => None,
        },
        Width::Decimal => match (decimal_of(one), decimal_of(other)) {
            (Some(one), Some(other)) => Some(decimals(how, &one, &other)?),
            _ => None,
        },
        Width::Double => match (double_of(one), double_of(other)) {
            (Some(one), Some(other)) => Some(Value::Double(match how {
                Sum::Plus => one + other,
                Sum::Minus => one - other,
                Sum::Times => one * other,
                Sum::Remainder => one % other,
            })),
            _ => None,
        },
    };
    Ok(value)
}

fn ints(how: Sum, one: i32, other: i32) -> Outcome {
    Ok(Value::Int(match how {
        Sum::Plus => one.wrapping_add(other),
        Sum::Minus => one.wrapping_sub(other),
        Sum::Times => one.wrapping_mul(other),
        Sum::Remainder if other == 0 => return Err(integer_by_zero()),
        Sum::Remainder => one.wrapping_rem(other),
    }))
}

fn longs(how: Sum, one: i64, other: i64) -> Outcome {
    Ok(Value::Long(match how {
        Sum::Plus => one.wrapping_add(other),
        Sum::Minus => one.wrapping_sub(other),
        Sum::Times => one.wrapping_mul(other),
        Sum::Remainder if other == 0 => return Err(integer_by_zero()),
        Sum::Remainder => one.wrapping_rem(other),
    }))
}

fn wholes(how: Sum, one: &BigInt, other: &BigInt) -> Outcome {
    whole(match how {
        Sum::Plus => one + other,
        Sum::Minus => one - other,
        Sum::Times => one * other,
        Sum::Remainder if other.is_zero() => return Err(by_zero()),
        Sum::Remainder => one % other,
    })
}

fn decimals(how: Sum, one: &Decimal, other: &Decimal) -> Outcome {
    Ok(decimal(match how {
        Sum::Plus => one.plus(other),
        Sum::Minus => one.plus(&other.negated()),
        Sum::Times => one.times(other).ok_or_else(too_long)?,
        Sum::Remainder => {
            return Err(Thrown::of(
                "java.lang.UnsupportedOperationException",
                format!(
                    "Cannot use mod() on this number type: java.math.BigDecimal with value: {one}"
                ),
            ));
        }
    }))
}

/// Divides as in Groovy: integers yield a decimal. `None`: one is not a number.
///
/// # Errors
/// Division by zero.
pub fn divide(one: &Value, other: &Value) -> Outcome<Option<Value>> {
    let (Some(left), Some(right)) = (width(one), width(other)) else {
        return Ok(None);
    };
    if left.max(right) == Width::Double {
        let quotient = double_of(one).zip(double_of(other));
        return Ok(quotient.map(|(one, other)| Value::Double(one / other)));
    }
    let (Some(one), Some(other)) = (decimal_of(one), decimal_of(other)) else {
        return Ok(None);
    };
    let quotient = one.divided_by(&other).ok_or_else(by_zero)?;
    Ok(Some(decimal(quotient)))
}

/// Divides as in Java: integers yield an integer. `None`: one is not a number.
///
/// # Errors
/// Division by zero.
pub fn divide_whole(one: &Value, other: &Value) -> Outcome<Option<Value>> {
    let (Some(left), Some(right)) = (width(one), width(other)) else {
        return Ok(None);
    };
    match left.max(right) {
        Width::Int => {
            let (one, other) = (int_of(one).unwrap_or(0), int_of(other).unwrap_or(0));
            match other {
                0 => Err(integer_by_zero()),
                _ => Ok(Some(Value::Int(one.wrapping_div(other)))),
            }
        }
        Width::Long => {
            let (one, other) = (long_of(one).unwrap_or(0), long_of(other).unwrap_or(0));
            match other {
                0 => Err(integer_by_zero()),
                _ => Ok(Some(Value::Long(one.wrapping_div(other)))),
            }
        }
        Width::Whole => match (whole_of(one), whole_of(other)) {
            (Some(_), Some(other)) if other.is_zero() => Err(by_zero()),
            (Some(one), Some(other)) => whole(one / other).map(Some),
            _ => Ok(None),
        },
        _ => divide(one, other),
    }
}

/// `**`, Groovy's power. `None`: one is not a number.
///
/// # Errors
/// The result is too long.
pub fn power(one: &Value, other: &Value) -> Outcome<Option<Value>> {
    let (Some(left), Some(right)) = (width(one), width(other)) else {
        return Ok(None);
    };
    if let Some(exponent) = int_of(other).filter(|exponent| *exponent >= 0 && right <= Width::Whole)
        && left != Width::Double
    {
        let exponent = exponent.unsigned_abs();
        let Some(base) = decimal_of(one) else {
            return Ok(None);
        };
        if base.digits.bits().max(1) * u64::from(exponent) > 200_000 {
            return Err(too_long());
        }
        if left == Width::Decimal {
            let raised = base.raised(exponent).ok_or_else(too_long)?;
            return Ok(Some(decimal(raised)));
        }
        let digits = base.digits.pow(exponent);
        return Ok(Some(match (left, digits.to_i32(), digits.to_i64()) {
            (Width::Int, Some(number), _) => Value::Int(number),
            (Width::Long, _, Some(number)) => Value::Long(number),
            _ => whole(digits)?,
        }));
    }
    let raised = double_of(one).zip(double_of(other));
    let raised = raised
        .map(|(one, other)| one.powf(other))
        .unwrap_or(f64::NAN);
    Ok(Some(match raised as i64 {
        number if raised.fract() == 0.0 && raised.abs() < 1e15 => Value::whole(number),
        _ => Value::Double(raised),
    }))
}

/// The number with its sign changed; `None`: not a number.
#[must_use]
pub fn negated(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Byte(number) => Value::Int(-i32::from(*number)),
        Value::Int(number) => Value::Int(number.wrapping_neg()),
        Value::Long(number) => Value::Long(number.wrapping_neg()),
        Value::Float(number) => Value::Float(-number),
        Value::Double(number) => Value::Double(-number),
        Value::Whole(number) => Value::Whole(Rc::new(-&**number)),
        Value::Decimal(number) => decimal(number.negated()),
        _ => return None,
    })
}

/// The absolute value; `None`: not a number.
#[must_use]
pub fn without_sign(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Int(number) => Value::Int(number.wrapping_abs()),
        Value::Long(number) => Value::Long(number.wrapping_abs()),
        Value::Float(number) => Value::Float(number.abs()),
        Value::Double(number) => Value::Double(number.abs()),
        Value::Whole(number) => Value::Whole(Rc::new(number.abs())),
        Value::Decimal(number) if number.digits.is_negative() => decimal(number.negated()),
        Value::Decimal(_) => value.clone(),
        Value::Byte(number) => Value::Int(i32::from(*number).abs()),
        _ => return None,
    })
}

/// A bitwise operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bits {
    /// `&`.
    And,
    /// `|`.
    Or,
    /// `^`.
    Xor,
    /// `<<`.
    Left,
    /// `>>`.
    Right,
    /// `>>>`.
    UnsignedRight,
}

/// Bitwise operations; `None`: one is not an integer.
///
/// # Errors
/// The result is too long.
pub fn bits(how: Bits, one: &Value, other: &Value) -> Outcome<Option<Value>> {
    let (Some(left), Some(right)) = (width(one), width(other)) else {
        return Ok(None);
    };
    if left > Width::Whole || right > Width::Whole {
        return Ok(None);
    }
    let is_shift = matches!(how, Bits::Left | Bits::Right | Bits::UnsignedRight);
    let kind = if is_shift { left } else { left.max(right) };
    if kind == Width::Whole {
        let (Some(number), Some(by)) = (whole_of(one), whole_of(other)) else {
            return Ok(None);
        };
        let count = by.to_u32().unwrap_or(0).min(100_000);
        return whole(match how {
            Bits::And => number & by,
            Bits::Or => number | by,
            Bits::Xor => number ^ by,
            Bits::Left => number << count,
            Bits::Right | Bits::UnsignedRight => number >> count,
        })
        .map(Some);
    }
    let (Some(number), Some(by)) = (long_of(one), long_of(other)) else {
        return Ok(None);
    };
    let is_int = kind == Width::Int;
    let count = (by & if is_int { 31 } else { 63 }) as u32;
    let result = match how {
        Bits::And => number & by,
        Bits::Or => number | by,
        Bits::Xor => number ^ by,
        Bits::Left => number << count,
        Bits::Right => number >> count,
        Bits::UnsignedRight if is_int => i64::from((number as u32) >> count),
        Bits::UnsignedRight => (number.cast_unsigned() >> count).cast_signed(),
    };
    Ok(Some(match is_int {
        true => Value::Int(result as i32),
        false => Value::Long(result),
    }))
}

/// The number plus or minus one; `None`: not a number.
#[must_use]
pub fn stepped(value: &Value, is_up: bool) -> Option<Value> {
    if let Value::Char(one) = value {
        let code = u32::from(*one);
        let code = if is_up {
            code + 1
        } else {
            code.saturating_sub(1)
        };
        return char::from_u32(code).map(Value::Char);
    }
    let how = if is_up { Sum::Plus } else { Sum::Minus };
    match value {
        Value::Byte(number) => Some(Value::Byte(match is_up {
            true => number.wrapping_add(1),
            false => number.wrapping_sub(1),
        })),
        _ => sum(how, value, &Value::Int(1)).ok().flatten(),
    }
}
