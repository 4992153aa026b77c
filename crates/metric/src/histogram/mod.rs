//! The histogram: base-2 exponential buckets at scale 9 for any finite value, positive, negative or zero.
//!
//! Must not know units, times or what the values mean. Invariant: merging is exact, associative and commutative,
//! and the size depends on the spread of the values only.

mod buckets;
mod encoding;
mod packed;
mod scale;

use crate::NotFinite;
use buckets::Buckets;
pub use encoding::DecodeError;
use scale::index_of_f64;
pub use scale::{MAX_INDEX, MIN_INDEX, SCALE, index_of_u64, lower_bound, midpoint, upper_bound};

/// One non-empty bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Bucket number at the histogram's scale: `2^(index/2^scale) < |v| <= 2^((index+1)/2^scale)`, as
    /// OpenTelemetry numbers them. Prometheus numbers by the upper bound: its index is this one plus 1.
    pub index: i32,
    /// Values in the bucket, never 0.
    pub count: u64,
}

/// A distribution of finite values, each known to within 0.068 %.
///
/// Counts saturate at `u64::MAX`; they never wrap. Serialized (in self-describing formats) as
/// `{"scale":9,"zero":n,"positive":{"offset":i,"counts":[…]},"negative":{…}}`: `offset` is the index of the
/// first bucket, a positive number is the count of the next bucket, and a negative number `-g` skips `g` empty
/// buckets. Empty parts are omitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    count: u64,
    zero: u64,
    positive: Buckets,
    negative: Buckets,
}

impl Histogram {
    /// An empty histogram; allocates nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records one integer.
    #[inline]
    pub fn record_u64(&mut self, value: u64) {
        self.count = self.count.saturating_add(1);
        if value == 0 {
            self.zero = self.zero.saturating_add(1);
        } else {
            self.positive.add_one(index_of_u64(value));
        }
    }

    /// Records an integer `n` times.
    #[inline]
    pub fn record_u64_n(&mut self, value: u64, n: u64) {
        self.count = self.count.saturating_add(n);
        if value == 0 {
            self.zero = self.zero.saturating_add(n);
        } else {
            self.positive.add(index_of_u64(value), n);
        }
    }

    /// Records one value.
    ///
    /// # Errors
    /// [`NotFinite`] for NaN and the infinities, which no bucket can hold; nothing is recorded.
    #[inline]
    pub fn record_f64(&mut self, value: f64) -> Result<(), NotFinite> {
        self.record_f64_n(value, 1)
    }

    /// Records a value `n` times.
    ///
    /// # Errors
    /// As for [`Self::record_f64`].
    #[inline]
    pub fn record_f64_n(&mut self, value: f64, n: u64) -> Result<(), NotFinite> {
        NotFinite::check(value)?;
        self.count = self.count.saturating_add(n);
        if value == 0.0 {
            self.zero = self.zero.saturating_add(n);
        } else if value > 0.0 {
            self.positive.add(index_of_f64(value), n);
        } else {
            self.negative.add(index_of_f64(value), n);
        }
        Ok(())
    }

    /// Values recorded.
    #[inline]
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Values that were exactly zero.
    #[must_use]
    pub fn zero_count(&self) -> u64 {
        self.zero
    }

    /// The non-empty buckets of positive values, ascending by index.
    pub fn positive(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.positive
            .iter()
            .map(|(index, count)| Bucket { index, count })
    }

    /// The non-empty buckets of negative values, ascending by index, thus by magnitude.
    pub fn negative(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.negative
            .iter()
            .map(|(index, count)| Bucket { index, count })
    }

    /// Bucket midpoints with their counts, ascending by value.
    pub fn ascending(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let below: Vec<_> = self.negative().collect();
        let below = below
            .into_iter()
            .rev()
            .map(|b| (-midpoint(b.index), b.count));
        let zero = (self.zero > 0).then_some((0.0, self.zero));
        below
            .chain(zero)
            .chain(self.positive().map(|b| (midpoint(b.index), b.count)))
    }

    /// The midpoint of the bucket that holds the value of this rank; rank 0 is the smallest value.
    ///
    /// `None` when there are fewer values.
    #[must_use]
    pub fn midpoint_at_rank(&self, rank: u64) -> Option<f64> {
        let mut seen = 0u64;
        self.ascending().find_map(|(value, count)| {
            seen = seen.saturating_add(count);
            (seen > rank).then_some(value)
        })
    }

    /// Merges `other`.
    pub fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.zero = self.zero.saturating_add(other.zero);
        self.positive.merge(&other.positive);
        self.negative.merge(&other.negative);
    }

    /// Clears all values; keeps the memory for reuse.
    pub fn clear(&mut self) {
        self.count = 0;
        self.zero = 0;
        self.positive.clear();
        self.negative.clear();
    }

    /// A copy with memory for non-empty buckets only, for sending.
    #[must_use]
    pub fn compact_copy(&self) -> Self {
        Self {
            count: self.count,
            zero: self.zero,
            positive: self.positive.compact_copy(),
            negative: self.negative.compact_copy(),
        }
    }

    /// The same counts in the wider buckets of a coarser scale; exact, since every wider bucket is a union of ours.
    #[must_use]
    pub fn downscale(&self, schema: Schema) -> Downscaled {
        let shift = SCALE - i32::from(schema.0);
        Downscaled {
            scale: i32::from(schema.0),
            zero: self.zero,
            positive: joined(self.positive(), shift),
            negative: joined(self.negative(), shift),
        }
    }

    /// The same counts in the buckets of a coarser scale, for the values times `factor` (1e-9: from nanoseconds
    /// to seconds). Counts are exact; a value within 0.068 % of a bucket's bound may land on the other side.
    /// Each of our buckets always maps to the same bucket, so counts that grow here also grow there.
    #[must_use]
    pub fn downscale_times(&self, schema: Schema, factor: f64) -> Downscaled {
        let shift = SCALE - i32::from(schema.0);
        let moved = |bucket: Bucket| Bucket {
            index: index_of_f64(midpoint(bucket.index) * factor),
            ..bucket
        };
        Downscaled {
            scale: i32::from(schema.0),
            zero: self.zero,
            positive: joined(self.positive().map(moved), shift),
            negative: joined(self.negative().map(moved), shift),
        }
    }

    /// Memory held on the heap, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.positive.heap_bytes() + self.negative.heap_bytes()
    }
}

/// A coarser bucket scale: each doubling of the value spans `2^schema` buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema(i8);

impl Schema {
    /// `None` outside -10..=8. Prometheus supports -4..=8, OpenTelemetry all of them.
    #[must_use]
    pub fn new(schema: i8) -> Option<Self> {
        (-10..=8).contains(&schema).then_some(Self(schema))
    }
}

/// A histogram re-bucketed by [`Histogram::downscale`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Downscaled {
    /// The scale that the indices are numbered at.
    pub scale: i32,
    /// Values that were exactly zero.
    pub zero: u64,
    /// Ascending by index.
    pub positive: Vec<Bucket>,
    /// Ascending by index, thus by magnitude.
    pub negative: Vec<Bucket>,
}

fn joined(fine: impl Iterator<Item = Bucket>, shift: i32) -> Vec<Bucket> {
    let mut coarse: Vec<Bucket> = Vec::new();
    for bucket in fine {
        let index = bucket.index >> shift;
        if let Some(last) = coarse.last_mut().filter(|last| last.index == index) {
            last.count = last.count.saturating_add(bucket.count);
        } else {
            coarse.push(Bucket { index, ..bucket });
        }
    }
    coarse
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nanoseconds_become_seconds_bucket_by_bucket() {
        let histogram = of(&[0.0, 1_000.0, 250e6, 250.1e6, 1e9, 2.1e9]);
        let schema = Schema::new(3).expect("it is a schema");
        let seconds = histogram.downscale_times(schema, 1e-9);
        assert_eq!(seconds.zero, 1);
        let told: Vec<_> = seconds
            .positive
            .iter()
            .map(|b| (2_f64.powf(f64::from(b.index) / 8.0), b.count))
            .collect();
        for ((lower, count), (value, n)) in
            told.iter().zip([(1e-6, 1), (0.25, 2), (1.0, 1), (2.1, 1)])
        {
            assert_eq!(*count, n);
            let width = 2_f64.powf(0.125) * 1.001;
            assert!(
                *lower <= value * 1.001 && value <= lower * width,
                "{lower} {value}"
            );
        }
        assert_eq!(told.len(), 4);
    }

    fn of(values: &[f64]) -> Histogram {
        let mut histogram = Histogram::new();
        for &value in values {
            histogram.record_f64(value).expect("test values are finite");
        }
        histogram
    }

    fn finite() -> impl Strategy<Value = f64> {
        use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
        prop_oneof![-1e4..1e4, POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO]
    }

    #[test]
    fn only_finite_values_are_taken() {
        let mut histogram = Histogram::new();
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(histogram.record_f64(value), Err(NotFinite));
        }
        assert!(histogram.is_empty());
    }

    #[test]
    fn ascends_from_the_most_negative_value() {
        let histogram = of(&[4.0, -8.0, 0.0, -1.0, 2.0, 2.0]);
        let rounded: Vec<_> = histogram
            .ascending()
            .map(|(v, n)| (v.round() as i64, n))
            .collect();
        assert_eq!(rounded, [(-8, 1), (-1, 1), (0, 1), (2, 2), (4, 1)]);
        assert_eq!(histogram.midpoint_at_rank(2), Some(0.0));
        assert_eq!(histogram.midpoint_at_rank(6), None);
    }

    #[test]
    fn schema_zero_has_one_bucket_per_doubling() {
        let coarse = of(&[1.0, 1.5, 2.0, 2.1, 4.0, 1024.0]).downscale(Schema(0));
        let pairs: Vec<_> = coarse.positive.iter().map(|b| (b.index, b.count)).collect();
        assert_eq!(pairs, [(-1, 1), (0, 2), (1, 2), (9, 1)]);
        assert_eq!(Schema::new(9), None);
        assert_eq!(Schema::new(-11), None);
    }

    #[test]
    fn the_size_does_not_grow_with_the_count() {
        let mut histogram = Histogram::new();
        for round in 0..50 {
            let size = histogram.heap_bytes();
            for value in 1_000..20_000 {
                histogram.record_u64(value);
            }
            assert!(round == 0 || histogram.heap_bytes() == size);
        }
    }

    proptest! {
        #[test]
        fn merging_is_associative_and_commutative(
            a in prop::collection::vec(finite(), 0..150),
            b in prop::collection::vec(finite(), 0..150),
            c in prop::collection::vec(finite(), 0..150),
        ) {
            let (ha, hb, hc) = (of(&a), of(&b), of(&c));
            let whole = of(&[a, b, c].concat());
            let mut left = ha.clone();
            left.merge(&hb);
            left.merge(&hc);
            let mut right = hc.clone();
            right.merge(&hb);
            right.merge(&ha);
            prop_assert_eq!(&left, &whole);
            prop_assert_eq!(&right, &whole);
            prop_assert_eq!(whole.compact_copy(), left);
        }

        #[test]
        fn downscaling_agrees_with_the_definition(values in prop::collection::vec(1e-3..1e6f64, 1..80), schema in -4i8..=8) {
            let coarse = of(&values).downscale(Schema::new(schema).expect("in range"));
            prop_assert_eq!(coarse.positive.iter().map(|b| b.count).sum::<u64>(), values.len() as u64);
            let base = 2f64.powf(2f64.powi(-i32::from(schema)));
            for bucket in coarse.positive {
                let (low, high) = (base.powi(bucket.index), base.powi(bucket.index + 1));
                let inside = values.iter().filter(|&&v| low * (1.0 + 1e-9) < v && v <= high * (1.0 - 1e-9)).count();
                let about = values.iter().filter(|&&v| low * (1.0 - 1e-9) < v && v <= high * (1.0 + 1e-9)).count();
                prop_assert!((inside as u64..=about as u64).contains(&bucket.count));
            }
        }
    }
}
