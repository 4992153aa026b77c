//! The bucket scale: which bucket a value falls into, and which values a bucket stands for.
//!
//! Knows numbers only; must not know how counts are stored. Source: the base-2 exponential histogram of
//! OpenTelemetry (metrics data model, "ExponentialHistogram") at scale 9, which Prometheus' native
//! histograms share: bucket `i` holds `2^(i/512) < |v| <= 2^((i+1)/512)`.
//!
//! Invariant: the bucket of every finite value is exact, at the bounds too. The bounds are computed at compile
//! time in 126-bit fixed point, and the compiler proves that no rounding is in doubt.

use crate::sum::wide_product;

/// Buckets per doubling are `2^SCALE`.
pub const SCALE: i32 = 9;
/// The bucket of the smallest positive `f64`.
pub const MIN_INDEX: i32 = -1074 * PER_OCTAVE - 1;
/// The bucket of `f64::MAX`.
pub const MAX_INDEX: i32 = 1024 * PER_OCTAVE - 1;

const PER_OCTAVE: i32 = 1 << SCALE;
const BOUNDS_LEN: usize = 1 << SCALE;
/// Slots of the look-up table: at 1,024 a slot is narrower than the narrowest bucket, so it holds at most one bound.
const SLOTS_LEN: usize = 1024;
/// Fraction bits below a slot number.
const SLOT_SHIFT: u32 = 54;
/// The low bits of a slot's entry: the number of bounds below the slot (0..=512).
const PASSED_MASK: u64 = (1 << 10) - 1;
const FIXED_ONE: u128 = 1 << 126;

/// `floor((2^(k/512) - 1) * 2^64)` with the lowest bit clear, for each bucket bound in one octave.
static BOUNDS: [u64; BOUNDS_LEN] = bounds();
/// Per slot: the position of the bound inside it (top 54 bits; all ones if there is none) and the number of
/// bounds below it.
static SLOTS: [u64; SLOTS_LEN] = slots();
/// The arithmetic middle of a bucket over its lower bound: `(1 + 2^(1/512)) / 2`.
const MIDPOINT_FACTOR: f64 = 1.0 + bounds()[1] as f64 / TWO_POW_64 / 2.0;
const TWO_POW_64: f64 = 18_446_744_073_709_551_616.0;

/// The bucket of a non-zero integer. Exact for all of `u64`, also where `f64` would round.
///
/// Zero has no bucket; it gets the bucket of 1.
#[inline]
#[must_use]
pub fn index_of_u64(value: u64) -> i32 {
    let value = value | u64::from(value == 0);
    let zeros = value.leading_zeros();
    index_of(63 - zeros as i32, value << zeros << 1)
}

/// The bucket of a finite value's magnitude, which must not be zero.
#[inline]
pub(crate) fn index_of_f64(value: f64) -> i32 {
    let bits = value.to_bits() & !(1 << 63);
    let exponent = (bits >> 52) as i32;
    if exponent == 0 {
        return index_of_u64(bits) - 1074 * PER_OCTAVE;
    }
    index_of(exponent - 1023, bits << 12)
}

/// The bucket of `2^exponent * (1 + fraction / 2^64)`.
#[inline]
fn index_of(exponent: i32, fraction: u64) -> i32 {
    let entry = SLOTS[(fraction >> SLOT_SHIFT) as usize];
    let passed = (entry & PASSED_MASK) as i32;
    let above = (fraction << (64 - SLOT_SHIFT)) > (entry & !PASSED_MASK);
    exponent * PER_OCTAVE - 1 + passed + i32::from(above)
}

/// The magnitude above which bucket `index` begins (exclusive), to the nearest `f64`.
#[must_use]
pub fn lower_bound(index: i32) -> f64 {
    let (mantissa, exponent) = bound_parts(index);
    scaled(mantissa, exponent)
}

/// The largest magnitude in bucket `index` (inclusive), to the nearest `f64`; `f64::MAX` for the last bucket.
#[must_use]
pub fn upper_bound(index: i32) -> f64 {
    lower_bound(index.saturating_add(1)).min(f64::MAX)
}

/// The value that represents bucket `index`: the middle of its bounds, at most 0.068 % from any normal value in
/// it.
#[must_use]
pub fn midpoint(index: i32) -> f64 {
    let (mantissa, exponent) = bound_parts(index);
    scaled(mantissa * MIDPOINT_FACTOR, exponent)
}

fn bound_parts(index: i32) -> (f64, i32) {
    let within = index.rem_euclid(PER_OCTAVE) as usize;
    let mantissa = 1.0 + BOUNDS[within] as f64 / TWO_POW_64;
    (mantissa, index.div_euclid(PER_OCTAVE))
}

/// `mantissa * 2^exponent`, in two steps so that subnormal results are rounded once.
fn scaled(mantissa: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    mantissa * power_of_two(half) * power_of_two(exponent - half)
}

fn power_of_two(exponent: i32) -> f64 {
    let biased = (exponent + 1023).clamp(1, 2047) as u64;
    f64::from_bits(biased << 52)
}

const fn slots() -> [u64; SLOTS_LEN] {
    let bounds = bounds();
    let mut table = [0; SLOTS_LEN];
    let mut passed = 0;
    let mut slot = 0;
    while slot < SLOTS_LEN {
        let below = passed as u64;
        let mut place = !PASSED_MASK;
        if passed < BOUNDS_LEN && bounds[passed] >> SLOT_SHIFT == slot as u64 {
            place = bounds[passed] << (64 - SLOT_SHIFT);
            passed += 1;
        }
        table[slot] = place | below;
        slot += 1;
    }
    assert!(passed == BOUNDS_LEN, "every bound has a slot of its own");
    table
}

const fn bounds() -> [u64; BOUNDS_LEN] {
    let roots = roots_of_two();
    let mut table = [0; BOUNDS_LEN];
    let mut k = 1;
    while k < BOUNDS_LEN {
        let mut product = FIXED_ONE;
        let mut bit = 0;
        while bit < SCALE as usize {
            if k >> bit & 1 == 1 {
                product = fixed_product(product, roots[SCALE as usize - 1 - bit]);
            }
            bit += 1;
        }
        // Nine floors and nine products err by less than 2^6 units; further than that from a step, the floor is sure.
        let doubt = product & ((1 << 63) - 1);
        assert!(
            doubt > 1 << 8 && doubt < (1 << 63) - (1 << 8),
            "the floor of a bound is in doubt"
        );
        table[k] = ((product - FIXED_ONE) >> 63 << 1) as u64;
        k += 1;
    }
    table
}

/// `2^(1/2), 2^(1/4), ... 2^(1/512)` in fixed point.
const fn roots_of_two() -> [u128; SCALE as usize] {
    let mut roots = [0; SCALE as usize];
    let mut value = 2 * FIXED_ONE;
    let mut i = 0;
    while i < roots.len() {
        value = fixed_root(value);
        roots[i] = value;
        i += 1;
    }
    roots
}

const fn fixed_product(a: u128, b: u128) -> u128 {
    let (high, low) = wide_product(a, b);
    high << 2 | low >> 126
}

/// `floor(sqrt(value * 2^126))`, bit by bit.
const fn fixed_root(value: u128) -> u128 {
    let (limit_high, limit_low) = (value >> 2, value << 126);
    let mut root = 0;
    let mut bit = FIXED_ONE;
    while bit > 0 {
        let (high, low) = wide_product(root | bit, root | bit);
        if high < limit_high || (high == limit_high && low <= limit_low) {
            root |= bit;
        }
        bit >>= 1;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn powers_of_two_end_their_bucket() {
        for exponent in 0..64 {
            assert_eq!(index_of_u64(1 << exponent), exponent * PER_OCTAVE - 1);
        }
        for exponent in -1074..1024 {
            let value = 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
            assert_eq!(
                index_of_f64(value),
                exponent * PER_OCTAVE - 1,
                "2^{exponent}"
            );
        }
        assert_eq!(index_of_u64((1 << 63) + 1), 63 * PER_OCTAVE);
        assert_eq!(index_of_u64(u64::MAX), 64 * PER_OCTAVE - 1);
    }

    #[test]
    fn the_ends_of_f64_have_the_end_buckets() {
        assert_eq!(index_of_f64(f64::MAX), MAX_INDEX);
        assert_eq!(index_of_f64(f64::from_bits(1)), MIN_INDEX);
        assert_eq!(upper_bound(MAX_INDEX), f64::MAX);
        assert!(midpoint(MAX_INDEX).is_finite());
        assert_eq!(midpoint(MIN_INDEX), f64::from_bits(1));
    }

    #[test]
    fn bounds_agree_with_exp2() {
        for k in 0..BOUNDS_LEN as i32 {
            let expected = (f64::from(k) / 512.0).exp2();
            assert!(
                (lower_bound(k) - expected).abs() <= 4.0 * f64::EPSILON,
                "bound {k}"
            );
        }
    }

    #[test]
    fn neighbours_of_every_bound_fall_on_their_own_side() {
        for (k, bound) in BOUNDS.iter().enumerate().skip(1) {
            // The largest 64-bit integer at or below the bound in the octave of 2^63.
            let at = (1 << 63) + (bound >> 1);
            assert_eq!(index_of_u64(at), 63 * PER_OCTAVE + k as i32 - 1);
            assert_eq!(index_of_u64(at + 1), 63 * PER_OCTAVE + k as i32);
        }
    }

    proptest! {
        #[test]
        fn a_bucket_holds_its_value(value in 1u64..1 << 53) {
            let index = index_of_u64(value);
            prop_assert_eq!(index, index_of_f64(value as f64));
            prop_assert!(lower_bound(index) <= value as f64 && value as f64 <= upper_bound(index));
        }

        #[test]
        fn the_midpoint_is_within_a_tenth_of_a_percent(bits in 0u32..63, low in any::<u64>()) {
            let value = (1u64 << bits) | (low & ((1 << bits) - 1));
            let error = (midpoint(index_of_u64(value)) - value as f64).abs() / value as f64;
            prop_assert!(error <= 0.000_68, "{} errs by {}", value, error);
        }

        #[test]
        fn any_normal_value_is_within_a_tenth_of_a_percent(value in proptest::num::f64::NORMAL) {
            let magnitude = value.abs();
            let error = (midpoint(index_of_f64(value)) - magnitude).abs() / magnitude;
            prop_assert!(error <= 0.000_68, "{} errs by {}", value, error);
        }

        #[test]
        fn a_larger_value_never_has_a_lower_bucket(a in any::<u64>(), b in any::<u64>()) {
            let (low, high) = (a.min(b).max(1), a.max(b).max(1));
            prop_assert!(index_of_u64(low) <= index_of_u64(high));
        }
    }
}
