//! Whether a rate was sustained within the objectives, and how certain that is.
//!
//! A percentile is judged by the share of requests beyond its bound, which is allowed to be `1 - N / 100`: the share's
//! Wilson interval (E. B. Wilson, Journal of the American Statistical Association 22, 1927) says whether chance could
//! have decided otherwise. Neighbouring response times are correlated, since they waited in one queue; so only an
//! eighth of them counts as independent there. Must not know which rate is tried next. Invariant: what the generator
//! held up is never blamed on the target.

use loadline_metric::TimeTrend;
use loadline_model::verdict::Limit;
use serde::{Deserialize, Serialize};

use super::figures::{CountOfTotal, Figures};
use super::fit::Stress;
use super::slo::{Comparison, Objective, Share, Slo, Statistic};

/// Response times of which one counts as independent.
const ALIKE: f64 = 8.0;
/// The normal quantile of a two-sided interval of 95 %.
const Z: f64 = 1.96;
/// A share this many times the allowed one, or this part of it, needs no interval.
const FAR_SHARE: f64 = 2.0;
/// A mean that is this much of its bound away from it needs no interval.
const FAR_MEAN: f64 = 0.3;
/// A rate is not carried when more than this share of it piles up,
const PILED_UP_MAX: f64 = 0.02;
/// and surely not from this share on.
const PILED_UP_SURELY: f64 = 0.05;

/// Starts that are late by this share of a bound of time make a response late that would not be.
const LATE: f64 = 0.1;

/// The outcome of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// The objectives held.
    Held {
        /// How sure that is.
        sureness: Sureness,
    },
    /// An objective did not hold, or the load was not carried.
    Broke {
        /// How sure that is.
        sureness: Sureness,
    },
    /// The probe does not say.
    Inconclusive {
        /// Why not.
        why: Doubt,
    },
}

impl Outcome {
    /// Whether it says nothing about the target because the generator or its plan may have been the limit.
    #[must_use]
    pub fn is_void(self) -> bool {
        let Outcome::Inconclusive { why } = self else {
            return false;
        };
        matches!(why, Doubt::Generator | Doubt::Plan)
    }
}

/// The certainty of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sureness {
    /// Chance could have decided otherwise.
    Close,
    /// By a wide margin, though of few samples.
    Likely,
    /// With 95 % confidence.
    Sure,
}

/// Why a probe is inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// The generator was the limit.
    Generator,
    /// The plan was: too few virtual users.
    Plan,
    /// Fewer requests ended than the objectives need; they tended towards holding.
    FewHeld,
    /// Fewer requests ended than the objectives need; they tended towards not holding.
    FewBroke,
}

/// An objective evaluated for a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The objective as written.
    pub objective: String,
    /// What was measured: nanoseconds for times, 0 to 1 for shares; `None` when there was nothing to measure.
    pub value: Option<f64>,
    /// Whether it held.
    pub held: bool,
    /// How sure that is.
    pub sureness: Sureness,
}

/// The judgement of a probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The outcome.
    pub outcome: Outcome,
    /// Each objective.
    pub objectives: Vec<Measured>,
    /// Requests that ended, or were due and did not end.
    pub samples: u64,
    /// Why the load was not sustained, in words; `None` if it was, or if an objective says why.
    pub not_carried: Option<String>,
    /// The bad requests of the share or percentile objective closest to its limit; `None` without one, if the load
    /// was not sustained, or if an objective of another kind was violated.
    pub stress: Option<Stress>,
}

/// Evaluates the objectives for the measurements of a probe.
#[must_use]
pub fn judge(slo: &Slo, figures: &Figures) -> Judgement {
    let objectives: Vec<Measured> = slo
        .objectives()
        .iter()
        .map(|objective| measure(objective, figures))
        .collect();
    let samples = figures.errors.whole + figures.unanswered;
    let not_carried = not_carried(figures);
    let outcome = outcome(slo, figures, &objectives, samples, not_carried.as_ref());
    let is_counted = not_carried.is_none() && !broke_uncounted(slo, &objectives);
    Judgement {
        outcome,
        objectives,
        samples,
        stress: stress(slo, figures).filter(|_| is_counted),
        not_carried: not_carried.map(|(_, why)| why),
    }
}

/// How a target that was overloaded responds to little load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Normally again: no objective is certainly violated.
    Recovered,
    /// Not yet normally.
    NotYet,
    /// Not at all.
    Silent,
}

impl Look {
    /// How it responds, by what was measured.
    #[must_use]
    pub fn of(slo: &Slo, figures: &Figures) -> Look {
        let broken = |objective: &Objective| {
            let measured = measure(objective, figures);
            !measured.held && (measured.sureness == Sureness::Sure || measured.value.is_none())
        };
        match figures.is_delivered && !slo.objectives().iter().any(broken) {
            true => Look::Recovered,
            false if figures.throughput > 0.0 => Look::NotYet,
            false => Look::Silent,
        }
    }
}

/// Why the load was not carried, and how sure that is; `None` when it was.
fn not_carried(figures: &Figures) -> Option<(Sureness, String)> {
    if !figures.is_delivered {
        let why = "the offered load was not delivered".to_owned();
        return Some((Sureness::Sure, why));
    }
    let piled_up = figures.piled_up.filter(|share| *share > PILED_UP_MAX)?;
    let sureness = match piled_up {
        share if share > PILED_UP_SURELY => Sureness::Sure,
        _ => Sureness::Close,
    };
    let why = format!(
        "a backlog grew: {:.1} % of the arrivals were still waiting",
        100.0 * piled_up
    );
    Some((sureness, why))
}

fn outcome(
    slo: &Slo,
    figures: &Figures,
    objectives: &[Measured],
    samples: u64,
    not_carried: Option<&(Sureness, String)>,
) -> Outcome {
    let broken = objectives.iter().filter(|measured| !measured.held);
    let broken = broken.map(|measured| measured.sureness);
    let broken = broken
        .chain(not_carried.map(|(sureness, _)| *sureness))
        .max();
    let is_few = samples < slo.samples_min();
    match (broken, figures.limit) {
        (Some(_), _) if may_be_the_generators(slo, figures, objectives) => Outcome::Inconclusive {
            why: Doubt::Generator,
        },
        (Some(_), Limit::Plan) => Outcome::Inconclusive { why: Doubt::Plan },
        (Some(Sureness::Close), _) if is_few => Outcome::Inconclusive {
            why: Doubt::FewBroke,
        },
        (Some(sureness), _) => Outcome::Broke { sureness },
        (None, _) => {
            let sureness = objectives.iter().map(|measured| measured.sureness).min();
            match sureness.unwrap_or(Sureness::Close) {
                Sureness::Close if is_few => Outcome::Inconclusive {
                    why: Doubt::FewHeld,
                },
                sureness => Outcome::Held { sureness },
            }
        }
    }
}

/// Whether the generator may have caused a violation: it was the limit, it used much of the time, or its
/// schedule lag was large compared with a time bound.
fn may_be_the_generators(slo: &Slo, figures: &Figures, objectives: &[Measured]) -> bool {
    let both = slo.objectives().iter().zip(objectives);
    let mut bounds = both.filter_map(|(objective, measured)| match objective {
        Objective::Time { bound, .. } if !measured.held => Some(bound.ns()),
        _ => None,
    });
    let is_late = bounds.any(|bound| figures.lag_p99_ns as f64 >= LATE * bound);
    match figures.limit {
        Limit::Generator => true,
        Limit::Target | Limit::Network => figures.is_shared,
        Limit::Plan | Limit::Nobody | Limit::Unknown => figures.is_shared || is_late,
    }
}

/// Whether an objective did not hold that allows no bad requests to be counted: a mean, an extreme, all checks.
fn broke_uncounted(slo: &Slo, objectives: &[Measured]) -> bool {
    let both = slo.objectives().iter().zip(objectives);
    both.into_iter()
        .any(|(objective, measured)| objective.share_allowed() <= f64::EPSILON && !measured.held)
}

/// The bad requests of the objective with the most of them relative to the allowed number.
fn stress(slo: &Slo, figures: &Figures) -> Option<Stress> {
    let of = |objective: &Objective| -> Vec<Stress> {
        let allowed = objective.share_allowed();
        if allowed <= f64::EPSILON {
            return Vec::new();
        }
        let bad = match objective {
            Objective::Time {
                inclusive, bound, ..
            } => figures
                .times
                .iter()
                .map(|times| slower(times, *inclusive, bound.ns(), figures.unanswered))
                .collect(),
            Objective::Share { share, .. } => vec![bad_share(figures, *share)],
        };
        let bad = bad.into_iter().filter(|bad: &CountOfTotal| bad.whole > 0);
        bad.map(|bad| Stress {
            observed: bad.part as f64,
            allowed: allowed * bad.whole as f64,
        })
        .collect()
    };
    let all = slo.objectives().iter().flat_map(of);
    all.max_by(|one, other| one.ratio().total_cmp(&other.ratio()))
}

fn measure(objective: &Objective, figures: &Figures) -> Measured {
    let (value, held, sureness) = match objective {
        Objective::Time {
            statistic,
            inclusive,
            bound,
        } => worst_time(
            figures,
            *statistic,
            *inclusive,
            bound.ns(),
            objective.share_allowed(),
        ),
        Objective::Share {
            share, comparison, ..
        } => of_share(figures, *share, *comparison, objective.share_allowed()),
    };
    Measured {
        objective: objective.to_string(),
        value,
        held,
        sureness,
    }
}

/// A value, whether it held, and how sure that is.
type JudgedValue = (Option<f64>, bool, Sureness);

/// Without anything measured nothing held.
const NOTHING: JudgedValue = (None, false, Sureness::Close);

/// The distribution that is worst for an objective decides.
fn worst_time(
    figures: &Figures,
    statistic: Statistic,
    inclusive: bool,
    bound_ns: f64,
    allowed: f64,
) -> JudgedValue {
    let told =
        figures
            .times
            .iter()
            .filter(|times| !times.is_empty())
            .map(|times| match statistic {
                Statistic::Percentile(percentile) => beyond(
                    times,
                    percentile,
                    inclusive,
                    bound_ns,
                    (figures.unanswered, allowed),
                ),
                Statistic::Avg => mean(times, inclusive, bound_ns),
                Statistic::Min => single(times.min(), inclusive, bound_ns),
                Statistic::Max if figures.unanswered > 0 => {
                    (times.max().map(|ns| ns as f64), false, Sureness::Sure)
                }
                Statistic::Max => single(times.max(), inclusive, bound_ns),
            });
    told.reduce(worse).unwrap_or(NOTHING)
}

/// The one that did not hold, else the one that is less sure, else the larger one.
fn worse(one: JudgedValue, other: JudgedValue) -> JudgedValue {
    let rank = |(value, held, sureness): &JudgedValue| {
        let doubt = if *held {
            2 - *sureness as i32
        } else {
            3 + *sureness as i32
        };
        (doubt, value.unwrap_or(0.0))
    };
    if rank(&other) > rank(&one) {
        other
    } else {
        one
    }
}

fn is_within(value: f64, inclusive: bool, bound: f64) -> bool {
    value < bound || (inclusive && value <= bound)
}

fn single(value: Option<u64>, inclusive: bool, bound_ns: f64) -> JudgedValue {
    match value {
        Some(ns) => (
            Some(ns as f64),
            is_within(ns as f64, inclusive, bound_ns),
            Sureness::Sure,
        ),
        None => NOTHING,
    }
}

fn beyond(
    times: &TimeTrend,
    percentile: f64,
    inclusive: bool,
    bound_ns: f64,
    (unanswered, allowed): (u64, f64),
) -> JudgedValue {
    let bad = slower(times, inclusive, bound_ns, unanswered);
    let (held, sureness) = share_within(bad, true, allowed, ALIKE);
    (times.quantile(percentile / 100.0), held, sureness)
}

/// Requests beyond a bound of time, of all.
fn slower(times: &TimeTrend, inclusive: bool, bound_ns: f64, unanswered: u64) -> CountOfTotal {
    let good_up_to = if inclusive {
        bound_ns.floor()
    } else {
        bound_ns.ceil() - 1.0
    };
    let within = times.count_at_or_below(good_up_to as u64);
    let whole = times.count() + unanswered;
    CountOfTotal {
        part: whole - within,
        whole,
    }
}

fn mean(times: &TimeTrend, inclusive: bool, bound_ns: f64) -> JudgedValue {
    let (Some(mean), Some(deviation)) = (times.mean(), times.stddev()) else {
        return NOTHING;
    };
    let half_width = Z * deviation / (times.count() as f64 / ALIKE).max(1.0).sqrt();
    let away = (mean - bound_ns).abs();
    let sureness = match away {
        away if away > half_width => Sureness::Sure,
        away if away > FAR_MEAN * bound_ns => Sureness::Likely,
        _ => Sureness::Close,
    };
    (Some(mean), is_within(mean, inclusive, bound_ns), sureness)
}

fn of_share(figures: &Figures, share: Share, comparison: Comparison, allowed: f64) -> JudgedValue {
    let part = match share {
        Share::Errors => figures.errors,
        Share::Checks => figures.checks,
        Share::Goodput => figures.goodput,
    };
    let Some(value) = part.share() else {
        return NOTHING;
    };
    let inclusive = matches!(
        comparison,
        Comparison::AtMost | Comparison::AtLeast | Comparison::Equal
    );
    let (held, sureness) = share_within(bad_share(figures, share), inclusive, allowed, 1.0);
    (Some(value), held, sureness)
}

fn bad_share(figures: &Figures, share: Share) -> CountOfTotal {
    let good = match share {
        Share::Errors => return figures.errors,
        Share::Checks => figures.checks,
        Share::Goodput => figures.goodput,
    };
    CountOfTotal {
        part: good.whole.saturating_sub(good.part),
        whole: good.whole,
    }
}

/// Whether a share of bad ones is within the allowed share, and how sure that is if one of `alike` counts.
fn share_within(bad: CountOfTotal, inclusive: bool, allowed: f64, alike: f64) -> (bool, Sureness) {
    let Some(share) = bad.share() else {
        return (false, Sureness::Close);
    };
    let held = is_within(share, inclusive, allowed);
    // Where none may be bad, one that is decides, and so does that there was none.
    if allowed <= f64::EPSILON {
        return (held, Sureness::Sure);
    }
    let (low, high) = wilson(share, bad.whole as f64 / alike);
    let sureness = match held {
        true if high < allowed => Sureness::Sure,
        true if share * FAR_SHARE <= allowed => Sureness::Likely,
        false if low > allowed => Sureness::Sure,
        false if share >= allowed * FAR_SHARE => Sureness::Likely,
        _ => Sureness::Close,
    };
    (held, sureness)
}

/// The 95 % interval of a share of `count`.
fn wilson(share: f64, count: f64) -> (f64, f64) {
    let count = count.max(1.0);
    let square = Z * Z / count;
    let middle = (share + square / 2.0) / (1.0 + square);
    let half = Z / (1.0 + square) * (share * (1.0 - share) / count + square / (4.0 * count)).sqrt();
    (middle - half, middle + half)
}

#[cfg(test)]
mod tests;
