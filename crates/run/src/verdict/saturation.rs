//! Where throughput stopped following the offered load: the knee of a ramp.
//!
//! Must not say who saturated; `limits` decides that. Invariant: a knee is only reported if the load continued
//! to rise well beyond it.

use loadline_model::executor::Executor;
use loadline_model::result::Row;
use loadline_model::verdict::{Finding, Gravity, Limit, Saturation};

use super::code::Code;
use super::facts::{Facts, row_seconds};
use super::stats::median;
use super::wording::{count, duration, iterations, rate};

/// Minimum number of seconds to evaluate a ramp.
const ROWS_MIN: usize = 6;
/// If good responses at the top of a ramp of rates are below this share of those expected from the responses at low
/// load, there is a knee.
const FOLLOWS_MIN: f64 = 0.95;
/// In a ramp of virtual users the knee is where good responses reach this share of the plateau.
const PLATEAU_MIN: f64 = 0.9;
/// Throughput at the top below this share of the best is a collapse instead of a plateau.
const COLLAPSE: f64 = 0.8;
/// A plateau of virtual users is reported if their number grew by this factor on it.
const VUS_FACTOR: f64 = 1.5;
/// A p99 is reported if it is this many times that of the quiet part of the ramp.
const P99_FACTOR: f64 = 3.0;
/// Ratio of the median service time after the knee to that before it from which the target has slowed down.
const SLOWED_FACTOR: f64 = 1.5;

/// A knee and its surroundings.
#[derive(Debug)]
pub(super) struct Knee {
    pub(super) point: Saturation,
    /// Where the p99 rose above its quiet level for good; `None` if it did not.
    pub(super) passed: Option<Passed>,
    /// Throughput at the top of the load, if it collapsed.
    fell_to: Option<f64>,
    /// Virtual users at the knee, for a ramp of them.
    vus: Option<u64>,
    /// Whether the rates are those of iterations, not of requests.
    counts_iterations: bool,
    /// Whether single responses took longer after the knee than before it.
    pub(super) slowed: bool,
}

impl Knee {
    /// A rate of the load at the knee, with its unit.
    pub(super) fn rate(&self, per_second: f64) -> String {
        match self.counts_iterations {
            true => iterations(per_second),
            false => rate(per_second),
        }
    }
}

/// A bound that the p99 exceeded.
#[derive(Debug)]
pub(super) struct Passed {
    /// `response time` or `service time`.
    pub(super) what: &'static str,
    pub(super) bound_s: f64,
    pub(super) offered: f64,
}

/// One second of the ramp.
#[derive(Clone, Copy)]
struct Point {
    /// Planned starts per second, or virtual users.
    load: f64,
    /// Good responses per second.
    good: f64,
    /// Nanoseconds.
    p99: Option<u64>,
    service_p50: Option<u64>,
}

pub(super) fn find(facts: &Facts<'_>) -> Option<Knee> {
    let [scenario] = &facts.evidence.plan.scenarios[..] else {
        return None;
    };
    match scenario.executor {
        Executor::RampingArrivalRate { .. } => {
            let each = facts.requests_per_iteration();
            let knee = find_in_rates(&rising(points(facts, each, offered_rate)?)?)?;
            Some(Knee {
                counts_iterations: facts.is_script(),
                ..knee
            })
        }
        Executor::RampingVus { .. } => {
            let points = rising(points(facts, 1.0, active_vus)?)?;
            let (knee, at) = find_in_vus(&points)?;
            // Paced virtual users, which wait until they are due, reach a plateau of their own; a plateau of
            // the target shows in its responses.
            let is_paced = facts.evidence.plan.is_paced();
            let is_own = facts.reaches_cap(knee.point.throughput);
            (!is_own && (!is_paced || has_slowed(&points, at))).then_some(knee)
        }
        _ => None,
    }
}

pub(super) fn finding(knee: &Knee, limit: Limit) -> Finding {
    let with = knee.vus.map_or_else(String::new, |vus| {
        format!(" by {} virtual users", count(vus))
    });
    let before = knee.point.p99_before_ns.map_or_else(String::new, |ns| {
        format!("; p99 just before was {}", duration(ns as f64 / 1e9))
    });
    let fell = knee.fell_to.map_or_else(String::new, |left| {
        format!(", and more load brought it down to {}", knee.rate(left))
    });
    let text = format!(
        "goodput stopped rising at {}, with about {} offered{with}{fell}{before}",
        knee.rate(knee.point.throughput),
        knee.rate(knee.point.offered),
    );
    let advice = match limit {
        Limit::Generator => {
            "take load off the generator and run again: the generator caused this knee"
        }
        Limit::Plan => {
            "allow more virtual users ({max-vus}) and run again: the plan caused this knee"
        }
        Limit::Network => {
            "plan with less than this rate, or use a faster network path and run again: the network caused this knee"
        }
        _ => "plan with less than this rate, or give the target more capacity and run again",
    };
    Code::Saturated.finding(Gravity::Note, text, advice)
}

fn offered_rate(row: &Row) -> Option<f64> {
    Some(row.offered? as f64 / row_seconds(row))
}

fn active_vus(row: &Row) -> Option<f64> {
    Some(row.active_vus as f64)
}

/// `each`: number of responses per unit of the load.
fn points(facts: &Facts<'_>, each: f64, load: impl Fn(&Row) -> Option<f64>) -> Option<Vec<Point>> {
    // If no response at all passes the checks, the responses themselves still show the knee.
    let any_good = facts.rows.iter().any(|row| row.good > 0);
    let point = |row: &&Row| {
        let answers = if any_good { row.good } else { row.completed };
        Some(Point {
            load: load(row)?,
            good: answers as f64 / each / row_seconds(row),
            p99: row.response_time_ns.or(row.service_time_ns).map(|p| p.p99),
            service_p50: row.service_time_ns.map(|p| p.p50),
        })
    };
    facts.rows.iter().map(point).collect()
}

/// The points up to the highest load; `None` if there are too few.
fn rising(mut points: Vec<Point>) -> Option<Vec<Point>> {
    let highest = points.iter().map(|point| point.load).fold(0.0, f64::max);
    // A ramp may end on a level whose seconds only differ by noise.
    let last = points
        .iter()
        .rposition(|point| point.load >= 0.95 * highest)?;
    points.truncate(last + 1);
    (points.len() >= ROWS_MIN).then_some(points)
}

fn find_in_rates(points: &[Point]) -> Option<Knee> {
    let rates = |points: &[Point]| {
        (
            mean(points, |point| point.load),
            mean(points, |point| point.good),
        )
    };
    let (offered, good) = rates(top_of(points));
    // Responses that are never good, even at low load, do not depend on the load.
    let (little, good_of_little) = rates(&points[..end_length(points)]);
    let usual = (good_of_little / little.max(f64::MIN_POSITIVE)).min(1.0);
    if good >= FOLLOWS_MIN * usual * offered || good <= 0.0 {
        return None;
    }
    let best = best_mean(points);
    let fell_to = (good < COLLAPSE * best).then_some(good);
    let throughput = if fell_to.is_some() {
        best
    } else {
        let beyond: Vec<Point> = points
            .iter()
            .copied()
            .filter(|point| point.load >= good)
            .collect();
        mean(&beyond, |point| point.good)
    };
    let knee = points.iter().position(|point| point.load >= throughput)?;
    Some(Knee {
        point: Saturation {
            offered: throughput,
            throughput,
            p99_before_ns: p99_before(points, knee),
        },
        passed: passed(points, knee, "response time"),
        fell_to,
        vus: None,
        counts_iterations: false,
        slowed: has_slowed(points, knee),
    })
}

/// The knee, and the index of its point.
fn find_in_vus(points: &[Point]) -> Option<(Knee, usize)> {
    let top = top_of(points);
    let at_top = mean(top, |point| point.good);
    let best = best_mean(points);
    let fell_to = (at_top < COLLAPSE * best).then_some(at_top);
    let plateau = fell_to.map_or(at_top, |_| best);
    let at = points
        .iter()
        .position(|point| point.good >= PLATEAU_MIN * plateau)?;
    let vus = points[at].load;
    if plateau <= 0.0 || mean(top, |point| point.load) < VUS_FACTOR * vus {
        return None;
    }
    let knee = Knee {
        point: Saturation {
            offered: plateau,
            throughput: plateau.max(best),
            p99_before_ns: p99_before(points, at),
        },
        passed: None,
        fell_to,
        vus: Some(vus as u64),
        counts_iterations: false,
        slowed: true,
    };
    Some((knee, at))
}

/// The last fifth of the ramp, at least three seconds.
fn top_of(points: &[Point]) -> &[Point] {
    &points[points.len() - end_length(points)..]
}

fn end_length(points: &[Point]) -> usize {
    (points.len() / 5).max(3)
}

fn mean(points: &[Point], value: impl Fn(&Point) -> f64) -> f64 {
    points.iter().map(value).sum::<f64>() / points.len().max(1) as f64
}

/// The best mean rate over a tenth of the ramp, at least three seconds.
fn best_mean(points: &[Point]) -> f64 {
    let width = (points.len() / 10).max(3);
    points
        .windows(width)
        .map(|window| mean(window, |point| point.good))
        .fold(0.0, f64::max)
}

/// The median p99 of the last three seconds before the knee.
fn p99_before(points: &[Point], knee: usize) -> Option<u64> {
    let before = &points[knee.saturating_sub(3)..knee];
    median(before.iter().filter_map(|point| Some(point.p99? as f64))).map(|ns| ns as u64)
}

/// Where the p99 rose for good above a round bound that is well above its level in the quiet first half before
/// the knee.
fn passed(points: &[Point], knee: usize, what: &'static str) -> Option<Passed> {
    let quiet = &points[..knee.div_ceil(2)];
    let level = median(quiet.iter().filter_map(|point| Some(point.p99? as f64)))?;
    let bound_s = round_up(P99_FACTOR * level / 1e9)?;
    let is_above = |point: &Point| point.p99.is_some_and(|p99| p99 as f64 / 1e9 > bound_s);
    let last_below = points.iter().rposition(|point| !is_above(point))?;
    let first_above = points.get(last_below + 1)?;
    Some(Passed {
        what,
        bound_s,
        offered: first_above.load,
    })
}

/// The next number of the series 1, 2, 5, 10, 20, 50…; `None` for zero.
fn round_up(value: f64) -> Option<f64> {
    if value <= 0.0 {
        return None;
    }
    let power = 10f64.powi(value.log10().floor() as i32);
    [1.0, 2.0, 5.0, 10.0]
        .iter()
        .map(|step| step * power)
        .find(|step| *step >= value)
}

/// Compares with the quicker seconds before the knee: in the first ones connections are made.
fn has_slowed(points: &[Point], knee: usize) -> bool {
    let p50 = |point: &Point| Some(point.service_p50? as f64);
    let (before, beyond) = points.split_at(knee);
    let mut before: Vec<f64> = before.iter().filter_map(p50).collect();
    before.sort_by(f64::total_cmp);
    match (
        before.get(before.len() / 4).copied(),
        median(beyond.iter().filter_map(p50)),
    ) {
        (Some(before), Some(beyond)) => beyond > SLOWED_FACTOR * before,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_round() {
        for (value, expected) in [(0.012, 0.02), (0.05, 0.05), (0.6, 1.0), (3.0, 5.0)] {
            assert!(
                (round_up(value).unwrap() - expected).abs() < 1e-12,
                "{value}"
            );
        }
        assert_eq!(round_up(0.0), None);
    }
}
