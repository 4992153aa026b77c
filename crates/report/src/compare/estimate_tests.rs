//! Compares the estimates with textbook cases and with simulated series of known correlation.
//!
//! Invariant: the simulation is seeded, so results are the same on every machine.

use loadline_metric::student::two_sided_chance;

use super::*;

/// SplitMix64 (G. L. Steele and others, 2014), made into normal values by Box and Muller's transform.
struct Normal(u64);

impl Normal {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn next(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A first-order autoregressive series round 100, in its stationary state from the start.
    fn series(&mut self, length: usize, correlation: f64) -> Vec<f64> {
        let mut value = self.next() / (1.0 - correlation * correlation).sqrt();
        let mut step = || {
            value = correlation * value + self.next();
            100.0 + value
        };
        (0..length).map(|_| step()).collect()
    }
}

const REPETITIONS: u32 = 1_000;

/// How often two series whose means differ by `by` are distinguished.
fn told_apart(normal: &mut Normal, length: usize, correlation: f64, by: f64, level: f64) -> f64 {
    let mut apart = 0_u32;
    for _ in 0..REPETITIONS {
        let first = Estimate::of_series(&normal.series(length, correlation));
        let second: Vec<f64> = normal.series(length, correlation);
        let second: Vec<f64> = second.iter().map(|value| value + by).collect();
        let second = Estimate::of_series(&second);
        let difference = first.expect("long").to(&second.expect("long"));
        let t = difference.by / difference.error;
        apart += u32::from(two_sided_chance(t, difference.degrees) < level);
    }
    f64::from(apart) / f64::from(REPETITIONS)
}

/// The stated level, and three standard errors of the simulation.
fn at_most(level: f64) -> f64 {
    level + 3.0 * (level * (1.0 - level) / f64::from(REPETITIONS)).sqrt()
}

#[test]
fn the_same_thing_twice_is_not_called_different_more_often_than_stated() {
    let mut normal = Normal(4_711);
    for (length, correlation) in [
        (8, 0.0),
        (8, 0.3),
        (20, 0.3),
        (20, 0.6),
        (30, 0.8),
        (60, 0.0),
        (60, 0.9),
        (300, 0.8),
    ] {
        for level in [0.05, 0.01] {
            let found = told_apart(&mut normal, length, correlation, 0.0, level);
            assert!(
                found <= at_most(level),
                "{length} values, correlation {correlation}: {found} instead of {level}"
            );
        }
    }
}

/// Being careful must not mean being blind.
#[test]
fn a_difference_of_two_standard_deviations_is_seen() {
    let mut normal = Normal(42);
    let found = told_apart(&mut normal, 30, 0.3, 2.0, 0.05);
    assert!(found > 0.95, "{found}");
    let found = told_apart(&mut normal, 120, 0.0, 1.0, 0.005);
    assert!(found > 0.95, "{found}");
}

#[test]
fn independent_values_are_those_of_the_textbook() {
    // Mean 10, variance 2.5, five values.
    let one = Estimate::of_independent(&[8.0, 9.0, 10.0, 11.0, 12.0]).expect("five values");
    assert_eq!((one.mean, one.variance, one.degrees), (10.0, 0.5, 4.0));
    let twin = Estimate { mean: 12.0, ..one };
    let difference = one.to(&twin);
    assert_eq!((difference.by, difference.error), (2.0, 1.0));
    assert!(
        (difference.degrees - 8.0).abs() < 1e-9,
        "equal variances add up"
    );
    let single = Estimate::of_one_like(3.0, &one, 5);
    assert_eq!((single.variance, single.degrees), (2.5, 4.0));
    assert_eq!(Estimate::of_independent(&[1.0]), None);
}

#[test]
fn a_series_of_independent_values_is_nearly_that() {
    let values = Normal(7).series(2_000, 0.0);
    let careful = Estimate::of_series(&values).expect("long");
    let plain = Estimate::of_independent(&values).expect("long");
    assert_eq!(careful.mean, plain.mean);
    assert!(
        (1.0..1.4).contains(&(careful.variance / plain.variance)),
        "{careful:?}"
    );
}

#[test]
fn equal_values_have_no_spread_and_few_values_none_at_all() {
    let equal = Estimate::of_series(&[0.1; 30]).expect("long");
    assert_eq!(equal.variance, 0.0);
    assert_eq!(equal.to(&equal).error, 0.0);
    assert!(equal.to(&equal).degrees.is_finite());
    assert_eq!(Estimate::of_series(&[1.0; VALUES_MIN - 1]), None);
    let trend: Vec<f64> = (0..100).map(f64::from).collect();
    let trend = Estimate::of_series(&trend).expect("long");
    assert!(
        trend.degrees <= 2.0,
        "a trend says next to nothing of a mean: {trend:?}"
    );
}

#[test]
fn superiority_counts_pairs() {
    assert_eq!(superiority(&[1.0, 2.0], &[3.0, 4.0]), Some(1.0));
    assert_eq!(superiority(&[1.0, 2.0], &[1.0, 2.0]), Some(0.5));
    assert_eq!(superiority(&[2.0], &[1.0, 2.0, 2.0, 3.0]), Some(0.5));
    assert_eq!(superiority(&[], &[1.0]), None);
}
