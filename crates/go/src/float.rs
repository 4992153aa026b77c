//! Floating-point numbers as Go's `strconv.FormatFloat` writes them.
//!
//! Must not know flags or widths. Invariant: without a precision the shortest digits that read back
//! as the same number.

use crate::syntax::without_underscores;

/// The digits of a finite number: `0.d1d2d3… × 10^point`.
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    point: i32,
}

/// Formats with verb `e`, `f` or `g` (upper case for an upper-case exponent); no precision asks for
/// the shortest digits.
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

/// A number as `%v` prints it.
#[must_use]
pub fn shortest(value: f64) -> String {
    format(value, 'g', None)
}

/// A decimal number without a sign or with one, underscores between digits; `None` where it is none or
/// does not fit. Names such as `inf` are none.
#[must_use]
pub fn parse(text: &str) -> Option<f64> {
    let digits = without_underscores(text, false)?;
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    let value: f64 = digits.chars().all(plain).then(|| digits.parse().ok())??;
    value.is_finite().then_some(value)
}

fn decimal(value: f64, digits: Option<usize>) -> Decimal {
    let text = match digits {
        Some(digits) => format!("{:.*e}", digits.saturating_sub(1), value.abs()),
        None => format!("{:e}", value.abs()),
    };
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    Decimal {
        negative: value.is_sign_negative(),
        digits: mantissa.bytes().filter(u8::is_ascii_digit).collect(),
        point: power.parse::<i32>().unwrap_or(0) + 1,
    }
}

fn fixed(value: f64, precision: Option<usize>) -> String {
    match precision {
        Some(digits) => format!("{value:.digits$}"),
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
        // Shortest digits switch to an exponent as if the precision were six.
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
    }
}
