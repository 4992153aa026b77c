//! `java.math.BigDecimal`: decimals of limited but large size, as in Groovy's arithmetic.
//!
//! Must not know operators. Invariant: only divisions without a finite result are rounded.

use std::cmp::Ordering;
use std::fmt;

use num_bigint::BigInt;
use num_traits::{One as _, Signed as _, ToPrimitive as _, Zero as _};

/// `digits / 10^scale`. As in Java, numbers are equal if both digits and scale are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// The digits, without the decimal point.
    pub digits: BigInt,
    /// Number of decimal places; negative: this many zeros follow.
    pub scale: i32,
}

/// Maximum digits: more than any number in a plan has.
const LONGEST: i32 = 10_000;

/// Rounding modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Away from zero.
    Up,
    /// Towards zero.
    Down,
    /// To the next greater or equal number.
    Ceiling,
    /// To the next smaller or equal number.
    Floor,
    /// To the nearest, halves away from zero.
    HalfUp,
    /// To the nearest, halves towards zero.
    HalfDown,
    /// To the nearest, halves to the even one.
    HalfEven,
}

fn ten_to(power: u32) -> BigInt {
    BigInt::from(10).pow(power)
}

impl Decimal {
    /// Parses `1.50` or `1e3`; `None`: it is invalid, or too long.
    #[must_use]
    pub fn parse(text: &str) -> Option<Decimal> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0_i32),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let unsigned = whole.strip_prefix(['+', '-']).unwrap_or(whole);
        let mut all = unsigned.bytes().chain(fraction.bytes());
        if unsigned.len() + fraction.len() == 0
            || text.len() > LONGEST as usize
            || !all.all(|byte| byte.is_ascii_digit())
        {
            return None;
        }
        let digits: BigInt = format!("{unsigned}{fraction}").parse().ok()?;
        let digits = if whole.starts_with('-') {
            -digits
        } else {
            digits
        };
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        (scale.abs() <= LONGEST).then_some(Decimal { digits, scale })
    }

    /// An integer.
    #[must_use]
    pub fn whole(number: impl Into<BigInt>) -> Decimal {
        Decimal {
            digits: number.into(),
            scale: 0,
        }
    }

    /// The decimal that Groovy converts a double to: its shortest digits.
    #[must_use]
    pub fn of_double(number: f64) -> Option<Decimal> {
        if !number.is_finite() {
            return None;
        }
        Decimal::parse(&loadline_java::numbers::double_to_string(number))
    }

    /// The exact value of a double, as from `new BigDecimal(double)`.
    #[must_use]
    pub fn exactly(number: f64) -> Option<Decimal> {
        if !number.is_finite() {
            return None;
        }
        let bits = number.to_bits();
        let exponent = i32::try_from(bits >> 52 & 0x7ff).ok()?;
        let fraction = bits & ((1 << 52) - 1);
        let (fraction, exponent) = match exponent {
            0 => (fraction, -1074),
            _ => (fraction | 1 << 52, exponent - 1075),
        };
        let shift = fraction.trailing_zeros().min(63);
        let (fraction, exponent) = match fraction {
            0 => (0, 0),
            _ => (fraction >> shift, exponent + i32::try_from(shift).ok()?),
        };
        let mut digits = BigInt::from(fraction);
        let mut scale = 0;
        match u32::try_from(exponent) {
            Ok(power) => digits <<= power,
            Err(_) => {
                scale = -exponent;
                digits *= BigInt::from(5).pow(scale.unsigned_abs());
            }
        }
        let digits = if number.is_sign_negative() {
            -digits
        } else {
            digits
        };
        Some(Decimal { digits, scale })
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.digits.is_zero()
    }

    /// The nearest double.
    #[must_use]
    pub fn to_double(&self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// The part before the decimal point.
    #[must_use]
    pub fn truncated(&self) -> BigInt {
        match u32::try_from(self.scale) {
            Ok(scale) => &self.digits / ten_to(scale),
            Err(_) => &self.digits * ten_to(self.scale.unsigned_abs()),
        }
    }

    /// The number with its sign changed.
    #[must_use]
    pub fn negated(&self) -> Decimal {
        Decimal {
            digits: -&self.digits,
            scale: self.scale,
        }
    }

    fn at_scale(&self, scale: i32) -> BigInt {
        let power = scale.saturating_sub(self.scale).max(0).unsigned_abs();
        &self.digits * ten_to(power)
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, other: &Decimal) -> Decimal {
        let scale = self.scale.max(other.scale);
        Decimal {
            digits: self.at_scale(scale) + other.at_scale(scale),
            scale,
        }
    }

    /// The product; `None`: it is too long.
    #[must_use]
    pub fn times(&self, other: &Decimal) -> Option<Decimal> {
        let scale = self.scale.checked_add(other.scale)?;
        let bits = self.digits.bits() + other.digits.bits();
        (scale.abs() <= LONGEST && bits < 200_000).then(|| Decimal {
            digits: &self.digits * &other.digits,
            scale,
        })
    }

    /// What is left of a division; `None`: by zero.
    #[must_use]
    pub fn remainder(&self, other: &Decimal) -> Option<Decimal> {
        let scale = self.scale.max(other.scale);
        let divisor = other.at_scale(scale);
        (!divisor.is_zero()).then(|| Decimal {
            digits: self.at_scale(scale) % divisor,
            scale,
        })
    }

    /// The power; `None`: it is too long.
    #[must_use]
    pub fn raised(&self, exponent: u32) -> Option<Decimal> {
        let scale = self.scale.checked_mul(i32::try_from(exponent).ok()?)?;
        (scale.abs() <= LONGEST).then(|| Decimal {
            digits: self.digits.pow(exponent),
            scale,
        })
    }

    /// Number of digits.
    #[must_use]
    pub fn precision(&self) -> i32 {
        let text = self.digits.magnitude().to_string();
        i32::try_from(text.len()).unwrap_or(i32::MAX)
    }

    /// Divides as Groovy does: exactly if the result is finite, otherwise to ten digits more than either
    /// operand. `None`: by zero.
    #[must_use]
    pub fn divided_by(&self, other: &Decimal) -> Option<Decimal> {
        if other.is_zero() {
            return None;
        }
        let preferred = self.scale.saturating_sub(other.scale);
        if self.is_zero() {
            return Some(Decimal {
                digits: BigInt::zero(),
                scale: preferred.clamp(-LONGEST, LONGEST),
            });
        }
        // Maximum digits of a finite quotient: those of the dividend plus ten thirds of those of the divisor.
        let most = i64::from(self.precision()) + (10 * i64::from(other.precision()) + 2) / 3;
        if let Ok(most) = i32::try_from(most)
            && most <= LONGEST
        {
            let quotient = self.quotient(other, most);
            let back = quotient.times(other);
            if back.is_some_and(|back| back.compare(self) == Ordering::Equal) {
                return Some(quotient.stripped(preferred));
            }
        }
        let precision = self.precision().max(other.precision()) + 10;
        let quotient = self.quotient(other, precision);
        let scale = self.scale.max(other.scale).max(10);
        Some(match quotient.scale > scale {
            true => quotient.rounded(scale, Rounding::HalfUp),
            false => quotient.stripped(preferred),
        })
    }

    /// The quotient, rounded to this number of digits.
    fn quotient(&self, other: &Decimal, precision: i32) -> Decimal {
        let surplus = precision + 3 + other.precision() - self.precision();
        let power = surplus.max(0);
        let digits = &self.digits * ten_to(power.unsigned_abs());
        let whole = &digits / &other.digits;
        let rest = digits % &other.digits;
        let scale = self.scale - other.scale + power;
        // A digit that represents the remainder prevents wrong rounding of halves.
        let sticky = match rest.is_zero() {
            true => BigInt::zero(),
            false if self.digits.is_negative() == other.digits.is_negative() => BigInt::one(),
            false => -BigInt::one(),
        };
        let exact = Decimal {
            digits: whole * 10 + sticky,
            scale: scale + 1,
        };
        let surplus = exact.precision() - precision;
        match surplus > 0 {
            true => exact.rounded(exact.scale - surplus, Rounding::HalfUp),
            false => exact,
        }
    }

    /// Removes trailing zeros, as long as there are more decimal places than preferred.
    fn stripped(mut self, preferred: i32) -> Decimal {
        let ten = BigInt::from(10);
        while self.scale > preferred && (&self.digits % &ten).is_zero() {
            self.digits /= &ten;
            self.scale -= 1;
        }
        self
    }

    /// `stripTrailingZeros`.
    #[must_use]
    pub fn without_zeros(self) -> Decimal {
        if self.is_zero() {
            return Decimal::whole(0);
        }
        self.stripped(-LONGEST)
    }

    /// Rounds to this number of decimal places.
    #[must_use]
    pub fn rounded(&self, scale: i32, how: Rounding) -> Decimal {
        let scale = scale.clamp(-LONGEST, LONGEST);
        if scale >= self.scale {
            return Decimal {
                digits: self.at_scale(scale),
                scale,
            };
        }
        let divisor = ten_to((self.scale - scale).unsigned_abs());
        let whole = &self.digits / &divisor;
        let rest: BigInt = &self.digits % &divisor;
        let twice = rest.abs() * 2;
        let is_negative = self.digits.is_negative();
        let away = match how {
            _ if rest.is_zero() => false,
            Rounding::Up => true,
            Rounding::Down => false,
            Rounding::Ceiling => !is_negative,
            Rounding::Floor => is_negative,
            Rounding::HalfUp => twice >= divisor,
            Rounding::HalfDown => twice > divisor,
            Rounding::HalfEven => {
                let is_odd = !(&whole % 2_u32).is_zero();
                twice > divisor || twice == divisor && is_odd
            }
        };
        let step = match (away, is_negative) {
            (false, _) => BigInt::zero(),
            (true, true) => -BigInt::one(),
            (true, false) => BigInt::one(),
        };
        Decimal {
            digits: whole + step,
            scale,
        }
    }

    /// The order of two numbers, regardless of their scales.
    #[must_use]
    pub fn compare(&self, other: &Decimal) -> Ordering {
        let scale = self.scale.max(other.scale);
        self.at_scale(scale).cmp(&other.at_scale(scale))
    }

    /// The number without an exponent.
    #[must_use]
    pub fn plain(&self) -> String {
        let sign = if self.digits.is_negative() { "-" } else { "" };
        let digits = self.digits.magnitude().to_string();
        match usize::try_from(self.scale) {
            Ok(0) => format!("{sign}{digits}"),
            Ok(scale) if digits.len() > scale => {
                let (whole, fraction) = digits.split_at(digits.len() - scale);
                format!("{sign}{whole}.{fraction}")
            }
            Ok(scale) => format!("{sign}0.{}{digits}", "0".repeat(scale - digits.len())),
            Err(_) if self.is_zero() => "0".to_owned(),
            Err(_) => format!(
                "{sign}{digits}{}",
                "0".repeat(self.scale.unsigned_abs() as usize)
            ),
        }
    }

    /// The integer part as a long, wrapping as in Java.
    #[must_use]
    pub fn to_long(&self) -> i64 {
        wrapped(&self.truncated())
    }
}

/// The lowest 64 bits of an integer.
#[must_use]
pub fn wrapped(number: &BigInt) -> i64 {
    number.to_i64().unwrap_or_else(|| {
        let modulus = BigInt::one() << 64_u32;
        let low: BigInt = ((number % &modulus) + &modulus) % &modulus;
        low.to_u64().unwrap_or(0).cast_signed()
    })
}

impl fmt::Display for Decimal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.digits.magnitude().to_string();
        let adjusted = i64::from(-self.scale) + digits.len() as i64 - 1;
        if self.scale >= 0 && adjusted >= -6 {
            return out.write_str(&self.plain());
        }
        let sign = if self.digits.is_negative() { "-" } else { "" };
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let plus = if adjusted >= 0 { "+" } else { "" };
        write!(out, "{sign}{first}{point}{rest}E{plus}{adjusted}")
    }
}
