//! Amounts of CPU and memory as Kubernetes writes them: `100m`, `1.5Gi`, `2e3`, `128974848`, `123n`.
//!
//! Must not know what is measured. Invariant: a quantity is exact in billionths; finer parts are rounded away
//! from zero, as in Kubernetes, so that a non-zero request never becomes zero.
//!
//! Source of the format: the Kubernetes API reference, "Quantity".

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Billionths in one.
const NANO: i128 = 1_000_000_000;
/// The maximum of a quantity with a binary suffix; Kubernetes caps it there.
const BINARY_MAX: i128 = i64::MAX as i128 * NANO;
/// Maximum digits that are read; a valid number has at most nineteen and nine.
const DIGITS_MAX: usize = 60;

/// An exact amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity {
    nano: i128,
}

/// Why a text is not a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityError {
    /// It does not have the form of one.
    Form,
    /// It is beyond what can be kept exactly.
    TooLarge,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            QuantityError::Form => {
                "is not a quantity: write a number and perhaps one of n u m k M G T P E Ki Mi Gi Ti Pi Ei, as in 250m or 1.5Gi"
            }
            QuantityError::TooLarge => "is too large a quantity",
        })
    }
}

impl std::error::Error for QuantityError {}

impl Quantity {
    /// A quantity from billionths.
    #[must_use]
    pub fn from_nano(nano: i128) -> Quantity {
        Quantity { nano }
    }

    /// In billionths.
    #[must_use]
    pub fn nano(self) -> i128 {
        self.nano
    }

    /// As a number, nearest: cores of CPU, bytes of memory.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        let written = format!("{}e-9", self.nano);
        written
            .parse()
            .expect("a whole number with an exponent is a number")
    }

    /// As an integer, rounded up as in Kubernetes; `None`: negative or beyond 64 bits.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        let up = i128::from(self.nano % NANO > 0);
        u64::try_from(self.nano / NANO + up)
            .ok()
            .filter(|_| self.nano >= 0)
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Quantity, QuantityError> {
        let (is_negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let end = unsigned
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return Err(QuantityError::Form);
        }
        let scale = Scale::of(suffix).ok_or(QuantityError::Form)?;
        let nano = scale.apply(
            whole.trim_start_matches('0'),
            fraction.trim_end_matches('0'),
        )?;
        Ok(Quantity {
            nano: if is_negative { -nano } else { nano },
        })
    }
}

/// The factor of a suffix.
#[derive(Clone, Copy)]
enum Scale {
    /// Two to the power.
    Binary(u32),
    /// Ten to the power.
    Decimal(i32),
}

impl Scale {
    fn of(suffix: &str) -> Option<Scale> {
        Some(match suffix {
            "n" => Scale::Decimal(-9),
            "u" => Scale::Decimal(-6),
            "m" => Scale::Decimal(-3),
            "" => Scale::Decimal(0),
            "k" => Scale::Decimal(3),
            "M" => Scale::Decimal(6),
            "G" => Scale::Decimal(9),
            "T" => Scale::Decimal(12),
            "P" => Scale::Decimal(15),
            "E" => Scale::Decimal(18),
            "Ki" => Scale::Binary(10),
            "Mi" => Scale::Binary(20),
            "Gi" => Scale::Binary(30),
            "Ti" => Scale::Binary(40),
            "Pi" => Scale::Binary(50),
            "Ei" => Scale::Binary(60),
            _ => Scale::Decimal(exponent(suffix)?),
        })
    }

    /// The digits times the scale, in billionths.
    fn apply(self, whole: &str, fraction: &str) -> Result<i128, QuantityError> {
        if whole.is_empty() && fraction.is_empty() {
            return Ok(0);
        }
        if whole.len() + fraction.len() > DIGITS_MAX {
            return Err(QuantityError::TooLarge);
        }
        match self {
            Scale::Decimal(exponent) => decimal(whole, fraction, i64::from(exponent) + 9),
            Scale::Binary(power) => {
                let times = |amount: i128| amount.checked_mul(1 << power);
                // A fraction's digits beyond the billionth still count once they are multiplied.
                let whole = decimal(whole, "", 9)?;
                let whole = times(whole).unwrap_or(BINARY_MAX);
                let fraction = binary_fraction(fraction, power)?;
                Ok(whole.saturating_add(fraction).min(BINARY_MAX))
            }
        }
    }
}

/// The exponent of `e3` or `E-2`.
fn exponent(suffix: &str) -> Option<i32> {
    let number = suffix.strip_prefix(['e', 'E'])?;
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| number.parse().ok())?
}

/// `whole.fraction` times ten to the power, rounded up to a whole number.
fn decimal(whole: &str, fraction: &str, power: i64) -> Result<i128, QuantityError> {
    let digits = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Ok(0);
    }
    let shift = power - fraction.len() as i64;
    let number = |digits: &str| digits.parse::<i128>().map_err(|_| QuantityError::TooLarge);
    if shift >= 0 {
        let shift = u32::try_from(shift).map_err(|_| QuantityError::TooLarge)?;
        let times = 10_i128.checked_pow(shift).ok_or(QuantityError::TooLarge)?;
        return number(digits)?
            .checked_mul(times)
            .ok_or(QuantityError::TooLarge);
    }
    let cut = usize::try_from(-shift).unwrap_or(usize::MAX);
    let kept = digits.len().saturating_sub(cut);
    let up = digits[kept..].bytes().any(|digit| digit != b'0');
    let kept = if kept == 0 {
        0
    } else {
        number(&digits[..kept])?
    };
    kept.checked_add(i128::from(up))
        .ok_or(QuantityError::TooLarge)
}

/// `0.fraction` times two to the power, in billionths, rounded up: long multiplication by halves of the power, since the
/// product may not fit.
fn binary_fraction(fraction: &str, power: u32) -> Result<i128, QuantityError> {
    let mut digits: Vec<u8> = fraction.bytes().map(|digit| digit - b'0').collect();
    let mut whole: i128 = 0;
    for _ in 0..power {
        let mut carry = 0;
        for digit in digits.iter_mut().rev() {
            let doubled = *digit * 2 + carry;
            (*digit, carry) = (doubled % 10, doubled / 10);
        }
        whole = whole * 2 + i128::from(carry);
    }
    let rest: String = digits
        .iter()
        .map(|digit| char::from(b'0' + digit))
        .collect();
    Ok(whole * NANO + decimal("", &rest, 9)?)
}

impl fmt::Display for Quantity {
    /// The shortest of whole numbers with the suffix none, `m`, `u` or `n`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let forms = [(NANO, ""), (1_000_000, "m"), (1000, "u"), (1, "n")];
        let fits = forms.iter().find(|(unit, _)| self.nano % unit == 0);
        let (unit, suffix) = fits.unwrap_or(&(1, "n"));
        write!(f, "{}{suffix}", self.nano / unit)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse()
            .map_err(|error| serde::de::Error::custom(format!("{text:?} {error}")))
    }
}

#[cfg(test)]
mod tests;
