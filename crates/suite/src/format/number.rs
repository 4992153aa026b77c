//! Digits: decimals, significant digits, thousands.
//!
//! Must not know units. Invariant: never writes an exponent or a negative zero.

use std::fmt::Write as _;

/// How many digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digits {
    /// As many as the value has, at most twelve significant ones.
    Shortest,
    /// This many decimals.
    Fixed(u8),
    /// At most this many decimals, without trailing zeros; one significant digit if a non-zero value would be shown
    /// as zero.
    AtMost(u8),
    /// This many significant digits.
    Significant(u8),
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) plus: bool,
    pub(super) thousands: bool,
    pub(super) digits: Digits,
}

const SHORTEST: usize = 12;

impl Style {
    pub(super) fn write(&self, value: f64, out: &mut String) {
        let begin = out.len();
        self.write_digits(value, out);
        if is_zero(&out[begin..]) && out[begin..].starts_with('-') {
            out.remove(begin);
        }
        if self.thousands {
            set_apart(begin, out);
        }
        if self.plus && !out[begin..].starts_with('-') {
            out.insert(begin, '+');
        }
    }

    fn write_digits(&self, value: f64, out: &mut String) {
        let begin = out.len();
        let fixed = |out: &mut String, value: f64, decimals: usize| {
            write!(out, "{value:.decimals$}").expect("a string takes everything");
        };
        match self.digits {
            Digits::Fixed(decimals) => fixed(out, value, decimals.into()),
            Digits::AtMost(decimals) => {
                fixed(out, value, decimals.into());
                if value != 0.0 && is_zero(&out[begin..]) {
                    out.truncate(begin);
                    write_significant(value, 1, out);
                }
                trim_zeros(begin, out);
            }
            Digits::Significant(digits) => write_significant(value, digits.into(), out),
            Digits::Shortest if is_counted(value) => {
                write!(out, "{}", value as i64).expect("a string takes everything");
            }
            Digits::Shortest => {
                write_significant(value, SHORTEST, out);
                trim_zeros(begin, out);
            }
        }
    }
}

/// Whether a value is a whole number of no more digits than are written.
fn is_counted(value: f64) -> bool {
    const MANY: f64 = 1e12;
    value.fract() == 0.0 && value.abs() < MANY
}

/// Writes this many significant digits, at least one.
fn write_significant(value: f64, digits: usize, out: &mut String) {
    let written = format!("{value:.*e}", digits.max(1) - 1);
    let parts = written.split_once('e');
    let Some((mantissa, Ok(exponent))) = parts.map(|(left, right)| (left, right.parse::<i32>()))
    else {
        // No number, or none that ends.
        out.push_str(&written);
        return;
    };
    let figures = mantissa.bytes().filter(u8::is_ascii_digit).map(char::from);
    let zeros = |count: i32| std::iter::repeat_n('0', usize::try_from(count).unwrap_or(0));
    if mantissa.starts_with('-') {
        out.push('-');
    }
    if exponent < 0 {
        out.push_str("0.");
        out.extend(zeros(-exponent - 1));
        out.extend(figures);
        return;
    }
    for (at, figure) in (0..).zip(figures) {
        if at == exponent + 1 {
            out.push('.');
        }
        out.push(figure);
    }
    out.extend(zeros(exponent + 1 - digits.max(1) as i32));
}

fn trim_zeros(begin: usize, out: &mut String) {
    if out[begin..].contains('.') {
        let kept = out.trim_end_matches('0').trim_end_matches('.').len();
        out.truncate(kept);
    }
}

fn is_zero(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'))
}

fn set_apart(begin: usize, out: &mut String) {
    let first = begin + usize::from(out[begin..].starts_with('-'));
    let end = out[first..].find('.').map_or(out.len(), |dot| first + dot);
    let mut at = end;
    while at > first + 3 {
        at -= 3;
        out.insert(at, ',');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: f64, digits: Digits) -> String {
        let style = Style {
            plus: false,
            thousands: false,
            digits,
        };
        let mut out = String::new();
        style.write(value, &mut out);
        out
    }

    #[test]
    fn significant_digits_stand_without_an_exponent() {
        for (value, digits, expected) in [
            (0.0, 3, "0.00"),
            (-0.0, 1, "0"),
            (9.996, 3, "10.0"),
            (0.000_123_45, 2, "0.00012"),
            (123_456.0, 2, "120000"),
            (-123.4, 4, "-123.4"),
            (1e21, 2, "1000000000000000000000"),
            (f64::NAN, 2, "NaN"),
            (f64::INFINITY, 2, "inf"),
        ] {
            assert_eq!(written(value, Digits::Significant(digits)), expected);
        }
    }

    #[test]
    fn the_shortest_form_has_no_more_digits_than_the_value() {
        for (value, expected) in [
            (-0.0, "0"),
            (1_234.0, "1234"),
            (-7.0, "-7"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333333333"),
            (1_234_567_890_123.0, "1234567890120"),
        ] {
            assert_eq!(written(value, Digits::Shortest), expected);
        }
    }
}
