//! Accurate sums: 128- and 192-bit integers for nanoseconds, compensated sums for `f64`.
//!
//! Must not know what is summed. Invariant: integer sums are exact and saturate instead of wrapping;
//! compensated sums stay finite.

use serde::{Deserialize, Serialize};

/// The 256-bit product of two 128-bit numbers, as (high, low).
pub(crate) const fn wide_product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (low, cross, other, high) = (a0 * b0, a1 * b0, a0 * b1, a1 * b1);
    let middle = (low >> 64) + (cross & LOW) + (other & LOW);
    (
        high + (cross >> 64) + (other >> 64) + (middle >> 64),
        middle << 64 | low & LOW,
    )
}

/// A sum of squares of `u64` values: 192 bits hold 2^64 of the largest squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Squares {
    low: u128,
    high: u64,
}

impl Squares {
    #[inline]
    pub(crate) fn add(&mut self, value: u64) {
        let square = u128::from(value) * u128::from(value);
        self.add_parts(0, square);
    }

    pub(crate) fn add_n(&mut self, value: u64, n: u64) {
        let square = u128::from(value) * u128::from(value);
        let (high, low) = wide_product(square, u128::from(n));
        self.add_parts(high as u64, low);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.add_parts(other.high, other.low);
    }

    #[inline]
    fn add_parts(&mut self, high: u64, low: u128) {
        let (sum, carry) = self.low.overflowing_add(low);
        self.low = sum;
        // Rare: squares of a second fill 128 bits only after 10^20 of them.
        if carry || high > 0 {
            self.carry_over(high, carry);
        }
    }

    #[cold]
    #[inline(never)]
    fn carry_over(&mut self, high: u64, carry: bool) {
        match self
            .high
            .checked_add(high)
            .and_then(|high| high.checked_add(u64::from(carry)))
        {
            Some(high) => self.high = high,
            None => {
                *self = Self {
                    low: u128::MAX,
                    high: u64::MAX,
                }
            }
        }
    }

    /// The population standard deviation of `count` values with this sum of squares and the sum `sum`:
    /// `sqrt(count * squares - sum^2) / count`, with the difference taken exactly in 256 bits.
    pub(crate) fn stddev(&self, count: u64, sum: u128) -> f64 {
        let (carried, low) = wide_product(self.low, u128::from(count));
        let high = (u128::from(self.high) * u128::from(count)).saturating_add(carried);
        let (sum_high, sum_low) = wide_product(sum, sum);
        // Only saturated sums can make the difference negative.
        if (high, low) < (sum_high, sum_low) {
            return 0.0;
        }
        let (low, borrow) = low.overflowing_sub(sum_low);
        let high = high - sum_high - u128::from(borrow);
        let difference = high as f64 * 2f64.powi(128) + low as f64;
        difference.sqrt() / count as f64
    }

    /// Hexadecimal digits, most significant first.
    pub(crate) fn to_hex(self) -> String {
        match self.high {
            0 => format!("{:x}", self.low),
            high => format!("{high:x}{:032x}", self.low),
        }
    }

    /// `None` unless `digits` is 1 to 48 hexadecimal digits.
    pub(crate) fn from_hex(digits: &str) -> Option<Self> {
        if digits.is_empty() || digits.len() > 48 || !digits.bytes().all(|b| b.is_ascii_hexdigit())
        {
            return None;
        }
        let (high, low) = digits.split_at(digits.len().saturating_sub(32));
        let high = if high.is_empty() {
            0
        } else {
            u64::from_str_radix(high, 16).ok()?
        };
        Some(Self {
            high,
            low: u128::from_str_radix(low, 16).ok()?,
        })
    }
}

/// A sum of `f64` with the rounding errors kept beside it (Neumaier 1974, "Rundungsfehleranalyse einiger
/// Verfahren zur Summation endlicher Summen", method IV).
///
/// Saturates at ±`f64::MAX`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f64; 2]", into = "[f64; 2]")]
pub(crate) struct CompensatedSum {
    sum: f64,
    error: f64,
}

impl From<CompensatedSum> for [f64; 2] {
    fn from(sum: CompensatedSum) -> [f64; 2] {
        sum.parts()
    }
}

/// Parts that are not finite give an empty sum.
impl From<[f64; 2]> for CompensatedSum {
    fn from(parts: [f64; 2]) -> CompensatedSum {
        CompensatedSum::from_parts(parts).unwrap_or_default()
    }
}

impl CompensatedSum {
    /// `None` unless both are finite.
    pub(crate) fn from_parts([sum, error]: [f64; 2]) -> Option<Self> {
        (sum.is_finite() && error.is_finite()).then_some(Self { sum, error })
    }

    /// The rounded sum and what rounding lost.
    pub(crate) fn parts(&self) -> [f64; 2] {
        [self.sum, self.error]
    }

    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        let total = self.sum + value;
        if !total.is_finite() {
            *self = Self {
                sum: f64::MAX.copysign(total),
                error: 0.0,
            };
            return;
        }
        self.error += if self.sum.abs() >= value.abs() {
            (self.sum - total) + value
        } else {
            (value - total) + self.sum
        };
        self.sum = total;
    }

    /// Adds `a * b` with the error of the product.
    pub(crate) fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        if product.is_finite() {
            self.add(product);
            self.add(a.mul_add(b, -product));
        } else {
            self.add(f64::MAX.copysign(product));
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.add(other.sum);
        self.add(other.error);
    }

    pub(crate) fn value(&self) -> f64 {
        (self.sum + self.error).clamp(f64::MIN, f64::MAX)
    }

    /// The population standard deviation of `count` values with this sum of squares and the sum `sum`.
    ///
    /// `sqrt((squares - sum^2 / count) / count)`, with the difference taken in doubled precision.
    pub(crate) fn stddev(&self, count: u64, sum: &Self) -> f64 {
        let n = count as f64;
        let (high, low) = sum.normalized();
        let square = high * high;
        let square_error = high.mul_add(high, -square) + 2.0 * high * low;
        let quotient = square / n;
        let quotient_error = (quotient.mul_add(-n, square) + square_error) / n;
        let (squares, squares_error) = self.normalized();
        let difference = (squares - quotient) + (squares_error - quotient_error);
        // NaN (from squares beyond f64) becomes 0 as well: max() returns the other operand.
        (difference / n).max(0.0).sqrt()
    }

    fn normalized(&self) -> (f64, f64) {
        let high = self.value();
        (high, (self.sum - high) + self.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn squares_of_the_largest_values_are_exact() {
        let mut one_by_one = Squares::default();
        for _ in 0..3 {
            one_by_one.add(u64::MAX);
        }
        let mut at_once = Squares::default();
        at_once.add_n(u64::MAX, 3);
        assert_eq!(one_by_one, at_once);
        assert_eq!(at_once.to_hex(), "2fffffffffffffffa0000000000000003");
        at_once.add_n(u64::MAX, u64::MAX);
        at_once.add_n(u64::MAX, u64::MAX);
        assert_eq!(
            at_once,
            Squares {
                low: u128::MAX,
                high: u64::MAX
            }
        );
    }

    #[test]
    fn a_spread_of_one_on_a_large_mean_is_seen() {
        let mut squares = Squares::default();
        let base = u64::MAX - 2;
        squares.add(base);
        squares.add(base + 2);
        assert_eq!(squares.stddev(2, 2 * u128::from(base) + 2), 1.0);

        let (mut sum, mut squares) = (CompensatedSum::default(), CompensatedSum::default());
        for value in [1e9, 1e9 + 2.0] {
            sum.add(value);
            squares.add_product(value, value);
        }
        assert_eq!(squares.stddev(2, &sum), 1.0);
    }

    #[test]
    fn compensation_keeps_what_a_plain_sum_loses() {
        let mut sum = CompensatedSum::default();
        for value in [1.0, 1e100, 1.0, -1e100] {
            sum.add(value);
        }
        assert_eq!(sum.value(), 2.0);
    }

    #[test]
    fn compensated_sums_stay_finite() {
        let (mut sum, mut squares) = (CompensatedSum::default(), CompensatedSum::default());
        for value in [f64::MAX, f64::MAX, f64::MAX] {
            sum.add(value);
            squares.add_product(value, value);
        }
        assert_eq!(sum.value(), f64::MAX);
        assert!(squares.stddev(3, &sum).is_finite());
    }

    #[test]
    fn bad_hex_is_refused() {
        for text in ["", "g", "+1", "-1", &"f".repeat(49)] {
            assert_eq!(Squares::from_hex(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn wide_products_agree_with_short_ones(a in any::<u64>(), b in any::<u64>(), shift in 0u32..64) {
            let short = u128::from(a) * u128::from(b);
            prop_assert_eq!(wide_product(u128::from(a), u128::from(b)), (0, short));
            let (high, low) = wide_product(u128::from(a) << 64, u128::from(b) << shift);
            prop_assert_eq!((high, low), (short >> (64 - shift), short << (64 + shift)));
        }

        #[test]
        fn hex_reads_back(value in any::<u64>(), n in any::<u64>()) {
            let mut squares = Squares::default();
            squares.add_n(value, n);
            prop_assert_eq!(Squares::from_hex(&squares.to_hex()), Some(squares));
        }
    }
}
