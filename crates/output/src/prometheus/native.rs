//! Trends as native histograms.
//!
//! Must not know the wire. Source: <https://prometheus.io/docs/specs/native_histograms/>. Invariants: counts
//! are exact, and none ever decreases while values are added, since a value always goes to the same bucket.

use loadline_metric::{Aggregated, Bucket, Downscaled, Schema};

/// Seconds per nanosecond, and per millisecond.
const NANOSECOND: f64 = 1e-9;
const MILLISECOND: f64 = 1e-3;

/// Gap of empty buckets that is written out instead of starting a new span.
const GAP_MAX: i32 = 2;

/// A run of adjacent buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Buckets skipped before it; for the first span, the number of its first bucket.
    pub(super) offset: i32,
    /// Buckets in it.
    pub(super) length: u32,
}

/// Buckets of one sign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) spans: Vec<Span>,
    /// For each bucket, the difference between its count and the previous one.
    pub(super) deltas: Vec<i64>,
}

/// A native histogram.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Native {
    pub(super) schema: i32,
    pub(super) count: u64,
    pub(super) sum: f64,
    pub(super) zero: u64,
    pub(super) positive: Side,
    pub(super) negative: Side,
}

/// The schema whose buckets grow by at most `factor`.
///
/// Chosen like in the client library of Prometheus: the smallest that fits, from -4 to 8.
pub(super) fn schema_of(factor: f64) -> Schema {
    let doublings = factor.max(1.0 + f64::EPSILON).log2().log2();
    let schema = (-doublings.floor()).clamp(-4.0, 8.0) as i8;
    Schema::new(schema).expect("it was held within -4..=8")
}

/// A trend's histogram, in seconds for times; `None` for other kinds.
pub(super) fn native(value: &Aggregated, in_seconds: bool, schema: Schema) -> Option<Native> {
    let (histogram, sum, factor) = match value {
        Aggregated::Times(trend) => (
            trend.histogram(),
            trend.sum() as f64 * NANOSECOND,
            NANOSECOND,
        ),
        Aggregated::Values(trend) if in_seconds => {
            (trend.histogram(), trend.sum() * MILLISECOND, MILLISECOND)
        }
        Aggregated::Values(trend) => (trend.histogram(), trend.sum(), 1.0),
        Aggregated::Counter(_) | Aggregated::Gauge(_) | Aggregated::Rate(_) => return None,
    };
    let buckets = match factor {
        1.0 => histogram.downscale(schema),
        factor => histogram.downscale_times(schema, factor),
    };
    let Downscaled {
        scale,
        zero,
        positive,
        negative,
    } = buckets;
    Some(Native {
        schema: scale,
        count: histogram.count(),
        sum,
        zero,
        positive: side(&positive),
        negative: side(&negative),
    })
}

/// Prometheus numbers a bucket by its upper bound, OpenTelemetry and we by its lower one.
fn side(buckets: &[Bucket]) -> Side {
    let mut side = Side::default();
    let (mut next, mut last) = (0, 0_i64);
    for bucket in buckets {
        let index = bucket.index + 1;
        let gap = index - next;
        match side.spans.last_mut() {
            Some(span) if gap <= GAP_MAX => {
                span.length += gap as u32 + 1;
                for _ in 0..gap {
                    side.deltas.push(-last);
                    last = 0;
                }
            }
            _ => side.spans.push(Span {
                offset: gap,
                length: 1,
            }),
        }
        let count = i64::try_from(bucket.count).unwrap_or(i64::MAX);
        side.deltas.push(count - last);
        (last, next) = (count, index + 1);
    }
    side
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_metric::{TimeTrend, ValueTrend};
    use proptest::prelude::*;

    #[test]
    fn factors_choose_the_schema_of_the_client_library() {
        for (factor, schema) in [
            (1.1, 3),
            (1.2, 2),
            (1.01, 7),
            (2.0, 0),
            (4.0, -1),
            (1.001, 8),
        ] {
            assert_eq!(
                schema_of(factor),
                Schema::new(schema).expect("a schema"),
                "{factor}"
            );
        }
    }

    /// The count of every bucket, by number.
    fn spread(side: &Side) -> Vec<(i32, i64)> {
        let (mut index, mut count, mut deltas) = (0, 0, side.deltas.iter());
        let mut buckets = Vec::new();
        for span in &side.spans {
            index += span.offset;
            for _ in 0..span.length {
                count += deltas.next().expect("a delta for each bucket");
                buckets.push((index, count));
                index += 1;
            }
        }
        assert!(deltas.next().is_none());
        buckets.retain(|(_, count)| *count > 0);
        buckets
    }

    #[test]
    fn a_bucket_is_numbered_by_its_upper_bound() {
        let mut trend = ValueTrend::new();
        for value in [1.0, 2.0, 2.1, -2.0, 0.0] {
            trend.record(value).expect("finite");
        }
        let told = native(&Aggregated::Values(trend), false, schema_of(2.0)).expect("a trend");
        // Schema 0: bucket 0 is (0.5, 1], bucket 1 is (1, 2], bucket 2 is (2, 4].
        assert_eq!(spread(&told.positive), [(0, 1), (1, 1), (2, 1)]);
        assert_eq!(spread(&told.negative), [(1, 1)]);
        assert_eq!((told.zero, told.count, told.schema), (1, 5, 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn no_count_ever_falls(values in prop::collection::vec(0_u64..5_000_000_000, 1..100)) {
            let mut trend = TimeTrend::new();
            let mut before = Native::default();
            for value in values {
                trend.record(value);
                let now = native(&Aggregated::Times(trend.clone()), true, schema_of(1.1))
                    .expect("a trend");
                let known = spread(&now.positive);
                for (index, count) in spread(&before.positive) {
                    let later = known.iter().find(|(other, _)| *other == index);
                    prop_assert!(later.is_some_and(|(_, later)| *later >= count));
                }
                let sum: i64 = known.iter().map(|(_, count)| count).sum();
                prop_assert_eq!(sum as u64 + now.zero, now.count);
                before = now;
            }
        }
    }
}
