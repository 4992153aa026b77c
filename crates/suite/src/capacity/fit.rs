//! Where the share of bad requests crosses what is allowed, of all probes near there together.
//!
//! Near the edge single probes are noisy: of 10,000 requests 100 may be slow, and since these come in bunches the count varies by
//! a quarter. All probes together say more: the logarithm of the share of slow requests is close to linear in the rate
//! (exactly so in a queue with one server and exponential times, and in the tail of one with many), and a regression of
//! counts finds where it crosses. Method: a generalised linear model with logarithmic link and quasi-Poisson variance, by
//! Newton's method (P. McCullagh and J. Nelder, Generalized Linear Models, 2nd ed., section 6.2). Must not know why probes
//! were made. Invariant: no number of a fit is NaN.

use serde::{Deserialize, Serialize};

/// Fewest probes of a fit.
const PROBES_MIN: usize = 4;
/// The logarithm of the share over the allowed one is taken as linear within this distance of zero: a factor of five.
const NEAR: f64 = 1.6;
/// Newton's steps: each doubles the digits.
const STEPS: usize = 40;
/// The dispersion assumed of response times before any is seen, and how many probes that assumption is worth.
const DISPERSION: f64 = 8.0;
const DISPERSION_WEIGHT: f64 = 4.0;
/// The normal quantile of a two-sided interval of 95 %.
const Z: f64 = 1.96;
/// How far beyond its probes a crossing is believed, as a share of its rate.
const BEYOND: f64 = 0.1;

/// A probe's bad requests, for the objective closest to being violated or violated most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stress {
    /// Bad requests.
    pub observed: f64,
    /// The allowed number; above zero.
    pub allowed: f64,
}

impl Stress {
    /// Ratio of bad requests to allowed ones.
    #[must_use]
    pub fn ratio(self) -> f64 {
        self.observed / self.allowed
    }
}

/// A probe's rate with what was bad there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Evidence {
    pub(super) rate: f64,
    pub(super) stress: Stress,
}

/// Where the objectives are just met, with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Crossing {
    /// The rate, per second.
    pub rate: f64,
    /// Half the width of its 95 % interval, per second.
    pub half_width: f64,
    /// The probes that this rests on.
    pub probes: usize,
}

/// The line through the probes near the edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    line: FittedLine,
    pub(super) crossing: Crossing,
}

/// `at + slope * (rate / origin - 1)`, the logarithm of the share over the allowed one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FittedLine {
    origin: f64,
    at: f64,
    slope: f64,
}

impl FittedLine {
    fn place(&self, rate: f64) -> f64 {
        rate / self.origin - 1.0
    }

    fn height(&self, rate: f64) -> f64 {
        self.at + self.slope * self.place(rate)
    }
}

impl Fit {
    /// The fit of all probes near the edge; `None` if they are too few, at a single rate, or rise too little.
    pub(super) fn of(all: &[Evidence]) -> Option<Fit> {
        let mut near: Vec<Evidence> = all
            .iter()
            .copied()
            .filter(|one| one.stress.ratio() > 0.0 && one.stress.ratio().ln().abs() <= NEAR)
            .collect();
        let mut line = regress(&near)?;
        // What was chosen by its own noise is chosen again by the line.
        for _ in 0..2 {
            near = all
                .iter()
                .copied()
                .filter(|one| line.height(one.rate).abs() <= NEAR)
                .collect();
            line = regress(&near)?;
        }
        let crossing = crossing(&line, &near)?;
        Some(Fit { line, crossing })
    }

    /// Whether the objectives hold at a rate; `None` where the line is not believed.
    pub(super) fn holds(&self, rate: f64) -> Option<bool> {
        let height = self.line.height(rate);
        (height.abs() <= NEAR).then_some(height < 0.0)
    }
}

/// The sums of one of Newton's steps: gradient and matrix of information.
#[derive(Clone, Copy, Default)]
struct Sums {
    gradient: [f64; 2],
    /// Of the constant, of both, of the slope.
    information: [f64; 3],
}

impl Sums {
    fn of(line: &FittedLine, near: &[Evidence]) -> Sums {
        let mut sums = Sums::default();
        for one in near {
            let place = line.place(one.rate);
            let expected = one.stress.allowed * line.height(one.rate).clamp(-30.0, 30.0).exp();
            let rest = one.stress.observed - expected;
            sums.gradient[0] += rest;
            sums.gradient[1] += rest * place;
            sums.information[0] += expected;
            sums.information[1] += expected * place;
            sums.information[2] += expected * place * place;
        }
        sums
    }

    fn determinant(&self) -> f64 {
        let [constant, both, slope] = self.information;
        constant * slope - both * both
    }
}

fn regress(near: &[Evidence]) -> Option<FittedLine> {
    if near.len() < PROBES_MIN {
        return None;
    }
    let origin = near.iter().map(|one| one.rate).sum::<f64>() / near.len() as f64;
    let observed: f64 = near.iter().map(|one| one.stress.observed).sum();
    let allowed: f64 = near.iter().map(|one| one.stress.allowed).sum();
    let mut line = FittedLine {
        origin,
        at: (observed / allowed).ln(),
        slope: 0.0,
    };
    for _ in 0..STEPS {
        let sums = Sums::of(&line, near);
        let determinant = sums.determinant();
        if determinant.is_nan() || determinant <= 1e-12 * sums.information[0].powi(2) {
            return None;
        }
        let [constant, both, slope] = sums.information;
        let [first, second] = sums.gradient;
        let step_at = (slope * first - both * second) / determinant;
        let step_slope = (constant * second - both * first) / determinant;
        line.at += step_at.clamp(-2.0, 2.0);
        line.slope += step_slope.clamp(-50.0, 50.0);
        if step_at.abs() < 1e-9 && step_slope.abs() < 1e-9 {
            break;
        }
    }
    (line.at.is_finite() && line.slope.is_finite() && line.slope > 0.0).then_some(line)
}

/// Where the line is zero, and how far the truth may be from there: the dispersion is that of the probes about the
/// line, drawn towards [`DISPERSION`] while they are few.
fn crossing(line: &FittedLine, near: &[Evidence]) -> Option<Crossing> {
    let place = -line.at / line.slope;
    let rate = line.origin * (1.0 + place);
    let lowest = near
        .iter()
        .map(|one| one.rate)
        .fold(f64::INFINITY, f64::min);
    let highest = near.iter().map(|one| one.rate).fold(0.0, f64::max);
    if !((1.0 - BEYOND) * lowest..=(1.0 + BEYOND) * highest).contains(&rate) {
        return None;
    }
    let sums = Sums::of(line, near);
    let [constant, both, slope] = sums.information;
    let squares: f64 = near.iter().map(|one| pearson(line, one)).sum();
    let freedom = (near.len() - 2) as f64;
    let dispersion = (squares + DISPERSION * DISPERSION_WEIGHT) / (freedom + DISPERSION_WEIGHT);
    // The variance of the line's height at the crossing, over the square of its slope.
    let height = (slope - 2.0 * place * both + place * place * constant) / sums.determinant();
    let half_width = Z * (dispersion * height).sqrt() / line.slope * line.origin;
    (half_width.is_finite() && half_width < rate).then_some(Crossing {
        rate,
        half_width,
        probes: near.len(),
    })
}

fn pearson(line: &FittedLine, one: &Evidence) -> f64 {
    let expected = one.stress.allowed * line.height(one.rate).exp();
    (one.stress.observed - expected).powi(2) / expected
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Of 10,000 requests 100 may be bad; the share grows by a factor of e per 20/s and crosses at 500/s.
    fn evidence(rate: f64) -> Evidence {
        Evidence {
            rate,
            stress: Stress {
                observed: 100.0 * ((rate - 500.0) / 20.0).exp(),
                allowed: 100.0,
            },
        }
    }

    #[test]
    fn a_line_is_found_where_there_is_one() {
        let all: Vec<Evidence> = [400.0, 480.0, 490.0, 505.0, 520.0, 700.0]
            .map(evidence)
            .into();
        let fit = Fit::of(&all).expect("four probes are near");
        assert!((fit.crossing.rate - 500.0).abs() < 1e-6, "{fit:?}");
        assert_eq!(fit.crossing.probes, 4);
        assert_eq!(
            [400.0, 499.0, 501.0, 700.0].map(|rate| fit.holds(rate)),
            [None, Some(true), Some(false), None]
        );
    }

    #[test]
    fn more_probes_make_it_surer() {
        let few: Vec<Evidence> = [480.0, 490.0, 505.0, 520.0].map(evidence).into();
        let many = few.repeat(4);
        let width = |all: &[Evidence]| Fit::of(all).expect("a fit").crossing.half_width;
        assert!(width(&many) < 0.6 * width(&few));
    }

    #[test]
    fn nothing_is_said_where_nothing_can_be() {
        assert_eq!(
            Fit::of(&[480.0, 490.0, 505.0].map(evidence)),
            None,
            "too few"
        );
        assert_eq!(Fit::of(&[490.0; 8].map(evidence)), None, "one rate");
        let falling = [480.0, 490.0, 505.0, 520.0].map(|rate| Evidence {
            rate,
            ..evidence(1_000.0 - rate)
        });
        assert_eq!(Fit::of(&falling), None, "falling");
        let far: Vec<Evidence> = [460.0, 465.0, 470.0, 475.0].map(evidence).into();
        assert!(
            Fit::of(&far).is_none_or(|fit| fit.crossing.rate < 523.0),
            "far beyond its probes"
        );
    }

    proptest! {
        #[test]
        fn no_number_is_nan(all in prop::collection::vec((1.0_f64..1e6, 0.0_f64..1e6, 0.001_f64..1e6), 0..20)) {
            let all: Vec<Evidence> = all
                .into_iter()
                .map(|(rate, observed, allowed)| Evidence { rate, stress: Stress { observed, allowed } })
                .collect();
            if let Some(Fit { crossing, .. }) = Fit::of(&all) {
                prop_assert!(crossing.rate > 0.0 && crossing.half_width >= 0.0 && crossing.rate.is_finite());
            }
        }
    }
}
