//! The maximum requirements of scenarios: duration, and number of concurrent virtual users.
//!
//! Source: the output of `k6 inspect --execution-requirements`. Must not know plans. Invariant: a scenario's
//! reservation starts with the scenario and is released when its last iteration must end.

use loadline_go::GoDuration;
use loadline_model::plan::PlanSegment;
use loadline_model::segment::{Segment, Share};

use super::options::K6Options;
use super::options::parts::StageOption;
use super::options::scenario::{ExecutorKind, ScenarioOptions};

/// The maximum requirements of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Requirements {
    /// From the start of the run to the end of the last graceful stop.
    pub total: GoDuration,
    /// Concurrent virtual users of all scenarios.
    pub max_vus: u64,
}

/// Defaults of times that options do not set.
pub(super) const GRACEFUL_STOP: GoDuration = GoDuration::seconds(30);
/// Time after which executors of iterations start no more.
pub(super) const MAX_DURATION: GoDuration = GoDuration::seconds(600);

/// A change of the number of virtual users that a scenario needs: time in nanoseconds, and the new number.
type Step = (i64, u64);

/// Number of steps of a scenario above which ramps are approximated by their higher ends.
const STEPS_MAX: i64 = 100_000;

/// The maximum requirements of consolidated options.
#[must_use]
pub(super) fn requirements(options: &K6Options) -> Requirements {
    let share = share_of(options);
    let mut total = 0;
    let mut changes: Vec<(i64, i128)> = Vec::new();
    let start_of = |scenario: &ScenarioOptions| scenario.start_time.map_or(0, |time| time.0);
    let mut scenarios: Vec<&ScenarioOptions> =
        options.scenarios.iter().flatten().map(|(_, s)| s).collect();
    scenarios.sort_by_key(|scenario| start_of(scenario));
    for scenario in scenarios {
        let start = start_of(scenario);
        let end = span(scenario).0.saturating_add(grace(scenario).0);
        let steps = steps(scenario, end);
        // A ramp that ends without virtual users has nothing to wait for.
        let used = steps.iter().rposition(|(_, vus)| *vus > 0);
        let nobody = used.and_then(|used| steps.get(used + 1));
        let last = nobody.map_or(end, |(at, _)| *at);
        total = total.max(start.saturating_add(last));
        let mut before = 0_i128;
        for (at, vus) in steps {
            let vus = i128::from(share.scale(vus));
            changes.push((start.saturating_add(at), vus - before));
            before = vus;
        }
        changes.push((start.saturating_add(end), -before));
    }
    // k6 processes simultaneous changes by start and name of the scenarios, and counts after each.
    changes.sort_by_key(|(at, _)| *at);
    let mut now = 0_i128;
    let most = changes.into_iter().fold(0, |most, (_, change)| {
        now += change;
        now.max(most)
    });
    Requirements {
        total: GoDuration(total),
        max_vus: u64::try_from(most).unwrap_or(u64::MAX),
    }
}

fn share_of(options: &K6Options) -> Share {
    let segment = options.execution_segment.unwrap_or_else(Segment::whole);
    PlanSegment::new(segment, options.execution_segment_sequence.clone())
        .and_then(|slice| Share::new(slice.segment, slice.sequence, 0, 1))
        .unwrap_or_else(|_| Share::whole(0, 1))
}

/// How long iterations may start.
fn span(scenario: &ScenarioOptions) -> GoDuration {
    let stages = || scenario.stages.iter().flatten();
    match scenario.executor {
        ExecutorKind::SharedIterations | ExecutorKind::PerVuIterations => {
            scenario.max_duration.unwrap_or(MAX_DURATION)
        }
        ExecutorKind::ConstantVus
        | ExecutorKind::ConstantArrivalRate
        | ExecutorKind::ExternallyControlled => scenario.duration.unwrap_or_default(),
        ExecutorKind::RampingVus | ExecutorKind::RampingArrivalRate => GoDuration(
            stages()
                .filter_map(|stage| stage.duration)
                .fold(0, |sum, span| span.0.saturating_add(sum)),
        ),
    }
}

/// How long iterations may still run after the last start.
pub(super) fn grace(scenario: &ScenarioOptions) -> GoDuration {
    if scenario.executor == ExecutorKind::ExternallyControlled {
        return GoDuration::default();
    }
    scenario.graceful_stop.unwrap_or(GRACEFUL_STOP)
}

fn steps(scenario: &ScenarioOptions, end: i64) -> Vec<Step> {
    let whole = |vus: Option<i64>, default: i64| at_least_zero(vus.unwrap_or(default));
    match scenario.executor {
        ExecutorKind::SharedIterations
        | ExecutorKind::PerVuIterations
        | ExecutorKind::ConstantVus => vec![(0, whole(scenario.vus, 1))],
        ExecutorKind::ExternallyControlled => {
            let vus = scenario.vus.unwrap_or(1);
            vec![(0, whole(scenario.max_vus, vus))]
        }
        ExecutorKind::ConstantArrivalRate | ExecutorKind::RampingArrivalRate => {
            let before = scenario.pre_allocated_vus.unwrap_or(0);
            vec![(
                0,
                whole(scenario.max_vus, before).max(at_least_zero(before)),
            )]
        }
        ExecutorKind::RampingVus => {
            let down = scenario.graceful_ramp_down.unwrap_or(GRACEFUL_STOP);
            reserved(&ramp(scenario), down.0, end)
        }
    }
}

fn at_least_zero(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

/// The number of virtual users of a ramp over time, by k6's formula: on the way up the n-th starts when the
/// line reaches n, on the way down it leaves when the line falls below n.
fn ramp(scenario: &ScenarioOptions) -> Vec<Step> {
    let mut from = scenario.start_vus.unwrap_or(1).max(0);
    let mut steps = vec![(0, at_least_zero(from))];
    let mut end = 0_i64;
    for StageOption { duration, target } in scenario.stages.iter().flatten() {
        let (length, target) = (
            duration.unwrap_or_default().0.max(0),
            target.unwrap_or(0).max(0),
        );
        let begin = end;
        end = end.saturating_add(length);
        let difference = target - from;
        if length == 0 {
            steps.push((end, at_least_zero(target)));
        } else if difference.abs() > STEPS_MAX {
            steps.push((begin, at_least_zero(target.max(from))));
            steps.push((end, at_least_zero(target)));
        } else {
            steps.extend(leg(from, target, length, end));
        }
        from = target;
    }
    steps
}

fn leg(from: i64, target: i64, length: i64, end: i64) -> impl Iterator<Item = Step> {
    let difference = target - from;
    let before_end = move |left: i64| {
        let ns = i128::from(length) * i128::from(left) / i128::from(difference);
        end - i64::try_from(ns).unwrap_or(length)
    };
    (1..=difference.abs()).map(move |passed| match difference > 0 {
        true => (
            before_end(target - (from + passed)),
            at_least_zero(from + passed),
        ),
        false => {
            let vus = from - passed;
            (before_end(target - vus), at_least_zero(vus))
        }
    })
}

/// The same with each decrease delayed by the graceful ramp-down, but not beyond the end.
fn reserved(wanted: &[Step], down: i64, end: i64) -> Vec<Step> {
    let mut out: Vec<Step> = Vec::with_capacity(wanted.len());
    // Delayed decreases, with the time at which they take effect, highest first.
    let mut held: std::collections::VecDeque<Step> = std::collections::VecDeque::new();
    for (position, (at, vus)) in wanted.iter().enumerate() {
        while let Some((until, _)) = held.front().copied().filter(|(until, _)| until <= at) {
            held.pop_front();
            let kept = held.front().map_or(0, |(_, vus)| *vus);
            let current = wanted[position - 1].1;
            out.push((until.min(end), kept.max(current)));
        }
        if position > 0 && wanted[position - 1].1 > *vus {
            let before = wanted[position - 1].1;
            while held.back().is_some_and(|(_, lower)| *lower <= before) {
                held.pop_back();
            }
            held.push_back((at.saturating_add(down), before));
        }
        let kept = held.front().map_or(0, |(_, vus)| *vus);
        out.push(((*at).min(end), kept.max(*vus)));
    }
    let last = wanted.last().map_or(0, |(_, vus)| *vus);
    while let Some((until, _)) = held.pop_front() {
        let kept = held.front().map_or(0, |(_, vus)| *vus);
        out.push((until.min(end), kept.max(last)));
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(options: &serde_json::Value) -> (String, u64) {
        let read = K6Options::from_json(options).expect("good options").options;
        let Requirements { total, max_vus } = requirements(&read);
        (total.to_string(), max_vus)
    }

    #[test]
    fn as_k6_2_2_0_prints_them() {
        let ramp = |target: i64, down: &str, start: &str, last: bool| {
            let mut stages = vec![json!({"duration": "10s", "target": target})];
            if last {
                stages.push(json!({"duration": "10s", "target": 0}));
            }
            json!({"executor": "ramping-vus", "stages": stages, "gracefulRampDown": down,
                "startTime": start})
        };
        let constant = |vus: i64, stop: &str, start: &str| {
            json!({"executor": "constant-vus", "vus": vus, "duration": "5s",
                "gracefulStop": stop, "startTime": start})
        };
        for (scenarios, total, max_vus) in [
            (
                json!({"a": ramp(10, "0s", "0s", true), "b": ramp(10, "0s", "10s", false)}),
                "50s",
                11,
            ),
            (
                json!({"a": ramp(10, "3s", "0s", true), "b": ramp(10, "3s", "10s", false)}),
                "50s",
                14,
            ),
            (
                json!({"a": constant(5, "0s", "0s"), "b": constant(7, "30s", "5s")}),
                "40s",
                7,
            ),
            (
                json!({"a": constant(5, "1s", "0s"), "b": constant(7, "30s", "5s")}),
                "40s",
                12,
            ),
        ] {
            assert_eq!(
                of(&json!({"scenarios": scenarios})),
                (total.to_owned(), max_vus)
            );
        }
        let falls = |stages: serde_json::Value, down: &str, stop: &str| {
            json!({"scenarios": {"a": {"executor": "ramping-vus", "startVUs": 2, "stages": stages,
                "gracefulRampDown": down, "gracefulStop": stop}}})
        };
        let (to_none, to_one) = (
            json!([{"duration": "2s", "target": 0}]),
            json!([{"duration": "2s", "target": 1}]),
        );
        let stays = json!([{"duration": "2s", "target": 0}, {"duration": "10s", "target": 0}]);
        for (options, total) in [
            (falls(to_none.clone(), "0s", "30s"), "2s"),
            (falls(to_none.clone(), "5s", "30s"), "7s"),
            (falls(to_none, "50s", "30s"), "32s"),
            (falls(to_one, "0s", "30s"), "32s"),
            (falls(stays.clone(), "0s", "30s"), "2s"),
            (falls(stays, "3s", "0s"), "5s"),
        ] {
            assert_eq!(of(&options), (total.to_owned(), 2), "{options}");
        }
        let arrival = json!({"a": {"executor": "constant-arrival-rate", "rate": 5,
            "duration": "5s", "preAllocatedVUs": 2, "maxVUs": 9}, "b": {"executor":
            "constant-arrival-rate", "rate": 5, "duration": "5s", "preAllocatedVUs": 7,
            "startTime": "1h"}});
        assert_eq!(
            of(&json!({"scenarios": arrival})),
            ("1h0m35s".to_owned(), 9)
        );
        let third = json!({"executionSegment": "0:1/3", "scenarios": {"a": {"executor":
            "shared-iterations", "vus": 10, "iterations": 20}}});
        assert_eq!(of(&third), ("10m30s".to_owned(), 3));
    }
}
