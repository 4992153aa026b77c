//! `java.math.BigDecimal` of up to 38 digits: the type of `1.50b` in JEXL.
//!
//! Must not know operators. Invariant: no rounding.

use std::cmp::Ordering;
use std::fmt;

/// `digits / 10^scale`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    digits: i128,
    scale: i32,
}

/// Maximum scale; plans need no larger ones.
const WIDEST: i32 = 36;

impl Decimal {
    /// Parses `1.50` or `1e3`; `None` if it is invalid or too long.
    pub(super) fn parse(text: &str) -> Option<Decimal> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse().ok()?),
            None => (text, 0_i32),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let unsigned = whole.strip_prefix(['+', '-']).unwrap_or(whole);
        let digits = unsigned.bytes().chain(fraction.bytes());
        if unsigned.len() + fraction.len() == 0 || !digits.clone().all(|byte| byte.is_ascii_digit())
        {
            return None;
        }
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        (scale.abs() <= WIDEST).then_some(Decimal { digits, scale })
    }

    pub(super) fn is_zero(self) -> bool {
        self.digits == 0
    }

    pub(super) fn to_double(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// The part before the decimal point.
    pub(super) fn truncated(self) -> i128 {
        match u32::try_from(self.scale) {
            Ok(scale) => 10_i128
                .checked_pow(scale)
                .map_or(0, |power| self.digits / power),
            Err(_) => self.at_scale(0).map_or(0, |whole| whole.digits),
        }
    }

    pub(super) fn negated(self) -> Decimal {
        Decimal {
            digits: -self.digits,
            ..self
        }
    }

    /// The same number with more decimal places.
    fn at_scale(self, scale: i32) -> Option<Decimal> {
        let power = u32::try_from(scale.checked_sub(self.scale)?).ok()?;
        let digits = self.digits.checked_mul(10_i128.checked_pow(power)?)?;
        Some(Decimal { digits, scale })
    }

    /// Both numbers with the same number of decimal places.
    fn aligned(self, other: Decimal) -> Option<(Decimal, Decimal)> {
        let scale = self.scale.max(other.scale);
        Some((self.at_scale(scale)?, other.at_scale(scale)?))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Decimal) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        match self.aligned(*other) {
            Some((left, right)) => left.digits.partial_cmp(&right.digits),
            None => self.to_double().partial_cmp(&other.to_double()),
        }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let digits = self.digits.unsigned_abs().to_string();
        let length = i32::try_from(digits.len()).unwrap_or(i32::MAX);
        let exponent = length - 1 - self.scale;
        match usize::try_from(self.scale) {
            Ok(0) => write!(out, "{sign}{digits}"),
            Ok(scale) if exponent >= -6 => {
                let padded = format!("{digits:0>width$}", width = scale + 1);
                let (whole, fraction) = padded.split_at(padded.len() - scale);
                write!(out, "{sign}{whole}.{fraction}")
            }
            _ => {
                let (first, rest) = digits.split_at(1);
                let point = if rest.is_empty() { "" } else { "." };
                write!(out, "{sign}{first}{point}{rest}E{exponent:+}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn numbers_are_written_as_they_were() {
        for text in ["2.50", "0.1", "-0.05", "0", "1E+3", "1.0"] {
            assert_eq!(Decimal::parse(text).expect("a number").to_string(), text);
        }
        for refused in [
            "",
            ".",
            "x",
            "1.x",
            "1e",
            "+",
            "1e99999999999",
            "99999999999999999999999999999999999999999",
        ] {
            assert!(Decimal::parse(refused).is_none(), "{refused}");
        }
    }
}
