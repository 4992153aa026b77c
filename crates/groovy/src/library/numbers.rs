//! Methods of numbers.
//!
//! Must not know texts. Invariant: every rounding has an explicit mode.
// tidy: table

use std::rc::Rc;

use num_bigint::BigInt;
use num_traits::{Signed as _, ToPrimitive as _, Zero as _};

use super::super::decimal::{Decimal, Rounding};
use super::super::number::{self, Bits, Sum};
use super::super::order;
use super::super::print;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Machine, Outcome, Value};
use super::{int_of, units};

fn double(this: &Value) -> f64 {
    number::double_of(this).unwrap_or(f64::NAN)
}

fn decimal(this: &Value) -> Outcome<Decimal> {
    number::decimal_of(this).ok_or_else(|| Thrown::bare("java.lang.NumberFormatException"))
}

fn whole(this: &Value) -> BigInt {
    number::whole_of(this).unwrap_or_default()
}

fn summed(how: Sum, this: &Value, given: &[Value], name: &str) -> Outcome {
    number::sum(how, this, &given[0])?.ok_or_else(|| super::missing(this, name, given))
}

/// A rounding mode, by Java's names and numbers.
pub(super) fn rounding(value: Option<&Value>) -> Rounding {
    let Some(value) = value else {
        return Rounding::HalfUp;
    };
    let name = print::text(value);
    match name.rsplit('.').next().unwrap_or_default() {
        "UP" | "0" => Rounding::Up,
        "DOWN" | "1" => Rounding::Down,
        "CEILING" | "2" => Rounding::Ceiling,
        "FLOOR" | "3" => Rounding::Floor,
        "HALF_DOWN" | "5" => Rounding::HalfDown,
        "HALF_EVEN" | "6" => Rounding::HalfEven,
        _ => Rounding::HalfUp,
    }
}

/// `5.8.round()` and `5.85.round(1)`.
fn rounded(this: &Value, given: &[Value]) -> Outcome {
    let places = if given.is_empty() {
        None
    } else {
        Some(int_of(given, 0)?)
    };
    Ok(match (this, places) {
        (Value::Decimal(one), None) => {
            Value::Whole(Rc::new(one.rounded(0, Rounding::HalfUp).truncated()))
        }
        (Value::Decimal(one), Some(places)) => {
            number::decimal(one.rounded(places, Rounding::HalfUp))
        }
        (Value::Float(one), None) => Value::Int((f64::from(*one) + 0.5).floor() as i32),
        (_, None) => Value::Long((double(this) + 0.5).floor() as i64),
        (_, Some(places)) => {
            let factor = 10_f64.powi(places);
            Value::Double((double(this) * factor + 0.5).floor() / factor)
        }
    })
}

fn truncated(this: &Value, given: &[Value]) -> Outcome {
    let places = if given.is_empty() {
        0
    } else {
        int_of(given, 0)?
    };
    Ok(match this {
        Value::Decimal(one) => number::decimal(one.rounded(places, Rounding::Down)),
        _ => {
            let factor = 10_f64.powi(places);
            Value::Double((double(this) * factor).trunc() / factor)
        }
    })
}

fn times(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    let count = number::long_of(this).unwrap_or(0);
    for at in 0..count {
        machine.work(1)?;
        machine.call(&given[0], vec![Value::whole(at)])?;
    }
    Ok(Value::Null)
}

fn stepped(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome {
    let step = given[1].clone();
    let is_up = number::compare(&step, &Value::Int(0)) == Some(std::cmp::Ordering::Greater);
    let mut at = this.clone();
    loop {
        machine.work(1)?;
        let order = number::compare(&at, &given[0]);
        let is_inside = match is_up {
            true => order == Some(std::cmp::Ordering::Less),
            false => order == Some(std::cmp::Ordering::Greater),
        };
        if !is_inside || number::compare(&step, &Value::Int(0)) == Some(std::cmp::Ordering::Equal) {
            return Ok(Value::Null);
        }
        machine.call(&given[2], vec![at.clone()])?;
        at = number::sum(Sum::Plus, &at, &step)?.unwrap_or(Value::Null);
    }
}

fn through(machine: &mut dyn Machine, this: &Value, given: &[Value], by: i64) -> Outcome {
    let (from, to) = (
        number::long_of(this).unwrap_or(0),
        number::long_of(&given[0]).unwrap_or(0),
    );
    let mut at = from;
    while (by > 0 && at <= to) || (by < 0 && at >= to) {
        machine.work(1)?;
        machine.call(&given[1], vec![Value::whole(at)])?;
        at += by;
    }
    Ok(Value::Null)
}

fn bits(how: Bits, this: &Value, given: &[Value], name: &str) -> Outcome {
    number::bits(how, this, &given[0])?.ok_or_else(|| super::missing(this, name, given))
}

pub(super) static METHODS: Table = Table::new(&[
    row("intValue", 0, 0, |_, this, _| {
        Ok(Value::Int(number::int_of(this).unwrap_or(0)))
    }),
    row("toInteger", 0, 0, |_, this, _| {
        Ok(Value::Int(number::int_of(this).unwrap_or(0)))
    }),
    row("longValue", 0, 0, |_, this, _| {
        Ok(Value::Long(number::long_of(this).unwrap_or(0)))
    }),
    row("toLong", 0, 0, |_, this, _| {
        Ok(Value::Long(number::long_of(this).unwrap_or(0)))
    }),
    row("doubleValue", 0, 0, |_, this, _| {
        Ok(Value::Double(double(this)))
    }),
    row("toDouble", 0, 0, |_, this, _| {
        Ok(Value::Double(double(this)))
    }),
    row("floatValue", 0, 0, |_, this, _| {
        Ok(Value::Float(double(this) as f32))
    }),
    row("toFloat", 0, 0, |_, this, _| {
        Ok(Value::Float(double(this) as f32))
    }),
    row("byteValue", 0, 0, |_, this, _| {
        Ok(Value::Byte(number::long_of(this).unwrap_or(0) as i8))
    }),
    row("shortValue", 0, 0, |_, this, _| {
        Ok(Value::Int(i32::from(
            number::long_of(this).unwrap_or(0) as i16
        )))
    }),
    row("toBigDecimal", 0, 0, |_, this, _| {
        Ok(number::decimal(decimal(this)?))
    }),
    row("toBigInteger", 0, 0, |_, this, _| {
        Ok(Value::Whole(Rc::new(whole(this))))
    }),
    row("abs", 0, 0, |_, this, _| {
        Ok(number::without_sign(this).unwrap_or(Value::Null))
    }),
    row("negate", 0, 0, |_, this, _| {
        Ok(number::negated(this).unwrap_or(Value::Null))
    }),
    row("plus", 1, 1, |machine, this, given| match &given[0] {
        Value::Text(_) | Value::Composed(_) => {
            let text = print::text(this) + &print::text(&given[0]);
            machine.take(text.len())?;
            Ok(Value::text(text))
        }
        _ => summed(Sum::Plus, this, given, "plus"),
    }),
    row("add", 1, 1, |_, this, given| {
        summed(Sum::Plus, this, given, "add")
    }),
    row("minus", 1, 1, |_, this, given| {
        summed(Sum::Minus, this, given, "minus")
    }),
    row("subtract", 1, 1, |_, this, given| {
        summed(Sum::Minus, this, given, "subtract")
    }),
    row("multiply", 1, 1, |_, this, given| {
        summed(Sum::Times, this, given, "multiply")
    }),
    row("mod", 1, 1, |_, this, given| {
        summed(Sum::Remainder, this, given, "mod")
    }),
    row("remainder", 1, 1, |_, this, given| {
        if !matches!(this, Value::Decimal(_)) {
            return summed(Sum::Remainder, this, given, "remainder");
        }
        let other = number::decimal_of(&given[0])
            .ok_or_else(|| super::missing(this, "remainder", given))?;
        let rest = decimal(this)?
            .remainder(&other)
            .ok_or_else(|| Thrown::of("java.lang.ArithmeticException", "Division by zero"))?;
        Ok(number::decimal(rest))
    }),
    row("div", 1, 1, |_, this, given| {
        number::divide(this, &given[0])?.ok_or_else(|| super::missing(this, "div", given))
    }),
    row("divide", 1, 1, |_, this, given| match this {
        Value::Whole(_) => number::divide_whole(this, &given[0])?
            .ok_or_else(|| super::missing(this, "divide", given)),
        Value::Decimal(one) => {
            let quotient = number::divide(this, &given[0])?;
            let quotient = quotient.ok_or_else(|| super::missing(this, "divide", given))?;
            let back = decimal(&quotient)?.times(&decimal(&given[0])?);
            match back.is_some_and(|back| back.compare(one).is_eq()) {
                true => Ok(quotient),
                false => Err(Thrown::of(
                    "java.lang.ArithmeticException",
                    "Non-terminating decimal expansion; no exact representable decimal result.",
                )),
            }
        }
        _ => number::divide(this, &given[0])?.ok_or_else(|| super::missing(this, "divide", given)),
    }),
    row("divide", 2, 3, |_, this, given| {
        let scale = if given.len() == 3 {
            int_of(given, 1)?
        } else {
            decimal(this)?.scale
        };
        let (one, other) = (decimal(this)?, decimal(&given[0])?);
        let wide = Decimal {
            digits: &one.digits * BigInt::from(10).pow(60),
            scale: one.scale + 60,
        };
        let quotient = wide
            .divided_by(&other)
            .ok_or_else(|| Thrown::of("java.lang.ArithmeticException", "Division by zero"))?;
        Ok(number::decimal(
            quotient.rounded(scale, rounding(given.last())),
        ))
    }),
    row("intdiv", 1, 1, |_, this, given| {
        number::divide_whole(this, &given[0])?.ok_or_else(|| super::missing(this, "intdiv", given))
    }),
    row("power", 1, 1, |_, this, given| {
        number::power(this, &given[0])?.ok_or_else(|| super::missing(this, "power", given))
    }),
    row("pow", 1, 1, |_, this, given| {
        number::power(this, &given[0])?.ok_or_else(|| super::missing(this, "pow", given))
    }),
    row("and", 1, 1, |_, this, given| {
        bits(Bits::And, this, given, "and")
    }),
    row("or", 1, 1, |_, this, given| {
        bits(Bits::Or, this, given, "or")
    }),
    row("xor", 1, 1, |_, this, given| {
        bits(Bits::Xor, this, given, "xor")
    }),
    row("next", 0, 0, |_, this, _| {
        Ok(number::stepped(this, true).unwrap_or(Value::Null))
    }),
    row("previous", 0, 0, |_, this, _| {
        Ok(number::stepped(this, false).unwrap_or(Value::Null))
    }),
    row("times", 1, 1, times),
    row("upto", 2, 2, |machine, this, given| {
        through(machine, this, given, 1)
    }),
    row("downto", 2, 2, |machine, this, given| {
        through(machine, this, given, -1)
    }),
    row("step", 3, 3, stepped),
    row("round", 0, 1, |_, this, given| rounded(this, given)),
    row("trunc", 0, 1, |_, this, given| truncated(this, given)),
    row("setScale", 1, 2, |_, this, given| {
        let scale = int_of(given, 0)?;
        let one = decimal(this)?;
        let exact = one.rounded(scale, Rounding::Down);
        if given.len() == 1 && exact.compare(&one).is_ne() {
            return Err(Thrown::of(
                "java.lang.ArithmeticException",
                "Rounding necessary",
            ));
        }
        Ok(number::decimal(one.rounded(scale, rounding(given.get(1)))))
    }),
    row("scale", 0, 0, |_, this, _| {
        Ok(Value::Int(decimal(this)?.scale))
    }),
    row("precision", 0, 0, |_, this, _| {
        Ok(Value::Int(decimal(this)?.precision()))
    }),
    row("stripTrailingZeros", 0, 0, |_, this, _| {
        Ok(number::decimal(decimal(this)?.without_zeros()))
    }),
    row("toPlainString", 0, 0, |_, this, _| {
        Ok(Value::text(decimal(this)?.plain()))
    }),
    row("signum", 0, 0, |_, this, _| {
        let digits = decimal(this)?.digits;
        Ok(Value::Int(if digits.is_zero() {
            0
        } else if digits.is_negative() {
            -1
        } else {
            1
        }))
    }),
    row("isNaN", 0, 0, |_, this, _| {
        Ok(Value::Truth(double(this).is_nan()))
    }),
    row("isInfinite", 0, 0, |_, this, _| {
        Ok(Value::Truth(double(this).is_infinite()))
    }),
    row("compareTo", 1, 1, |_, this, given| {
        Ok(Value::Int(order::compare(this, &given[0])? as i32))
    }),
    row("max", 1, 1, |_, this, given| {
        Ok(if order::compare(this, &given[0])?.is_ge() {
            this.clone()
        } else {
            given[0].clone()
        })
    }),
    row("min", 1, 1, |_, this, given| {
        Ok(if order::compare(this, &given[0])?.is_le() {
            this.clone()
        } else {
            given[0].clone()
        })
    }),
    row("mod", 1, 1, |_, this, given| {
        summed(Sum::Remainder, this, given, "mod")
    }),
    row("modPow", 2, 2, |_, this, given| {
        Ok(Value::Whole(Rc::new(
            whole(this).modpow(&whole(&given[0]), &whole(&given[1])),
        )))
    }),
    row("bitLength", 0, 0, |_, this, _| {
        Ok(Value::Int(whole(this).bits().to_i32().unwrap_or(i32::MAX)))
    }),
    row("toString", 1, 1, |_, this, given| {
        let radix = int_of(given, 0)?.clamp(2, 36).unsigned_abs();
        Ok(Value::text(whole(this).to_str_radix(radix)))
    }),
    row("toCharacter", 0, 0, |_, this, _| {
        let code = number::int_of(this).unwrap_or(0).cast_unsigned();
        Ok(char::from_u32(code).map_or(Value::Null, Value::Char))
    }),
    row("getDays", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::DAYS, 1))
    }),
    row("getDay", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::DAYS, 1))
    }),
    row("getWeeks", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::DAYS, 7))
    }),
    row("getWeek", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::DAYS, 7))
    }),
    row("getHours", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::HOURS, 1))
    }),
    row("getHour", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::HOURS, 1))
    }),
    row("getMinutes", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::MINUTES, 1))
    }),
    row("getMinute", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::MINUTES, 1))
    }),
    row("getSeconds", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::SECONDS, 1))
    }),
    row("getSecond", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::SECONDS, 1))
    }),
    row("getMilliseconds", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::MILLIS, 1))
    }),
    row("getMonths", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::MONTHS, 1))
    }),
    row("getMonth", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::MONTHS, 1))
    }),
    row("getYears", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::YEARS, 1))
    }),
    row("getYear", 0, 0, |_, this, _| {
        Ok(units::duration(this, units::YEARS, 1))
    }),
]);
