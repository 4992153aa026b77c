//! The histogram of the server's own service times, with classic and native Prometheus buckets.
//!
//! It must not know exposition formats. Invariant: both sets of buckets contain exactly `count` values.

/// Upper bounds of the classic buckets in nanoseconds; the last bucket is unbounded.
pub(crate) const BOUNDS_NS: [u64; 15] = [
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    10_000_000_000,
];

/// Schema of the native buckets: each is 2^(1/2^3), that is 9 %, wider than the one before.
pub(crate) const SCHEMA: i32 = 3;
/// Buckets per doubling at that schema.
const PER_DOUBLING: f64 = 8.0;
/// Index of the bucket that holds one nanosecond: ceil(8·log2(1e-9)).
const INDEX_MIN: i32 = -239;
/// Index of the bucket that holds 1,024 s; longer values are counted there.
const INDEX_MAX: i32 = 80;
/// Number of native buckets.
const NATIVE: usize = (INDEX_MAX - INDEX_MIN + 1) as usize;

/// Counts of service times.
#[derive(Debug, Clone)]
pub(crate) struct ServiceTimes {
    pub(crate) count: u64,
    pub(crate) sum_ns: u128,
    /// One per bound, then the unbounded one; not cumulative.
    pub(crate) classic: [u64; BOUNDS_NS.len() + 1],
    native: [u64; NATIVE],
}

impl Default for ServiceTimes {
    fn default() -> Self {
        Self {
            count: 0,
            sum_ns: 0,
            classic: [0; BOUNDS_NS.len() + 1],
            native: [0; NATIVE],
        }
    }
}

impl ServiceTimes {
    /// Counts one value.
    pub(crate) fn record(&mut self, value_ns: u64) {
        self.count += 1;
        self.sum_ns += u128::from(value_ns);
        self.classic[BOUNDS_NS.partition_point(|bound| *bound < value_ns)] += 1;
        self.native[native_slot(value_ns)] += 1;
    }

    /// Adds the counts of another histogram.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        let pairs = self.classic.iter_mut().zip(&other.classic);
        pairs.for_each(|(mine, theirs)| *mine += theirs);
        let pairs = self.native.iter_mut().zip(&other.native);
        pairs.for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Sum in seconds.
    pub(crate) fn sum_seconds(&self) -> f64 {
        self.sum_ns as f64 / 1e9
    }

    /// The native buckets that hold something: index and count, ascending.
    pub(crate) fn native_buckets(&self) -> impl Iterator<Item = (i32, u64)> + '_ {
        let indexed = (INDEX_MIN..=INDEX_MAX).zip(&self.native);
        indexed
            .filter(|(_, count)| **count > 0)
            .map(|(index, count)| (index, *count))
    }
}

/// Bucket `i` holds values in (2^((i-1)/8), 2^(i/8)] seconds (Prometheus native histogram specification).
fn native_slot(value_ns: u64) -> usize {
    let seconds = value_ns.max(1) as f64 / 1e9;
    let index = (seconds.log2() * PER_DOUBLING).ceil() as i32;
    (index.clamp(INDEX_MIN, INDEX_MAX) - INDEX_MIN) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bounds_belong_to_the_bucket_below() {
        let mut times = ServiceTimes::default();
        times.record(100_000);
        times.record(100_001);
        times.record(u64::MAX);
        assert_eq!(&times.classic[..2], &[1, 1]);
        assert_eq!(times.classic[BOUNDS_NS.len()], 1);
        times.record(1_000_000_000);
        // One second is the upper bound of bucket 0.
        assert!(times.native_buckets().any(|bucket| bucket == (0, 1)));
    }

    proptest! {
        #[test]
        fn native_buckets_hold_their_values(value_ns in 1_u64..1_000_000_000_000) {
            let mut times = ServiceTimes::default();
            times.record(value_ns);
            let (index, count) = times.native_buckets().next().unwrap();
            let seconds = value_ns as f64 / 1e9;
            prop_assert_eq!(count, 1);
            prop_assert!(seconds <= 2_f64.powf(f64::from(index) / 8.0) * (1.0 + 1e-12));
            prop_assert!(seconds > 2_f64.powf(f64::from(index - 1) / 8.0) * (1.0 - 1e-12));
        }

        #[test]
        fn merging_equals_recording_together(
            a in prop::collection::vec(any::<u64>(), 0..50), b in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let fill = |values: &[u64]| {
                let mut times = ServiceTimes::default();
                values.iter().for_each(|v| times.record(*v));
                times
            };
            let mut merged = fill(&a);
            merged.merge(&fill(&b));
            let together = fill(&[a, b].concat());
            prop_assert_eq!(merged.count, together.count);
            prop_assert_eq!(merged.sum_ns, together.sum_ns);
            prop_assert_eq!(merged.classic, together.classic);
            prop_assert_eq!(merged.native, together.native);
            prop_assert_eq!(merged.classic.iter().sum::<u64>(), merged.count);
            prop_assert_eq!(merged.native.iter().sum::<u64>(), merged.count);
        }
    }
}
