//! Static methods of numbers, texts and `Math`.
//!
//! Must not know clocks. Invariant: a text is either parsed completely, or an exception is thrown.
// tidy: table

use std::cmp::Ordering;
use std::rc::Rc;

use num_bigint::BigInt;

use super::super::convert;
use super::super::decimal::Decimal;
use super::super::eval::{Comparator, MethodReference};
use super::super::number;
use super::super::order;
use super::super::print;
use super::super::table::{MANY, Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Element, Outcome, Value};
use super::Class;
use super::{double_of, int_of, long_of, text_of};

fn real(change: fn(f64) -> f64, given: &[Value]) -> Outcome {
    Ok(Value::Double(change(double_of(given, 0)?)))
}

/// Of two numbers the one that compares to the other as wanted, in the wider of both types.
fn extreme(given: &[Value], wanted: Ordering) -> Outcome {
    let order = order::compare(&given[0], &given[1])?;
    let wider = number::sum(number::Sum::Plus, &given[0], &given[1])?.unwrap_or(Value::Null);
    let picked = match order.is_ge() == wanted.is_ge() {
        true => &given[0],
        false => &given[1],
    };
    Ok(match wider {
        Value::Long(_) => Value::Long(number::long_of(picked).unwrap_or(0)),
        Value::Double(_) => Value::Double(number::double_of(picked).unwrap_or(0.0)),
        _ => picked.clone(),
    })
}

static MATH: Table = Table::new(&[
    row("PI", 0, 0, |_, _, _| {
        Ok(Value::Double(std::f64::consts::PI))
    }),
    row("E", 0, 0, |_, _, _| Ok(Value::Double(std::f64::consts::E))),
    row("abs", 1, 1, |_, _, given| {
        Ok(match &given[0] {
            Value::Decimal(_) | Value::Whole(_) => Value::Double(double_of(given, 0)?.abs()),
            one => number::without_sign(one).unwrap_or(Value::Null),
        })
    }),
    row("max", 2, 2, |_, _, given| extreme(given, Ordering::Greater)),
    row("min", 2, 2, |_, _, given| extreme(given, Ordering::Less)),
    row("floor", 1, 1, |_, _, given| real(f64::floor, given)),
    row("ceil", 1, 1, |_, _, given| real(f64::ceil, given)),
    row("sqrt", 1, 1, |_, _, given| real(f64::sqrt, given)),
    row("cbrt", 1, 1, |_, _, given| real(f64::cbrt, given)),
    row("exp", 1, 1, |_, _, given| real(f64::exp, given)),
    row("log", 1, 1, |_, _, given| real(f64::ln, given)),
    row("log10", 1, 1, |_, _, given| real(f64::log10, given)),
    row("sin", 1, 1, |_, _, given| real(f64::sin, given)),
    row("cos", 1, 1, |_, _, given| real(f64::cos, given)),
    row("tan", 1, 1, |_, _, given| real(f64::tan, given)),
    row("atan", 1, 1, |_, _, given| real(f64::atan, given)),
    row("signum", 1, 1, |_, _, given| {
        real(|one| if one == 0.0 { one } else { one.signum() }, given)
    }),
    row("toRadians", 1, 1, |_, _, given| {
        real(f64::to_radians, given)
    }),
    row("toDegrees", 1, 1, |_, _, given| {
        real(f64::to_degrees, given)
    }),
    row("rint", 1, 1, |_, _, given| {
        real(f64::round_ties_even, given)
    }),
    row("round", 1, 1, |_, _, given| {
        Ok(match &given[0] {
            Value::Float(one) => Value::Int((f64::from(*one) + 0.5).floor() as i32),
            Value::Int(one) => Value::Int(*one),
            _ => Value::Long((double_of(given, 0)? + 0.5).floor() as i64),
        })
    }),
    row("pow", 2, 2, |_, _, given| {
        Ok(Value::Double(
            double_of(given, 0)?.powf(double_of(given, 1)?),
        ))
    }),
    row("hypot", 2, 2, |_, _, given| {
        Ok(Value::Double(
            double_of(given, 0)?.hypot(double_of(given, 1)?),
        ))
    }),
    row("atan2", 2, 2, |_, _, given| {
        Ok(Value::Double(
            double_of(given, 0)?.atan2(double_of(given, 1)?),
        ))
    }),
    row("random", 0, 0, |machine, _, _| {
        let bits = machine.host().random() >> 11;
        Ok(Value::Double(bits as f64 / (1_u64 << 53) as f64))
    }),
    row("floorMod", 2, 2, |_, _, given| match long_of(given, 1)? {
        0 => Err(Thrown::of("java.lang.ArithmeticException", "/ by zero")),
        by => {
            let rest = long_of(given, 0)?.wrapping_rem(by);
            let rest = if rest != 0 && (rest < 0) != (by < 0) {
                rest + by
            } else {
                rest
            };
            Ok(if matches!(given[0], Value::Long(_)) {
                Value::Long(rest)
            } else {
                Value::Int(rest as i32)
            })
        }
    }),
    row("floorDiv", 2, 2, |_, _, given| match long_of(given, 1)? {
        0 => Err(Thrown::of("java.lang.ArithmeticException", "/ by zero")),
        by => {
            let (one, exact) = (long_of(given, 0)?, long_of(given, 0)?.wrapping_rem(by) == 0);
            let quotient = one.wrapping_div(by);
            let quotient = if !exact && (one < 0) != (by < 0) {
                quotient - 1
            } else {
                quotient
            };
            Ok(if matches!(given[0], Value::Long(_)) {
                Value::Long(quotient)
            } else {
                Value::Int(quotient as i32)
            })
        }
    }),
]);

fn parsed(given: &[Value], name: &str) -> Outcome {
    let complaint = |text: &str, radix: &str| {
        let message = format!("For input string: \"{text}\"{radix}");
        Thrown::of("java.lang.NumberFormatException", message)
    };
    if given[0].is_null() {
        return Err(match name {
            "double" | "float" => Thrown::bare("java.lang.NullPointerException"),
            _ => Thrown::of("java.lang.NumberFormatException", "null"),
        });
    }
    let text = print::text(&given[0]);
    if let Some(radix) = given.get(1).and_then(number::int_of) {
        let number = i64::from_str_radix(&text, radix.clamp(2, 36).unsigned_abs());
        let under = if radix == 10 {
            String::new()
        } else {
            format!(" under radix {radix}")
        };
        let number = number.map_err(|_| complaint(&text, &under))?;
        return match name {
            "int" => i32::try_from(number)
                .map(Value::Int)
                .map_err(|_| complaint(&text, &under)),
            _ => Ok(Value::Long(number)),
        };
    }
    match name {
        // Java does not allow blanks around integers.
        "int" | "long" | "byte" if text.trim() != text => Err(complaint(&text, "")),
        _ => convert::parsed(&text, name),
    }
}

/// An integer in digits of another base, without a sign.
fn in_radix(given: &[Value], radix: u32) -> Outcome {
    let bits = match &given[0] {
        Value::Long(number) => number.cast_unsigned(),
        other => u64::from(number::int_of(other).unwrap_or(0).cast_unsigned()),
    };
    Ok(Value::text(BigInt::from(bits).to_str_radix(radix)))
}

fn text_in_radix(given: &[Value]) -> Outcome {
    match given.get(1) {
        Some(radix) => {
            let radix = number::int_of(radix)
                .unwrap_or(10)
                .clamp(2, 36)
                .unsigned_abs();
            Ok(Value::text(
                BigInt::from(long_of(given, 0)?).to_str_radix(radix),
            ))
        }
        None => Ok(Value::text(print::text(&given[0]))),
    }
}

/// `Integer.valueOf` of a number is that number.
fn valued(given: &[Value], name: &str) -> Outcome {
    if given.len() == 1 && given[0].is_number() {
        return Ok(match name {
            "int" => Value::Int(int_of(given, 0)?),
            "long" => Value::Long(long_of(given, 0)?),
            "float" => Value::Float(double_of(given, 0)? as f32),
            _ => Value::Double(double_of(given, 0)?),
        });
    }
    parsed(given, name)
}

fn compared(given: &[Value]) -> Outcome {
    Ok(Value::Int(order::compare(&given[0], &given[1])? as i32))
}

static INTEGER: Table = Table::new(&[
    row("MAX_VALUE", 0, 0, |_, _, _| Ok(Value::Int(i32::MAX))),
    row("MIN_VALUE", 0, 0, |_, _, _| Ok(Value::Int(i32::MIN))),
    row("parseInt", 1, 2, |_, _, given| parsed(given, "int")),
    row("valueOf", 1, 2, |_, _, given| valued(given, "int")),
    row("new", 1, 1, |_, _, given| valued(given, "int")),
    row("toString", 1, 2, |_, _, given| text_in_radix(given)),
    row("toHexString", 1, 1, |_, _, given| in_radix(given, 16)),
    row("toBinaryString", 1, 1, |_, _, given| in_radix(given, 2)),
    row("toOctalString", 1, 1, |_, _, given| in_radix(given, 8)),
    row("compare", 2, 2, |_, _, given| compared(given)),
    row("max", 2, 2, |_, _, given| extreme(given, Ordering::Greater)),
    row("min", 2, 2, |_, _, given| extreme(given, Ordering::Less)),
    row("sum", 2, 2, |_, _, given| {
        Ok(Value::Int(
            int_of(given, 0)?.wrapping_add(int_of(given, 1)?),
        ))
    }),
    row("bitCount", 1, 1, |_, _, given| {
        Ok(Value::Int(int_of(given, 0)?.count_ones().cast_signed()))
    }),
    row("decode", 1, 1, |_, _, given| {
        let text = text_of(given, 0);
        let number =
            loadline_java::numbers::decode(&text).and_then(|number| i32::try_from(number).ok());
        number.map(Value::Int).ok_or_else(|| {
            Thrown::of(
                "java.lang.NumberFormatException",
                format!("For input string: \"{text}\""),
            )
        })
    }),
]);

static LONG: Table = Table::new(&[
    row("MAX_VALUE", 0, 0, |_, _, _| Ok(Value::Long(i64::MAX))),
    row("MIN_VALUE", 0, 0, |_, _, _| Ok(Value::Long(i64::MIN))),
    row("parseLong", 1, 2, |_, _, given| parsed(given, "long")),
    row("valueOf", 1, 2, |_, _, given| valued(given, "long")),
    row("new", 1, 1, |_, _, given| valued(given, "long")),
    row("toString", 1, 2, |_, _, given| text_in_radix(given)),
    row("toHexString", 1, 1, |_, _, given| {
        in_radix(&[Value::Long(long_of(given, 0)?)], 16)
    }),
    row("toBinaryString", 1, 1, |_, _, given| {
        in_radix(&[Value::Long(long_of(given, 0)?)], 2)
    }),
    row("compare", 2, 2, |_, _, given| compared(given)),
    row("max", 2, 2, |_, _, given| extreme(given, Ordering::Greater)),
    row("min", 2, 2, |_, _, given| extreme(given, Ordering::Less)),
]);

static DOUBLE: Table = Table::new(&[
    row("MAX_VALUE", 0, 0, |_, _, _| Ok(Value::Double(f64::MAX))),
    row("MIN_VALUE", 0, 0, |_, _, _| Ok(Value::Double(5e-324))),
    row("NaN", 0, 0, |_, _, _| Ok(Value::Double(f64::NAN))),
    row("POSITIVE_INFINITY", 0, 0, |_, _, _| {
        Ok(Value::Double(f64::INFINITY))
    }),
    row("NEGATIVE_INFINITY", 0, 0, |_, _, _| {
        Ok(Value::Double(f64::NEG_INFINITY))
    }),
    row("parseDouble", 1, 1, |_, _, given| parsed(given, "double")),
    row("valueOf", 1, 1, |_, _, given| valued(given, "double")),
    row("new", 1, 1, |_, _, given| valued(given, "double")),
    row("toString", 1, 1, |_, _, given| {
        Ok(Value::text(print::text(&Value::Double(double_of(
            given, 0,
        )?))))
    }),
    row("compare", 2, 2, |_, _, given| compared(given)),
    row("isNaN", 1, 1, |_, _, given| {
        Ok(Value::Truth(double_of(given, 0)?.is_nan()))
    }),
    row("isInfinite", 1, 1, |_, _, given| {
        Ok(Value::Truth(double_of(given, 0)?.is_infinite()))
    }),
]);

static FLOAT: Table = Table::new(&[
    row("parseFloat", 1, 1, |_, _, given| parsed(given, "float")),
    row("valueOf", 1, 1, |_, _, given| valued(given, "float")),
    row("new", 1, 1, |_, _, given| valued(given, "float")),
    row("MAX_VALUE", 0, 0, |_, _, _| Ok(Value::Float(f32::MAX))),
]);

static BYTE: Table = Table::new(&[
    row("parseByte", 1, 1, |_, _, given| parsed(given, "byte")),
    row("toUnsignedInt", 1, 1, |_, _, given| {
        Ok(Value::Int(int_of(given, 0)? & 0xff))
    }),
]);

static SHORT: Table = Table::new(&[row("parseShort", 1, 1, |_, _, given| parsed(given, "int"))]);

static BOOLEAN: Table = Table::new(&[
    row("TRUE", 0, 0, |_, _, _| Ok(Value::Truth(true))),
    row("FALSE", 0, 0, |_, _, _| Ok(Value::Truth(false))),
    row("parseBoolean", 1, 1, |_, _, given| {
        Ok(Value::Truth(text_of(given, 0).eq_ignore_ascii_case("true")))
    }),
    row("valueOf", 1, 1, |_, _, given| {
        Ok(Value::Truth(text_of(given, 0).eq_ignore_ascii_case("true")))
    }),
    row("new", 1, 1, |_, _, given| {
        Ok(Value::Truth(text_of(given, 0).eq_ignore_ascii_case("true")))
    }),
    row("toString", 1, 1, |_, _, given| {
        Ok(Value::text(text_of(given, 0)))
    }),
]);

fn letter(given: &[Value], test: fn(char) -> bool) -> Outcome {
    let one = match &given[0] {
        Value::Int(code) => char::from_u32(code.cast_unsigned()),
        other => print::text(other).chars().next(),
    };
    Ok(Value::Truth(one.is_some_and(test)))
}

static CHARACTER: Table = Table::new(&[
    row("isDigit", 1, 1, |_, _, given| {
        letter(given, char::is_numeric)
    }),
    row("isLetter", 1, 1, |_, _, given| {
        letter(given, char::is_alphabetic)
    }),
    row("isLetterOrDigit", 1, 1, |_, _, given| {
        letter(given, char::is_alphanumeric)
    }),
    row("isUpperCase", 1, 1, |_, _, given| {
        letter(given, char::is_uppercase)
    }),
    row("isLowerCase", 1, 1, |_, _, given| {
        letter(given, char::is_lowercase)
    }),
    row("isWhitespace", 1, 1, |_, _, given| {
        letter(given, char::is_whitespace)
    }),
    row("toString", 1, 1, |_, _, given| {
        Ok(Value::text(text_of(given, 0)))
    }),
    row("valueOf", 1, 1, |_, _, given| Ok(given[0].clone())),
    row("toUpperCase", 1, 1, |_, _, given| {
        Ok(text_of(given, 0)
            .to_uppercase()
            .chars()
            .next()
            .map_or(Value::Null, Value::Char))
    }),
    row("toLowerCase", 1, 1, |_, _, given| {
        Ok(text_of(given, 0)
            .to_lowercase()
            .chars()
            .next()
            .map_or(Value::Null, Value::Char))
    }),
    row("getNumericValue", 1, 1, |_, _, given| {
        let digit = text_of(given, 0)
            .chars()
            .next()
            .and_then(|one| one.to_digit(36));
        Ok(Value::Int(digit.map_or(-1, u32::cast_signed)))
    }),
    row("digit", 2, 2, |_, _, given| {
        let radix = int_of(given, 1)?.clamp(2, 36).unsigned_abs();
        let digit = text_of(given, 0)
            .chars()
            .next()
            .and_then(|one| one.to_digit(radix));
        Ok(Value::Int(digit.map_or(-1, u32::cast_signed)))
    }),
]);

fn of_bytes(given: &[Value]) -> Outcome {
    let bytes = super::bytes_of(given, 0)?;
    let (bytes, name) = match given.len() {
        3 | 4 => {
            let from = usize::try_from(int_of(given, 1)?).unwrap_or(0);
            let count = usize::try_from(int_of(given, 2)?).unwrap_or(0);
            let part = bytes
                .get(from..from.saturating_add(count))
                .unwrap_or_default();
            (part.to_vec(), given.get(3).map(print::text))
        }
        _ => (bytes, given.get(1).map(print::text)),
    };
    let charset = super::coding::charset(name.as_deref().unwrap_or("UTF-8"))?;
    Ok(Value::text(charset.decode(&bytes).into_owned()))
}

static STRING: Table = Table::new(&[
    row("CASE_INSENSITIVE_ORDER", 0, 0, |_, _, _| {
        let name = "compareToIgnoreCase";
        let by = MethodReference::of_class("java.lang.String", name);
        Ok(Comparator::by(Some(by), false))
    }),
    row("new", 0, 4, |_, _, given| match given.first() {
        None => Ok(Value::text("")),
        Some(Value::List(list)) if list.to_bytes().is_some() => of_bytes(given),
        Some(Value::List(list)) => {
            let mut all = list.copied();
            if given.len() == 3 {
                let from = usize::try_from(int_of(given, 1)?).unwrap_or(usize::MAX);
                let count = usize::try_from(int_of(given, 2)?).unwrap_or(usize::MAX);
                let part = all.get(from..from.saturating_add(count));
                all = part.map(<[Value]>::to_vec).ok_or_else(|| {
                    Thrown::of(
                        "java.lang.StringIndexOutOfBoundsException",
                        format!("offset {from}, count {count}, length {}", all.len()),
                    )
                })?;
            }
            Ok(Value::text(all.iter().map(print::text).collect::<String>()))
        }
        Some(Value::Null) => Err(Thrown::bare("java.lang.NullPointerException")),
        Some(other) => Ok(Value::text(print::text(other))),
    }),
    row("valueOf", 1, 1, |_, _, given| {
        Ok(Value::text(match &given[0] {
            Value::List(list)
                if list.kind == super::super::value::ListKind::Array(Element::Char) =>
            {
                list.copied().iter().map(print::text).collect()
            }
            other => print::java_text(other),
        }))
    }),
    row("copyValueOf", 1, 1, |_, _, given| {
        Ok(Value::text(
            super::spread(given)
                .iter()
                .map(print::text)
                .collect::<String>(),
        ))
    }),
    row(
        "format",
        1,
        MANY,
        |machine, _, given| match print::simple_class_name(&given[0]) {
            "Locale" if given.len() > 1 => Ok(Value::text(super::formatted(
                machine,
                &text_of(given, 1),
                &super::spread(&given[2..]),
            )?)),
            _ => Ok(Value::text(super::formatted(
                machine,
                &text_of(given, 0),
                &super::spread(&given[1..]),
            )?)),
        },
    ),
    row("join", 1, MANY, |machine, _, given| {
        let parts = match &given[1..] {
            [one @ (Value::List(_) | Value::Set(_))] => super::values(machine, one)?,
            many => many.to_vec(),
        };
        let parts: Vec<String> = parts.iter().map(print::java_text).collect();
        Ok(Value::text(parts.join(&text_of(given, 0))))
    }),
]);

fn decimal(given: &[Value]) -> Outcome {
    Ok(number::decimal(match &given[0] {
        Value::Double(number) => Decimal::exactly(*number)
            .ok_or_else(|| Thrown::of("java.lang.NumberFormatException", "Infinite or NaN"))?,
        one if one.is_number() => number::decimal_of(one).unwrap_or_else(|| Decimal::whole(0)),
        other => return convert::parsed(&print::text(other), "BigDecimal"),
    }))
}

static BIG_DECIMAL: Table = Table::new(&[
    row("new", 1, 1, |_, _, given| decimal(given)),
    row("valueOf", 1, 1, |_, _, given| {
        Ok(number::decimal(
            number::decimal_of(&given[0]).unwrap_or_else(|| Decimal::whole(0)),
        ))
    }),
    row("ZERO", 0, 0, |_, _, _| {
        Ok(number::decimal(Decimal::whole(0)))
    }),
    row("ONE", 0, 0, |_, _, _| {
        Ok(number::decimal(Decimal::whole(1)))
    }),
    row("TEN", 0, 0, |_, _, _| {
        Ok(number::decimal(Decimal::whole(10)))
    }),
    row("ROUND_UP", 0, 0, |_, _, _| Ok(Value::Int(0))),
    row("ROUND_DOWN", 0, 0, |_, _, _| Ok(Value::Int(1))),
    row("ROUND_HALF_UP", 0, 0, |_, _, _| Ok(Value::Int(4))),
    row("ROUND_HALF_DOWN", 0, 0, |_, _, _| Ok(Value::Int(5))),
    row("ROUND_HALF_EVEN", 0, 0, |_, _, _| Ok(Value::Int(6))),
]);

static ROUNDING: Table = Table::new(&[
    row("UP", 0, 0, |_, _, _| Ok(Value::text("UP"))),
    row("DOWN", 0, 0, |_, _, _| Ok(Value::text("DOWN"))),
    row("CEILING", 0, 0, |_, _, _| Ok(Value::text("CEILING"))),
    row("FLOOR", 0, 0, |_, _, _| Ok(Value::text("FLOOR"))),
    row("HALF_UP", 0, 0, |_, _, _| Ok(Value::text("HALF_UP"))),
    row("HALF_DOWN", 0, 0, |_, _, _| Ok(Value::text("HALF_DOWN"))),
    row("HALF_EVEN", 0, 0, |_, _, _| Ok(Value::text("HALF_EVEN"))),
]);

static BIG_INTEGER: Table = Table::new(&[
    row("new", 1, 2, |_, _, given| match &given[0] {
        Value::Int(1) if given.len() == 2 => {
            let bytes = super::bytes_of(given, 1)?;
            Ok(Value::Whole(Rc::new(BigInt::from_bytes_be(
                num_bigint::Sign::Plus,
                &bytes,
            ))))
        }
        Value::List(_) => Ok(Value::Whole(Rc::new(BigInt::from_signed_bytes_be(
            &super::bytes_of(given, 0)?,
        )))),
        text if given.len() == 2 => {
            let radix = int_of(given, 1)?.clamp(2, 36).unsigned_abs();
            let text = print::text(text);
            let number = BigInt::parse_bytes(text.as_bytes(), radix);
            let number = number.ok_or_else(|| {
                Thrown::of(
                    "java.lang.NumberFormatException",
                    format!("For input string: \"{text}\""),
                )
            })?;
            Ok(Value::Whole(Rc::new(number)))
        }
        other => convert::parsed(&print::text(other), "BigInteger"),
    }),
    row("valueOf", 1, 1, |_, _, given| {
        Ok(Value::Whole(Rc::new(BigInt::from(long_of(given, 0)?))))
    }),
    row("ZERO", 0, 0, |_, _, _| Ok(Value::Whole(Rc::default()))),
    row("ONE", 0, 0, |_, _, _| {
        Ok(Value::Whole(Rc::new(BigInt::from(1))))
    }),
    row("TWO", 0, 0, |_, _, _| {
        Ok(Value::Whole(Rc::new(BigInt::from(2))))
    }),
    row("TEN", 0, 0, |_, _, _| {
        Ok(Value::Whole(Rc::new(BigInt::from(10))))
    }),
]);

static OBJECTS: Table = Table::new(&[
    row("equals", 2, 2, |_, _, given| {
        Ok(Value::Truth(order::java_equals(&given[0], &given[1])))
    }),
    row("isNull", 1, 1, |_, _, given| {
        Ok(Value::Truth(given[0].is_null()))
    }),
    row("nonNull", 1, 1, |_, _, given| {
        Ok(Value::Truth(!given[0].is_null()))
    }),
    row("toString", 1, 2, |_, _, given| {
        Ok(match (&given[0], given.get(1)) {
            (Value::Null, Some(other)) => other.clone(),
            (one, _) => Value::text(print::java_text(one)),
        })
    }),
    row("hash", 1, MANY, |_, _, given| {
        Ok(Value::Int(order::hash(&Value::list(super::spread(given)))))
    }),
    row("requireNonNullElse", 2, 2, |_, _, given| {
        Ok(given[usize::from(given[0].is_null())].clone())
    }),
    row("requireNonNull", 1, 2, |_, _, given| match &given[0] {
        Value::Null => Err(Thrown::bare("java.lang.NullPointerException")),
        one => Ok(one.clone()),
    }),
]);

/// The classes with static methods in this file.
pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.lang.Math",
        statics: &MATH,
    },
    Class {
        name: "java.lang.StrictMath",
        statics: &MATH,
    },
    Class {
        name: "java.lang.Integer",
        statics: &INTEGER,
    },
    Class {
        name: "java.lang.Long",
        statics: &LONG,
    },
    Class {
        name: "java.lang.Double",
        statics: &DOUBLE,
    },
    Class {
        name: "java.lang.Float",
        statics: &FLOAT,
    },
    Class {
        name: "java.lang.Byte",
        statics: &BYTE,
    },
    Class {
        name: "java.lang.Short",
        statics: &SHORT,
    },
    Class {
        name: "java.lang.Boolean",
        statics: &BOOLEAN,
    },
    Class {
        name: "java.lang.Character",
        statics: &CHARACTER,
    },
    Class {
        name: "java.lang.String",
        statics: &STRING,
    },
    Class {
        name: "java.math.BigDecimal",
        statics: &BIG_DECIMAL,
    },
    Class {
        name: "java.math.BigInteger",
        statics: &BIG_INTEGER,
    },
    Class {
        name: "java.math.RoundingMode",
        statics: &ROUNDING,
    },
    Class {
        name: "java.util.Objects",
        statics: &OBJECTS,
    },
];
