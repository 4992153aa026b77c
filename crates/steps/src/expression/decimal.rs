//! `java.math.BigDecimal` of up to 38 digits: what Groovy makes of `7/2` and `1.50`.
//!
//! Must not know operators. Invariant: no rounding but in a division that does not end.

use std::cmp::Ordering;
use std::fmt;

/// `digits / 10^scale`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    digits: i128,
    scale: i32,
}

/// Scales beyond this are no numbers of a plan.
const WIDEST: i32 = 36;

impl Decimal {
    /// Reads `1.50` or `1e3`; `None` where it is no number, or too long.
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

    /// What is before the point.
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

    /// The same number with more digits after the point.
    fn at_scale(self, scale: i32) -> Option<Decimal> {
        let power = u32::try_from(scale.checked_sub(self.scale)?).ok()?;
        let digits = self.digits.checked_mul(10_i128.checked_pow(power)?)?;
        Some(Decimal { digits, scale })
    }

    /// Both with as many digits after the point.
    fn aligned(self, other: Decimal) -> Option<(Decimal, Decimal)> {
        let scale = self.scale.max(other.scale);
        Some((self.at_scale(scale)?, other.at_scale(scale)?))
    }

    pub(super) fn plus(self, other: Decimal) -> Option<Decimal> {
        let (left, right) = self.aligned(other)?;
        let digits = left.digits.checked_add(right.digits)?;
        Some(Decimal { digits, ..left })
    }

    pub(super) fn times(self, other: Decimal) -> Option<Decimal> {
        let digits = self.digits.checked_mul(other.digits)?;
        let scale = self.scale + other.scale;
        (scale.abs() <= WIDEST).then_some(Decimal { digits, scale })
    }

    pub(super) fn remainder(self, other: Decimal) -> Option<Decimal> {
        let (left, right) = self.aligned(other)?;
        let digits = left.digits.checked_rem(right.digits)?;
        Some(Decimal { digits, ..left })
    }

    /// As Groovy divides: exactly if that ends, else to ten digits more than either has, and as many after the point as
    /// the longer one, at least ten.
    pub(super) fn divided_by(self, other: Decimal) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let preferred = self.scale - other.scale;
        let longest = self.scale.max(other.scale).max(10);
        for scale in preferred.max(-WIDEST)..=WIDEST {
            let (digits, rest) = self.quotient(other, scale)?;
            if rest == 0 {
                return Some(Decimal { digits, scale });
            }
            let precision = self.precision().max(other.precision()) + 10;
            let enough = digits
                .unsigned_abs()
                .checked_ilog10()
                .is_some_and(|log| log + 1 >= precision);
            if enough || scale >= longest && scale > preferred + 24 {
                let (digits, rest) = self.quotient(other, scale.min(longest))?;
                let scale = scale.min(longest);
                return Some(Decimal {
                    digits: round(digits, rest, other.digits),
                    scale,
                });
            }
        }
        None
    }

    /// Digits of the quotient with so many after the point, and what is left.
    fn quotient(self, other: Decimal, scale: i32) -> Option<(i128, i128)> {
        let power = u32::try_from(scale - (self.scale - other.scale)).ok()?;
        let scaled = self.digits.checked_mul(10_i128.checked_pow(power)?)?;
        Some((scaled / other.digits, scaled % other.digits))
    }

    fn precision(self) -> u32 {
        self.digits.unsigned_abs().checked_ilog10().unwrap_or(0) + 1
    }
}

/// Half away from zero.
fn round(digits: i128, rest: i128, divisor: i128) -> i128 {
    let up = rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2);
    let away = if (rest < 0) == (divisor < 0) { 1 } else { -1 };
    if up { digits + away } else { digits }
}

impl From<i64> for Decimal {
    fn from(whole: i64) -> Decimal {
        Decimal {
            digits: i128::from(whole),
            scale: 0,
        }
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

    /// Asked of Groovy 3.
    #[test]
    fn division_is_groovys() {
        let cases = [
            ("7", "2", "3.5"),
            ("6", "2", "3"),
            ("10", "3", "3.3333333333"),
            ("1", "3.0", "0.3333333333"),
            ("22", "7", "3.1428571429"),
            ("1000000", "3", "333333.3333333333"),
            ("1", "8.00", "0.125"),
            ("-2", "3", "-0.6666666667"),
            ("10", "8", "1.25"),
        ];
        for (left, right, expected) in cases {
            let [left_read, right_read] =
                [left, right].map(|text| Decimal::parse(text).expect("a number"));
            let quotient = left_read.divided_by(right_read).expect("a quotient");
            assert_eq!(quotient.to_string(), expected, "{left} / {right}");
        }
    }

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
