//! Digits: decimals, significant digits, thousands.
//!
//! Must not know units. Invariant: never writes an exponent, nor a zero with a minus.

use std::fmt::Write as _;

/// How many digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digits {
    /// As many as the value has, twelve significant ones at most.
    Shortest,
    /// So many decimals.
    Fixed(u8),
    /// So many decimals, zeros at the end left out; one significant digit where they would show a nothing
    /// that is something.
    AtMost(u8),
    /// So many significant digits.
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
                    let (rounded, decimals) = significant(value, 1);
                    fixed(out, rounded, decimals);
                }
                trim_zeros(begin, out);
            }
            Digits::Significant(digits) => {
                let (rounded, decimals) = significant(value, digits.into());
                fixed(out, rounded, decimals);
            }
            Digits::Shortest => {
                let (rounded, decimals) = significant(value, SHORTEST);
                fixed(out, rounded, decimals);
                trim_zeros(begin, out);
            }
        }
    }
}

/// The value rounded to so many significant digits, and the decimals that show them.
fn significant(value: f64, digits: usize) -> (f64, usize) {
    let written = format!("{value:.*e}", digits.max(1) - 1);
    let rounded = written.parse().unwrap_or(value);
    let exponent = written
        .split('e')
        .nth(1)
        .and_then(|exponent| exponent.parse::<i64>().ok());
    let decimals = digits as i64 - 1 - exponent.unwrap_or(0);
    // Beyond any double's last digit there are zeros only.
    (rounded, decimals.clamp(0, 340) as usize)
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
