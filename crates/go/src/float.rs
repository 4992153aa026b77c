//! Floating-point numbers as formatted and parsed by Go's `strconv`.
//!
//! Must not know flags or widths. Invariant: without a precision, the result has the shortest digits that parse
//! to the same number.

use crate::integer::{NumberFault, message};
use crate::syntax::{split_sign, without_underscores};

/// The digits of a finite number: `0.d1d2d3… × 10^point`.
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    point: i32,
}

/// Digits after the point that any number has at most (1,074), with some to spare: further ones are zeros, which Rust's
/// own formatting refuses to write beyond 65,535.
const PLACES_MAX: usize = 1_100;

/// Formats with verb `e`, `f` or `g` (upper case for an upper-case exponent); without a precision with the
/// shortest digits.
#[must_use]
pub fn format(value: f64, verb: char, precision: Option<usize>) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    match verb {
        'f' | 'F' => fixed(value, precision),
        'g' | 'G' => general(value, verb, precision),
        _ => exponent(&decimal(value, precision.map(|digits| digits + 1)), verb),
    }
}

/// A number in the format of `%v`.
#[must_use]
pub fn shortest(value: f64) -> String {
    format(value, 'g', None)
}

/// Parses a decimal number with optional sign and underscores between digits; `None` if it is invalid or out of
/// range. Names such as `inf` are invalid.
#[must_use]
pub fn parse(text: &str) -> Option<f64> {
    let (negative, unsigned) = split_sign(text);
    let value = unsigned_decimal(unsigned).filter(|value| value.is_finite())?;
    Some(if negative { -value } else { value })
}

/// Parses a number like `strconv.ParseFloat`: decimal, or hexadecimal with a binary exponent, underscores
/// between digits, and the names of infinities and NaN.
///
/// # Errors
/// Go's message.
pub fn parse_float(text: &str) -> Result<f64, String> {
    let (negative, unsigned) = split_sign(text);
    let lower = unsigned.to_ascii_lowercase();
    let value = match lower.as_str() {
        "inf" | "infinity" => {
            return Ok(if negative {
                -f64::INFINITY
            } else {
                f64::INFINITY
            });
        }
        "nan" if unsigned.len() == text.len() => return Ok(f64::NAN),
        _ => match lower.strip_prefix("0x") {
            Some(digits) => hexadecimal(digits),
            None => unsigned_decimal(&lower),
        },
    };
    let refused = |fault| Err(message("ParseFloat", text, fault));
    match value {
        Some(value) if value.is_finite() => Ok(if negative { -value } else { value }),
        Some(_) => refused(NumberFault::Range),
        None => refused(NumberFault::Syntax),
    }
}

fn unsigned_decimal(text: &str) -> Option<f64> {
    let digits = without_underscores(text, false)?;
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    if digits.starts_with(['-', '+']) || !digits.chars().all(plain) {
        return None;
    }
    digits.parse().ok()
}

/// The part after `0x`: digits with a point, and `p` with a power of two.
fn hexadecimal(text: &str) -> Option<f64> {
    let digits = without_underscores(text, true)?;
    let (mantissa, exponent) = digits.split_once('p')?;
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

fn decimal(value: f64, digits: Option<usize>) -> Decimal {
    let text = match digits {
        Some(digits) => format!(
            "{:.*e}",
            digits.saturating_sub(1).min(PLACES_MAX),
            value.abs()
        ),
        None => format!("{:e}", value.abs()),
    };
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let mut shown: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    shown.resize(shown.len().max(digits.unwrap_or(0)), b'0');
    Decimal {
        negative: value.is_sign_negative(),
        digits: shown,
        point: power.parse::<i32>().unwrap_or(0) + 1,
    }
}

fn fixed(value: f64, precision: Option<usize>) -> String {
    match precision {
        Some(digits) => {
            let exact = digits.min(PLACES_MAX);
            format!("{value:.exact$}") + &"0".repeat(digits - exact)
        }
        None => format!("{value}"),
    }
}

fn general(value: f64, verb: char, precision: Option<usize>) -> String {
    let wanted = precision.map(|digits| digits.max(1));
    let mut decimal = decimal(value, wanted);
    while decimal.digits.len() > 1 && decimal.digits.last() == Some(&b'0') {
        decimal.digits.pop();
    }
    let count = decimal.digits.len() as i32;
    let threshold = match wanted {
        // Shortest digits switch to an exponent as with a precision of six.
        None => 6,
        Some(wanted) if wanted as i32 > count && count >= decimal.point => count,
        Some(wanted) => wanted as i32,
    };
    let power = decimal.point - 1;
    if value != 0.0 && (power < -4 || power >= threshold) {
        return exponent(&decimal, if verb == 'G' { 'E' } else { 'e' });
    }
    fixed(value, Some((count - decimal.point).max(0) as usize))
}

fn exponent(decimal: &Decimal, verb: char) -> String {
    let mut out = String::from(if decimal.negative { "-" } else { "" });
    let (first, rest) = decimal.digits.split_first().unwrap_or((&b'0', &[]));
    out.push(*first as char);
    if !rest.is_empty() {
        out.push('.');
        out.extend(rest.iter().map(|digit| *digit as char));
    }
    let is_zero = decimal.digits.iter().all(|digit| *digit == b'0');
    let power = if is_zero { 0 } else { decimal.point - 1 };
    out.push(if verb.is_ascii_uppercase() { 'E' } else { 'e' });
    out.push(if power < 0 { '-' } else { '+' });
    out.push_str(&format!("{:02}", power.abs()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_in_go() {
        for (number, expected) in [
            (1.5, "1.5"),
            (-3.0, "-3"),
            (1_234_567.5, "1.2345675e+06"),
            (12_345_678.9, "1.23456789e+07"),
            (1e20, "1e+20"),
            (1e21, "1e+21"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-0.0, "-0"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(shortest(number), expected);
        }
        assert_eq!(format(2.0 / 3.0, 'f', Some(2)), "0.67");
        assert_eq!(format(1234.5678, 'g', Some(3)), "1.23e+03");
        assert_eq!(format(0.0, 'e', None), "0e+00");
        for verb in ['f', 'e', 'g'] {
            let text = format(1.5, verb, Some(70_000));
            let zeros = if verb == 'g' { 0 } else { 69_999 };
            assert!(text.starts_with("1.5"), "{verb}");
            assert_eq!(text.trim_end_matches("e+00").len(), 3 + zeros, "{verb}");
        }
    }

    #[test]
    fn numbers_mean_what_they_mean_to_go() {
        for (text, value) in [
            ("1_000", 1000.0),
            ("0x1p4", 16.0),
            ("0x.8p1", 1.0),
            ("-0X1.8P0", -1.5),
            ("5.", 5.0),
            ("+.5", 0.5),
            ("-Inf", f64::NEG_INFINITY),
            ("+INFINITY", f64::INFINITY),
        ] {
            assert_eq!(parse_float(text), Ok(value), "{text}");
        }
        assert!(parse_float("nan").is_ok_and(f64::is_nan));
        for text in [
            "", "-", "+-1", "1__0", "_1", "1_", "0x", "0xp1", "0x1p", "1e", "+nan", "1 ", "ä",
        ] {
            let refused = parse_float(text).expect_err(text);
            assert_eq!(refused, message("ParseFloat", text, NumberFault::Syntax));
        }
        let refused = parse_float("-1e999").expect_err("it is too large");
        assert_eq!(
            refused,
            r#"strconv.ParseFloat: parsing "-1e999": value out of range"#
        );
    }
}
