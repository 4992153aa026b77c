//! Trends against a sorted list of all values, against HdrHistogram, and against the laws of merging.
//!
//! Knows the public surface only. Invariant: all randomness is seeded.

use hdrhistogram::Histogram as Hdr;
use loadline_metric::{RAW_VALUES_MAX, TimeTrend, ValueTrend};
use proptest::prelude::*;

const QUANTILES: [f64; 9] = [0.0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0];

fn trend(times: &[u64]) -> TimeTrend {
    let mut trend = TimeTrend::new();
    times.iter().for_each(|&ns| trend.record(ns));
    trend
}

fn sorted_quantile(sorted: &[u64], q: f64) -> f64 {
    let position = q * (sorted.len() - 1) as f64;
    let (low, high) = (
        sorted[position.floor() as usize],
        sorted[position.ceil() as usize],
    );
    low as f64 + (high as f64 - low as f64) * position.fract()
}

/// SplitMix64, and the normal law by Box and Muller.
fn lognormal(count: usize, median_ns: f64, sigma: f64) -> impl Iterator<Item = u64> {
    let mut state = 1u64;
    let mut uniform = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((mixed ^ (mixed >> 31)) >> 11) as f64 + 1.0) / (1u64 << 53) as f64
    };
    (0..count).map(move |_| {
        let normal = (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        (median_ns * (sigma * normal).exp()) as u64
    })
}

#[test]
fn few_values_have_the_percentiles_of_k6() {
    let trend = trend(&[10, 40, 20, 30]);
    let expected = [10.0, 25.0, 37.0, 40.0];
    for (q, expected) in [0.0, 0.5, 0.9, 1.0].into_iter().zip(expected) {
        assert_eq!(trend.quantile(q), Some(expected));
    }
    assert_eq!((trend.count(), trend.sum()), (4, 100));
    assert_eq!(
        (trend.min(), trend.max(), trend.mean()),
        (Some(10), Some(40), Some(25.0))
    );
    assert_eq!(trend.stddev(), Some(125f64.sqrt()));
}

#[test]
fn quantiles_out_of_range_are_held_within() {
    let trend = trend(&[1, 2]);
    let expected = [1.0, 2.0, 1.0];
    assert_eq!(
        trend.quantiles(&[-1.0, 7.0, f64::NAN]),
        Some(expected.to_vec())
    );
}

#[test]
fn an_empty_trend_has_no_values() {
    let mut trend = trend(&[5, 6]);
    trend.clear();
    assert!(trend.is_empty());
    assert_eq!(trend, TimeTrend::new());
    assert_eq!(
        (trend.min(), trend.max(), trend.mean(), trend.stddev()),
        (None, None, None, None)
    );
    assert_eq!((trend.quantile(0.5), trend.quantiles(&[])), (None, None));
    assert_eq!(trend.counts_per_bound(&[1.0]), [0, 0]);
    assert!(trend.equal_width_bounds(10).is_empty());
}

#[test]
fn raw_values_go_beyond_their_limit_and_come_back_when_cleared() {
    let mut trend = TimeTrend::new();
    trend.record_n(7, RAW_VALUES_MAX as u64);
    assert_eq!(trend.raw_values().map(<[u64]>::len), Some(RAW_VALUES_MAX));
    trend.record(8);
    assert_eq!(trend.raw_values(), None);
    trend.clear();
    trend.record(9);
    assert_eq!(trend.raw_values(), Some(&[9][..]));
}

#[test]
fn recording_many_at_once_equals_recording_one_by_one() {
    for n in [0, 1, 1_000, 5_000] {
        let mut at_once = trend(&[3, 900]);
        at_once.record_n(123_456_789, n);
        let mut one_by_one = trend(&[3, 900]);
        (0..n).for_each(|_| one_by_one.record(123_456_789));
        assert_eq!(at_once, one_by_one);
        let mut values = ValueTrend::new();
        values.record_n(2.5, n).unwrap();
        assert_eq!((values.count(), values.sum()), (n, 2.5 * n as f64));
    }
}

#[test]
fn ten_equal_steps_make_the_eleven_rows_of_a_histogram() {
    let few = trend(&(0..=100).map(|i| i * 1_000).collect::<Vec<_>>());
    let bounds = few.equal_width_bounds(10);
    assert_eq!((bounds.len(), bounds[0], bounds[10]), (11, 0.0, 100_000.0));
    assert_eq!(
        few.counts_per_bound(&bounds),
        [1, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 0]
    );

    let many: Vec<u64> = (0..5_000).map(|i| 1_000_000 + i * 2_000).collect();
    let many = trend(&many);
    let rows = many.counts_per_bound(&many.equal_width_bounds(10));
    assert_eq!(rows.iter().sum::<u64>(), 5_000);
    assert_eq!((rows[0], rows[11]), (1, 0));
    assert!(
        rows[1..11].iter().all(|&row| row.abs_diff(500) < 25),
        "{rows:?}"
    );
}

#[test]
fn cumulative_counts_are_exact_at_the_ends() {
    let many = trend(&(1..=5_000u64).map(|i| i * 1_000).collect::<Vec<_>>());
    let at = |ns| many.count_at_or_below(ns);
    assert_eq!(
        (at(999), at(1_000), at(4_999_999), at(5_000_000)),
        (0, 1, 4_999, 5_000)
    );
    assert!(at(2_500_000).abs_diff(2_500) <= 3);
}

#[test]
fn a_million_lognormal_times_take_9_to_34_kb() {
    for sigma in [0.3, 0.5, 1.0] {
        let mut trend = TimeTrend::new();
        lognormal(100_000, 5e6, sigma).for_each(|ns| trend.record(ns));
        let tenth = trend.heap_bytes();
        lognormal(1_000_000, 5e6, sigma).for_each(|ns| trend.record(ns));
        let bytes = trend.heap_bytes();
        assert!(
            (9_000..=34_000).contains(&bytes),
            "sigma {sigma}: {bytes} bytes"
        );
        lognormal(1_000_000, 5e6, sigma).for_each(|ns| trend.record(ns));
        assert_eq!(
            trend.heap_bytes(),
            bytes,
            "the same values again take nothing more"
        );
        assert!(
            bytes - tenth < 6_000,
            "sigma {sigma}: {tenth} bytes for a tenth"
        );
    }
}

#[test]
fn percentiles_agree_with_hdrhistogram_and_the_sorted_values() {
    let mut times: Vec<u64> = lognormal(200_000, 5e6, 0.7).collect();
    let trend = trend(&times);
    let mut hdr = Hdr::<u64>::new_with_bounds(1, 1 << 40, 4).unwrap();
    times.iter().for_each(|&ns| hdr.record(ns).unwrap());
    times.sort_unstable();
    let found = trend.quantiles(&QUANTILES).unwrap();
    for (q, found) in QUANTILES.into_iter().zip(found) {
        let exact = sorted_quantile(&times, q);
        assert!(
            (found - exact).abs() <= exact * 0.000_68,
            "quantile {q}: {found} for {exact}"
        );
        let theirs = hdr.value_at_quantile(q) as f64;
        assert!(
            (found - theirs).abs() <= theirs * 0.002,
            "quantile {q}: {found}, theirs {theirs}"
        );
    }
    assert!((trend.stddev().unwrap() - hdr.stdev()).abs() < hdr.stdev() * 0.001);
}

#[test]
fn value_trends_keep_sums_that_cancel() {
    let mut trend = ValueTrend::new();
    for value in [1e16, 1.0, -1e16, 1.0] {
        trend.record(value).unwrap();
    }
    assert_eq!((trend.sum(), trend.mean()), (2.0, Some(0.5)));
    assert_eq!((trend.min(), trend.max()), (Some(-1e16), Some(1e16)));
    assert!(trend.record(f64::NAN).is_err());
    assert_eq!(trend.count(), 4);
}

fn times() -> impl Strategy<Value = Vec<u64>> {
    // Short and long lists, so that merging meets raw values and dropped ones alike.
    let time = (any::<u64>(), 0u32..63).prop_map(|(value, shift)| value >> shift);
    prop_oneof![
        prop::collection::vec(time.clone(), 0..20),
        prop::collection::vec(time, 400..800)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn merging_is_exact_associative_and_commutative(a in times(), b in times(), c in times()) {
        let whole = trend(&[&a[..], &b, &c].concat());
        let (a, b, c) = (trend(&a), trend(&b), trend(&c));
        let mut left = a.clone();
        left.merge(&b);
        left.merge(&c);
        let mut tail = c.clone();
        tail.merge(&b);
        let mut right = tail.compact_copy();
        right.merge(&a);
        prop_assert_eq!(&left, &whole);
        prop_assert_eq!(&right, &whole);
        prop_assert_eq!(left.stddev(), whole.stddev());
        prop_assert_eq!(left.quantiles(&QUANTILES), right.quantiles(&QUANTILES));
    }

    #[test]
    fn quantiles_are_within_a_tenth_of_a_percent(values in prop::collection::vec(1u64..1 << 50, 1..3_000)) {
        let found = trend(&values).quantiles(&QUANTILES).expect("there are values");
        let mut sorted = values;
        sorted.sort_unstable();
        for (q, found) in QUANTILES.into_iter().zip(found) {
            let exact = sorted_quantile(&sorted, q);
            prop_assert!((found - exact).abs() <= exact * 0.000_68, "{}: {} for {}", q, found, exact);
        }
    }

    #[test]
    fn value_trends_merge_to_within_rounding(
        a in prop::collection::vec(-1e9..1e9f64, 0..700),
        b in prop::collection::vec(-1e-3..1e-3f64, 0..700),
    ) {
        let of = |values: &[f64]| {
            let mut trend = ValueTrend::new();
            values.iter().for_each(|&value| trend.record(value).expect("finite"));
            trend
        };
        let whole = of(&[&a[..], &b].concat());
        let mut merged = of(&b);
        merged.merge(&of(&a));
        prop_assert_eq!(merged.histogram(), whole.histogram());
        prop_assert!((merged.sum() - whole.sum()).abs() <= whole.sum().abs() * 1e-15 + 1e-12);
        prop_assert_eq!(merged.quantiles(&QUANTILES), whole.quantiles(&QUANTILES));
        if let (Some(mine), Some(theirs)) = (merged.stddev(), whole.stddev()) {
            prop_assert!((mine - theirs).abs() <= theirs * 1e-12);
        }
    }
}
