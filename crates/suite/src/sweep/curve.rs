//! The points of a sweep together.
//!
//! Conclusions are based on good responses, as in the verdict: a target that refuses what it cannot serve
//! responds faster than one that serves. If no response was good, all of them count. Must not know how it is
//! shown. Invariant: points ascend in load, and those limited by the generator are shown but not used for
//! conclusions.

use serde::{Deserialize, Serialize};

use super::knee::{Departure, Knee, NoKnee, departure, knee};
use super::point::LoadPoint;
use super::usl::{Refusal, Usl};

/// The version of the curve's layout.
pub const SCHEMA: &str = "loadline/sweep/v1";

/// What a sweep varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Arrivals per second, of an open model.
    Rate,
    /// Virtual users, of a closed model.
    Concurrency,
}

/// The result of fitting the Universal Scalability Law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// The law.
    Fitted(Usl),
    /// Why there is none.
    Refused(Refusal),
}

/// A load curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// [`SCHEMA`].
    pub schema: String,
    /// What was varied.
    pub axis: Axis,
    /// What was measured, ascending in load.
    pub points: Vec<LoadPoint>,
    /// Where throughput bends; `None` when it does not.
    pub knee: Option<Knee>,
    /// Why no knee is reported; `None` if one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_knee: Option<NoKnee>,
    /// Where the p99 leaves its quiet level; `None` when it does not.
    pub departure: Option<Departure>,
    /// The law over concurrency; `None` for rates, which say nothing about it.
    pub scaling: Option<Scaling>,
}

impl Curve {
    /// Whether requests were sent but none was answered at any load.
    #[must_use]
    pub fn is_without_answer(&self) -> bool {
        !self.points.is_empty() && self.points.iter().all(LoadPoint::is_without_answer)
    }

    /// The curve through points.
    #[must_use]
    pub fn of(axis: Axis, mut points: Vec<LoadPoint>) -> Curve {
        points.sort_by(|one, other| one.load.total_cmp(&other.load));
        let of_target = || points.iter().filter(|point| point.is_of_the_target());
        let any_good = of_target().any(|point| point.goodput > 0.0);
        let answers = |point: &LoadPoint| {
            if any_good {
                point.goodput
            } else {
                point.throughput
            }
        };
        let throughput: Vec<(f64, f64)> = of_target()
            .map(|point| (point.load, answers(point)))
            .collect();
        let p99: Vec<(f64, f64)> = of_target()
            .filter_map(|point| Some((point.load, point.p99_ns? as f64)))
            .collect();
        let knee = knee(&throughput);
        Curve {
            schema: SCHEMA.to_owned(),
            axis,
            knee: knee.ok(),
            no_knee: knee.err(),
            departure: departure(&p99),
            scaling: (axis == Axis::Concurrency).then(|| match Usl::fit(&throughput) {
                Ok(usl) => Scaling::Fitted(usl),
                Err(refusal) => Scaling::Refused(refusal),
            }),
            points,
        }
    }
}

#[cfg(test)]
mod tests {
    use loadline_model::verdict::Limit;

    use super::*;

    fn point(load: f64, throughput: f64, limit: Limit) -> LoadPoint {
        LoadPoint {
            load,
            offered: None,
            throughput,
            goodput: throughput,
            avg_ns: Some(1_000_000),
            p50_ns: Some(1_000_000),
            p95_ns: Some(2_000_000),
            p99_ns: Some(if load > 8.0 { 20_000_000 } else { 3_000_000 }),
            errors: Some(0.0),
            generator_cores: 0.1,
            limit,
            headline: String::new(),
        }
    }

    #[test]
    fn points_of_a_busy_generator_are_shown_and_not_concluded_from() {
        let mut points: Vec<LoadPoint> = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
            .map(|users: f64| point(users, 100.0 * users.min(8.0), Limit::Target))
            .into();
        points.insert(0, point(64.0, 90.0, Limit::Generator));
        let curve = Curve::of(Axis::Concurrency, points);
        assert_eq!(curve.points.len(), 7);
        assert_eq!(curve.points[6].load, 64.0);
        assert_eq!(curve.knee.map(|knee| knee.load), Some(8.0));
        assert_eq!(curve.departure.map(|departure| departure.from), Some(16.0));
        assert!(matches!(&curve.scaling, Some(Scaling::Fitted(usl)) if usl.residuals.len() == 6));
        // Refused requests are not throughput, unless there are no other responses.
        let mut refusing = curve.points.clone();
        for point in &mut refusing {
            point.throughput = 100.0 * point.load;
        }
        assert_eq!(
            Curve::of(Axis::Concurrency, refusing.clone())
                .knee
                .map(|knee| knee.load),
            Some(8.0)
        );
        for point in &mut refusing {
            point.goodput = 0.0;
        }
        assert_eq!(Curve::of(Axis::Concurrency, refusing).knee, None);
        let few = Curve::of(Axis::Concurrency, curve.points[..2].to_vec());
        assert_eq!(
            few.scaling,
            Some(Scaling::Refused(Refusal::TooFew { have: 2 }))
        );
        assert_eq!(Curve::of(Axis::Rate, curve.points).scaling, None);
    }
}
