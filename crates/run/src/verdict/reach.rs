//! What a plan cannot reach, whatever the target does: thresholds that ask for more than it sends, threads that its end
//! precedes.
//!
//! Must not know whether a threshold held. Invariant: what a faster target could reach is never called out of reach.

use loadline_metric::threshold::{Aggregation, Bound, Operator, Threshold};
use loadline_model::executor::Executor;
use loadline_model::plan::Scenario;
use loadline_model::verdict::{Finding, Gravity};
use loadline_model::{RequestMetric, ThreadGroup};

use super::code::Code;
use super::facts::Facts;
use super::wording::{count, duration, listed, rate};

/// Share of the virtual users' time that they must spend between requests for their pauses to bound the rate.
const PAUSES: f64 = 0.5;
/// Minimum ratio of what is asked for to the most that the plan can send: arrivals do not end exactly with the run.
const BEYOND: f64 = 1.02;

/// What a threshold counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    Requests,
    Iterations,
}

pub(super) fn findings(facts: &Facts<'_>) -> Vec<Finding> {
    let scenarios = facts.evidence.plan.scenarios.iter();
    let late = scenarios.filter_map(late_threads);
    late.chain(thresholds_beyond(facts)).collect()
}

/// Threads of a group that would have started after its end.
fn late_threads(scenario: &Scenario) -> Option<Finding> {
    let Executor::ThreadGroup(ThreadGroup::Ramp {
        threads,
        step_ms,
        lasts_ms: Some(lasts_ms),
        ..
    }) = scenario.executor
    else {
        return None;
    };
    let in_time = match step_ms {
        0 => u64::from(threads),
        step => lasts_ms.div_ceil(step).min(u64::from(threads)),
    };
    let seconds = |ms: u64| duration(ms as f64 / 1e3);
    (in_time < u64::from(threads)).then(|| {
        Code::ThreadsNotStarted.finding(
            Gravity::Caution,
            format!(
                "only {} of the {} threads of {} start before its end after {}: the ramp-up takes {}",
                count(in_time),
                count(threads.into()),
                scenario.name,
                seconds(lasts_ms),
                seconds(step_ms.saturating_mul(threads.into()))
            ),
            "shorten the ramp-up, or raise the duration, so that all threads take part",
        )
    })
}

fn thresholds_beyond(facts: &Facts<'_>) -> Option<Finding> {
    let (most, why) = most_per_second(facts)?;
    let beyond = thresholds(facts).filter_map(|(name, counted, threshold)| {
        let per_second = asked_per_second(facts, threshold)?;
        let iterations = match counted {
            Counted::Iterations => per_second,
            Counted::Requests => per_second / facts.requests_per_iteration(),
        };
        (iterations > BEYOND * most).then_some(name)
    });
    let beyond: Vec<String> = beyond.collect();
    if beyond.is_empty() {
        return None;
    }
    let what = facts.planned_words().things;
    Some(Code::ThresholdOutOfReach.finding(
        Gravity::Caution,
        format!(
            "{} cannot hold: {why}, so that at most {} {what} start",
            listed(&beyond),
            rate(most)
        ),
        "raise the load of the plan, or lower the threshold: it says nothing about the target",
    ))
}

/// The most units per second that the plan starts, however fast the target is, and why; `None`: no bound is known.
fn most_per_second(facts: &Facts<'_>) -> Option<(f64, String)> {
    if facts.seconds <= 0.0 || facts.begun() == 0 {
        return None;
    }
    if let Some(asked) = facts.asked_rate() {
        let all_open = facts.closed_vus() == 0;
        let why = format!("the plan asks for {}", rate(asked));
        return all_open.then_some((asked, why));
    }
    // A faster target ends a run of so many iterations earlier.
    if facts.evidence.totals.asked.is_some() {
        return None;
    }
    let vus = count(facts.vus);
    if let Some(pacing_s) = pacing_s(facts) {
        let why = format!("{vus} VUs send a request every {pacing_s:.1} s each");
        return Some((facts.vus as f64 / pacing_s, why));
    }
    let slept = facts.slept_share().filter(|slept| *slept >= PAUSES)?;
    let reached = facts.begun() as f64 / facts.seconds;
    let why = format!("{vus} VUs sleep {:.0} % of their time", slept * 100.0);
    Some((reached / slept, why))
}

/// The minimum time between two requests of a virtual user of the only scenario, in seconds.
fn pacing_s(facts: &Facts<'_>) -> Option<f64> {
    match facts.evidence.plan.scenarios.as_slice() {
        [one] => one
            .pacing
            .map(|pacing| pacing.as_secs_f64())
            .filter(|s| *s > 0.0),
        _ => None,
    }
}

/// Thresholds on the number or rate of requests or iterations of the whole run, with their text.
fn thresholds<'a>(
    facts: &Facts<'a>,
) -> impl Iterator<Item = (String, Counted, &'a Threshold)> + use<'a> {
    let plan = facts.evidence.plan;
    let is_open = facts.open;
    let own = plan.thresholds.iter().filter_map(move |threshold| {
        let metric = RequestMetric::of(threshold, is_open).ok()?;
        let is_such = matches!(metric, RequestMetric::Completed | RequestMetric::Good);
        is_such.then(|| (threshold.source.to_string(), Counted::Requests, threshold))
    });
    let scripts = plan.script_thresholds.iter().filter_map(|one| {
        let threshold = one.condition.as_ref().filter(|_| one.is_judged)?;
        let counted = match &*one.key {
            "http_reqs" => Counted::Requests,
            "iterations" => Counted::Iterations,
            _ => return None,
        };
        Some((
            format!("{}: {}", one.key, threshold.source),
            counted,
            threshold,
        ))
    });
    own.chain(scripts)
}

/// The least rate that a threshold asks for; `None`: it asks for none.
fn asked_per_second(facts: &Facts<'_>, threshold: &Threshold) -> Option<f64> {
    let is_least = matches!(threshold.operator, Operator::Greater | Operator::AtLeast);
    let Bound::Number(bound) = threshold.bound else {
        return None;
    };
    match threshold.aggregation {
        Aggregation::Rate if is_least => Some(bound),
        Aggregation::Count if is_least => Some(bound / facts.seconds),
        _ => None,
    }
}
