//! Exact parts of a whole: non-negative fractions in lowest terms.
//!
//! Must not know what they are parts of. Invariant: the denominator is not zero and shares no
//! factor with the numerator.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::SegmentError;

/// Maximum characters of the text that an error message repeats.
const SHOWN_CHARACTERS: usize = 40;

/// A non-negative fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    numerator: u64,
    denominator: u64,
}

impl Ratio {
    /// Zero.
    pub const ZERO: Ratio = Ratio {
        numerator: 0,
        denominator: 1,
    };
    /// One.
    pub const ONE: Ratio = Ratio {
        numerator: 1,
        denominator: 1,
    };

    /// The reduced fraction; `None` if the denominator is zero.
    #[must_use]
    pub fn new(numerator: u64, denominator: u64) -> Option<Ratio> {
        if denominator == 0 {
            return None;
        }
        let common = common_divisor(numerator, denominator);
        Some(Ratio {
            numerator: numerator / common,
            denominator: denominator / common,
        })
    }

    /// The nearest floating-point number.
    pub(super) fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// `self - other` as a reduced numerator and denominator, for `other <= self`.
    pub(super) fn minus(self, other: Ratio) -> (u128, u128) {
        let numerator = u128::from(self.numerator) * u128::from(other.denominator)
            - u128::from(other.numerator) * u128::from(self.denominator);
        let denominator = u128::from(self.denominator) * u128::from(other.denominator);
        let common = greatest_common_divisor(numerator, denominator);
        (numerator / common, denominator / common)
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Ratio) -> Ordering {
        let left = u128::from(self.numerator) * u128::from(other.denominator);
        let right = u128::from(other.numerator) * u128::from(self.denominator);
        left.cmp(&right)
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

impl FromStr for Ratio {
    type Err = SegmentError;

    /// Parses `1/3`, `0.25`, `1` or any of them with a percent sign.
    fn from_str(text: &str) -> Result<Ratio, SegmentError> {
        let trimmed = text.trim();
        let (number, unit) = match trimmed.strip_suffix('%') {
            Some(number) => (number.trim_end(), 100),
            None => (trimmed, 1),
        };
        let (numerator, denominator) = match number.split_once('/') {
            Some((numerator, denominator)) => (digits(numerator)?, digits(denominator)?),
            None => decimal(number)?,
        };
        let denominator = denominator
            .checked_mul(unit)
            .ok_or_else(|| SegmentError::TooFine(shortened(text)))?;
        Ratio::new(numerator, denominator).ok_or_else(|| SegmentError::NotANumber(shortened(text)))
    }
}

/// A decimal number as numerator and power of ten.
fn decimal(text: &str) -> Result<(u64, u64), SegmentError> {
    let Some((whole, fraction)) = text.split_once('.') else {
        return Ok((digits(text)?, 1));
    };
    let places = fraction.trim_end_matches('0');
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) || whole.len() + fraction.len() == 0 {
        return Err(SegmentError::NotANumber(shortened(text)));
    }
    let too_fine = || SegmentError::TooFine(shortened(text));
    let whole = if whole.is_empty() { 0 } else { digits(whole)? };
    let unit = u32::try_from(places.len())
        .ok()
        .and_then(|count| 10_u64.checked_pow(count))
        .ok_or_else(too_fine)?;
    let part = if places.is_empty() {
        0
    } else {
        digits(places)?
    };
    let numerator = whole
        .checked_mul(unit)
        .and_then(|sum| sum.checked_add(part));
    Ok((numerator.ok_or_else(too_fine)?, unit))
}

fn digits(text: &str) -> Result<u64, SegmentError> {
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(SegmentError::NotANumber(shortened(text)));
    }
    text.parse()
        .map_err(|_| SegmentError::TooFine(shortened(text)))
}

/// The text as an error message repeats it: hostile input must not flood a terminal.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(SHOWN_CHARACTERS).collect()
}

/// [`greatest_common_divisor`] of 64-bit numbers.
pub(super) fn common_divisor(a: u64, b: u64) -> u64 {
    let common = greatest_common_divisor(u128::from(a), u128::from(b));
    u64::try_from(common).expect("a divisor is no larger than what it divides")
}

/// The greatest common divisor, by Euclid's algorithm; `a` when `b` is zero.
#[must_use]
pub fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `None` beyond 64 bits.
pub(super) fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    (a / common_divisor(a, b)).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_reduced_and_ordered() {
        assert_eq!(
            "50%".parse(),
            Ok(Ratio {
                numerator: 1,
                denominator: 2
            })
        );
        assert_eq!(
            ".5".parse(),
            Ok(Ratio {
                numerator: 1,
                denominator: 2
            })
        );
        assert_eq!("1.".parse(), Ok(Ratio::ONE));
        assert_eq!(
            "0.2500".parse(),
            Ok(Ratio {
                numerator: 1,
                denominator: 4
            })
        );
        assert_eq!(
            "1/3%".parse(),
            Ok(Ratio {
                numerator: 1,
                denominator: 300
            })
        );
        let third: Ratio = "1/3".parse().expect("a fraction");
        assert!(third > "0.333333333333333333".parse().expect("a decimal"));
        assert!(third < "0.333333333333333334".parse().expect("a decimal"));
        assert_eq!(
            ".".parse::<Ratio>(),
            Err(SegmentError::NotANumber(".".to_owned()))
        );
    }

    #[test]
    fn differences_do_not_overflow() {
        let large = Ratio {
            numerator: u64::MAX - 1,
            denominator: u64::MAX,
        };
        let (numerator, denominator) = Ratio::ONE.minus(large);
        assert_eq!((numerator, denominator), (1, u128::from(u64::MAX)));
        assert_eq!(least_common_multiple(u64::MAX, u64::MAX - 1), None);
    }
}
