//! Rates, each with its definition: average, steady state, best second, best five seconds.
//!
//! Must not know where rows come from. Invariant: the average covers the whole measured time; no rate is
//! computed from an incomplete row.

use std::time::Duration;

use crate::executor::Executor;
use crate::plan::{Scenario, TestPlan};
use crate::result::{Rates, Row};
use crate::snapshot::{Counts, Snapshot};
use crate::units::{Nanos, duration_ns};

const SECOND: u64 = Nanos::PER_SECOND;
/// Minimum rows of a steady state.
const STEADY_ROWS_MIN: usize = 2;

/// The part of a run that is judged, in nanoseconds: what follows the warm-up.
#[must_use]
pub fn measured_ns(plan: &TestPlan, elapsed_ns: u64) -> u64 {
    elapsed_ns.saturating_sub(duration_ns(plan.warm_up))
}

/// Of planned iterations those that are judged: an arrival that was due in the warm-up was started or dropped as one of
/// it. Only plans whose iterations are single requests have a warm-up.
#[must_use]
pub fn planned_after_warm_up(planned: u64, warm_up: &Counts) -> u64 {
    planned.saturating_sub(warm_up.started + warm_up.dropped)
}

/// The rates of the part of a run that is judged. `planned` is the number of arrivals planned over the whole run, from
/// which the offered load is computed; `None` in a closed model. Planned and actual starts are counted over the time in
/// which arrivals were due: waiting for the target at the end does not reduce the offered load, and late starts in that
/// time do not increase the start rate.
#[must_use]
pub fn rates(
    plan: &TestPlan,
    seen: &Snapshot,
    rows: &[Row],
    planned: Option<u64>,
    elapsed_ns: u64,
) -> Rates {
    let counts = &seen.counts;
    let measured_ns = measured_ns(plan, elapsed_ns);
    let planned = planned.map(|planned| planned_after_warm_up(planned, &seen.warm_up));
    let measured = per_second(measured_ns);
    let waited_ns = match (planned, plan.time_filled()) {
        (Some(_), Some(due)) => elapsed_ns.saturating_sub(Nanos::from(due).0),
        _ => 0,
    };
    let due = per_second(measured_ns.saturating_sub(waited_ns));
    let whole = whole_rows(rows);
    let average = count(counts.completed) * measured;
    // If the best rate was in the incomplete last second, the complete seconds do not show it.
    let is_best = |rate: &f64| *rate >= average;
    Rates {
        goodput: count(counts.good) * measured,
        average,
        steady: steady(plan, rows),
        max_1s: best_second(&whole).filter(is_best),
        max_5s: best_five_seconds(&whole).filter(is_best),
        offered: planned.map(|planned| count(planned) * due),
        started: count(counts.started.saturating_sub(late(plan, rows, planned))) * due,
    }
}

/// Requests started after the last arrival was due.
fn late(plan: &TestPlan, rows: &[Row], planned: Option<u64>) -> u64 {
    let (Some(_), Some(due)) = (planned, plan.time_filled()) else {
        return 0;
    };
    let due_ns = Nanos::from(due).0;
    let late = rows.iter().filter(|row| row.at_ns >= due_ns);
    late.map(|row| row.started).sum()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "rates are shown with four digits"
)]
fn count(number: u64) -> f64 {
    number as f64
}

fn per_second(span_ns: u64) -> f64 {
    if span_ns == 0 {
        0.0
    } else {
        1e9 / count(span_ns)
    }
}

fn row_rate(row: &Row) -> f64 {
    count(row.completed) * per_second(row.span_ns)
}

fn best_second(rows: &[&Row]) -> Option<f64> {
    rows.iter().map(|row| row_rate(row)).reduce(f64::max)
}

fn best_five_seconds(rows: &[&Row]) -> Option<f64> {
    let rows_per_window = rows
        .first()
        .map(|row| (5 * SECOND).div_ceil(row.span_ns).max(1) as usize)?;
    rows.windows(rows_per_window)
        .map(mean_rate)
        .reduce(f64::max)
}

fn mean_rate(rows: &[&Row]) -> f64 {
    let completed: u64 = rows.iter().map(|row| row.completed).sum();
    let span: u64 = rows.iter().map(|row| row.span_ns).sum();
    count(completed) * per_second(span)
}

/// The mean over the steady rows; `None` for too few.
fn steady(plan: &TestPlan, rows: &[Row]) -> Option<f64> {
    let inside = steady_rows(plan, rows);
    (inside.len() >= STEADY_ROWS_MIN).then(|| mean_rate(&inside))
}

/// The rows in which a plan holds its load past the warm-up, in the order of time: whole ones alone, and not the first
/// second, which makes connections. Empty for plans that only ramp.
#[must_use]
pub fn steady_rows<'r>(plan: &TestPlan, rows: &'r [Row]) -> Vec<&'r Row> {
    let Some((from, until)) = level_span(plan) else {
        return Vec::new();
    };
    let from = from.0.saturating_add(SECOND);
    // The last row includes what ended shortly after it.
    let until = until.map_or(u64::MAX, |at| at.0.saturating_add(SECOND / 10));
    let mut inside = whole_rows(rows);
    inside.retain(|row| row.at_ns >= from && row.at_ns.saturating_add(row.span_ns) <= until);
    inside
}

/// The rows past the warm-up that are whole, in the order of time. Most rows are of one length, a second or several: all
/// are joined at once if there are too many. Some may cover more, where workers were held up, and the last one less;
/// timers are slightly late.
fn whole_rows(rows: &[Row]) -> Vec<&Row> {
    let mut spans: Vec<u64> = rows.iter().map(|row| row.span_ns).collect();
    spans.sort_unstable();
    let usual = spans.get(spans.len() / 2).copied().unwrap_or(0);
    let least = (usual - usual / 10).max(SECOND);
    let is_whole = |row: &&Row| !row.warm_up && row.span_ns >= least;
    rows.iter().filter(is_whole).collect()
}

/// When every scenario of a plan holds its highest load: from, until (`None`: until the plan ends); `None` if
/// there is no such time.
#[must_use]
pub fn level_span(plan: &TestPlan) -> Option<(Nanos, Option<Nanos>)> {
    let (first, others) = plan.scenarios.split_first()?;
    let (mut from, mut until) = level_span_of(first)?;
    for scenario in others {
        let (own_from, own_until) = level_span_of(scenario)?;
        from = from.max(own_from);
        until = until.into_iter().chain(own_until).min();
    }
    until
        .is_none_or(|until| from < until)
        .then_some((from, until))
}

/// When a scenario holds its highest load: from, until (`None`: until it ends); `None` for ramps only, and for a number of
/// virtual users that is changed from outside.
fn level_span_of(scenario: &Scenario) -> Option<(Nanos, Option<Nanos>)> {
    let start = Nanos::from(scenario.start_time);
    match &scenario.executor {
        Executor::RampingVus {
            start_vus, stages, ..
        } => {
            let legs = stages
                .iter()
                .map(|stage| (stage.duration, f64::from(stage.target)));
            highest_level(start, f64::from(*start_vus), legs)
        }
        Executor::RampingArrivalRate {
            start_rate, stages, ..
        } => {
            let legs = stages
                .iter()
                .map(|stage| (stage.duration, stage.target.starts_per_second()));
            highest_level(start, start_rate.starts_per_second(), legs)
        }
        Executor::ThreadGroup(group) => {
            let (from, until) = group.level_ms()?;
            let at = |ms: u64| start + Duration::from_millis(ms);
            Some((at(from), until.map(at)))
        }
        Executor::ExternallyControlled { .. } => None,
        other => Some((start, other.duration().map(|length| start + length))),
    }
}

/// The longest constant stage at the highest level that has a constant stage.
fn highest_level(
    start: Nanos,
    level: f64,
    legs: impl Iterator<Item = (Duration, f64)>,
) -> Option<(Nanos, Option<Nanos>)> {
    let (mut at, mut level) = (start, level);
    let mut best: Option<(f64, Duration, Nanos)> = None;
    for (length, target) in legs {
        let flat = target == level && target > 0.0 && !length.is_zero();
        if flat && best.is_none_or(|(high, longest, _)| (target, length) > (high, longest)) {
            best = Some((target, length, at));
        }
        at = at + length;
        level = target;
    }
    best.map(|(_, length, from)| (from, Some(from + length)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::executor::VuStage;
    use crate::plan::StepsBehaviour;
    use crate::thread_group::ThreadGroup;
    use crate::{Behaviour, ClientPlan, OnExhausted};

    fn scenario(start_s: u64, executor: Executor) -> Scenario {
        Scenario {
            name: "s".to_owned(),
            start_time: Duration::from_secs(start_s),
            executor,
            on_exhausted: OnExhausted::Drop,
            pacing: None,
            graceful_stop: Duration::ZERO,
            queue_grace: Duration::ZERO,
            behaviour: Behaviour::Steps(StepsBehaviour {
                group: 0,
                sends: true,
            }),
            checks: Vec::new(),
            tags: BTreeMap::new(),
        }
    }

    fn plan(scenarios: Vec<Scenario>) -> TestPlan {
        TestPlan {
            scenarios,
            ..TestPlan::without_load(ClientPlan::default())
        }
    }

    fn constant(start_s: u64, length_s: u64) -> Scenario {
        let duration = Some(Duration::from_secs(length_s));
        scenario(start_s, Executor::ConstantVus { vus: 1, duration })
    }

    /// Ramps of virtual users, as pairs of seconds and the target of the stage.
    fn ramp(legs: &[(u64, u32)]) -> Scenario {
        let stage = |&(seconds, target): &(u64, u32)| VuStage {
            duration: Duration::from_secs(seconds),
            target,
        };
        let executor = Executor::RampingVus {
            start_vus: 0,
            stages: legs.iter().map(stage).collect(),
            graceful_ramp_down: Duration::ZERO,
        };
        scenario(0, executor)
    }

    /// Rows of one second with these numbers of responses; the last one is longer by the tail.
    fn rows(completed: &[u64], tail_ns: u64) -> Vec<Row> {
        let row = |(second, completed): (usize, &u64)| Row {
            at_ns: second as u64 * SECOND,
            span_ns: SECOND,
            completed: *completed,
            ..Row::default()
        };
        let mut rows: Vec<Row> = completed.iter().enumerate().map(row).collect();
        if let Some(last) = rows.last_mut() {
            last.span_ns += tail_ns;
        }
        rows
    }

    fn rates_of(plan: &TestPlan, rows: &[Row]) -> Rates {
        let mut seen = Snapshot::default();
        seen.counts.completed = rows.iter().map(|row| row.completed).sum();
        let elapsed_ns = rows.iter().map(|row| row.span_ns).sum();
        rates(plan, &seen, rows, None, elapsed_ns)
    }

    #[test]
    fn offered_and_started_are_of_the_same_time_and_without_the_warm_up() {
        let mut plan = plan(vec![constant(0, 6)]);
        plan.warm_up = Duration::from_secs(2);
        let mut seen = Snapshot::default();
        (seen.warm_up.started, seen.warm_up.dropped) = (130, 3);
        (seen.counts.started, seen.counts.dropped) = (760, 7);
        let told = rates(&plan, &seen, &[], Some(900), 6 * SECOND);
        assert_eq!(told.offered, Some(767.0 / 4.0));
        assert_eq!(told.started, 760.0 / 4.0);
        // Waiting for the target at the end is no time of either.
        let told = rates(&plan, &seen, &[], Some(900), 10 * SECOND);
        assert_eq!((told.offered, told.started), (Some(767.0 / 4.0), 190.0));
    }

    #[test]
    fn the_best_spans_are_one_and_five_seconds_long() {
        let rates = rates_of(
            &plan(vec![constant(0, 8)]),
            &rows(&[1, 1, 9, 8, 8, 9, 1, 1], 0),
        );
        assert_eq!(rates.average, 38.0 / 8.0);
        assert_eq!(rates.max_1s, Some(9.0));
        assert_eq!(rates.max_5s, Some(7.0), "9 + 8 + 8 + 9 + 1 in five seconds");
        let short = rates_of(&plan(vec![constant(0, 4)]), &rows(&[3, 3, 3, 3], 0));
        assert_eq!(short.max_5s, None, "there are no five seconds");
    }

    #[test]
    fn warm_up_and_pieces_of_seconds_are_not_the_best() {
        let mut rows = rows(&[90, 2, 3, 5], 0);
        rows[0].warm_up = true;
        rows[3].span_ns = SECOND / 2;
        let rates = rates_of(&plan(vec![constant(0, 4)]), &rows[1..]);
        assert_eq!(rates.max_1s, None, "the piece at the end was better");
        let rates = rates_of(&plan(vec![constant(0, 4)]), &rows[..3]);
        assert_eq!(rates.max_1s, None, "the average has the warm-up in it");
    }

    #[test]
    fn the_rest_after_joined_rows_is_a_piece_to_every_rate() {
        let mut joined = rows(&[40, 40, 40, 30], 0);
        for (row, second) in joined.iter_mut().zip([0, 4, 8, 12]) {
            row.at_ns = second * SECOND;
            row.span_ns = 4 * SECOND;
        }
        joined[3].span_ns = 3 * SECOND / 2;
        let plan = plan(vec![constant(0, 14)]);
        assert_eq!(steady_rows(&plan, &joined).len(), 2);
        let rates = rates_of(&plan, &joined);
        assert_eq!(rates.max_1s, None, "20/s of a piece is no best second");
    }

    #[test]
    fn the_steady_rate_leaves_out_the_first_second_and_the_ramps() {
        let steady = |legs: &[(u64, u32)], completed: &[u64], tail_ns| {
            rates_of(&plan(vec![ramp(legs)]), &rows(completed, tail_ns)).steady
        };
        let legs = [(2, 10), (4, 10), (1, 0)];
        let completed = [3, 7, 90, 20, 22, 24, 5];
        assert_eq!(steady(&legs, &completed, 0), Some(22.0));
        // The last second of the level may be slightly longer: it includes what ended shortly after it.
        let level = [(1, 10), (3, 10)];
        assert_eq!(
            steady(&level, &[1, 90, 20, 24], SECOND / 10),
            Some(44.0 / 2.1)
        );
        assert_eq!(steady(&level, &[1, 90, 20, 24], SECOND / 5), None);
        assert_eq!(steady(&[(4, 10)], &[1, 2, 3, 4], 0), None, "a ramp alone");
    }

    #[test]
    fn the_steady_rate_of_several_scenarios_is_of_the_time_that_all_hold_theirs() {
        let both = plan(vec![constant(0, 6), constant(2, 4)]);
        let rates = rates_of(&both, &rows(&[9, 9, 9, 20, 22, 24], 0));
        assert_eq!(rates.steady, Some(22.0));
    }

    #[test]
    fn threads_of_a_plan_hold_their_load_once_all_have_started() {
        let group = ThreadGroup::Ramp {
            threads: 3,
            delay_ms: 0,
            step_ms: 1_000,
            lasts_ms: Some(6_000),
            leaves_out_late: true,
        };
        let plan = plan(vec![scenario(1, Executor::ThreadGroup(group))]);
        let span = (Nanos::from_secs(3), Some(Nanos::from_secs(7)));
        assert_eq!(level_span(&plan), Some(span));
        let rates = rates_of(&plan, &rows(&[0, 1, 2, 9, 20, 22, 24, 1], 0));
        assert_eq!(rates.steady, Some(22.0));
    }

    #[test]
    fn a_row_that_covers_more_makes_no_other_one_a_piece() {
        let plan = plan(vec![constant(0, 12)]);
        let mut all = rows(&[9, 20, 22, 24, 44, 22, 22, 1], 0);
        all[4].span_ns = 2 * SECOND;
        for row in &mut all[5..] {
            row.at_ns += SECOND;
        }
        all[7].span_ns = SECOND / 2;
        let steady = steady_rows(&plan, &all);
        let told: Vec<u64> = steady.iter().map(|row| row.completed).collect();
        assert_eq!(told, [20, 22, 24, 44, 22, 22]);
    }

    #[test]
    fn the_level_of_several_scenarios_is_when_all_hold_theirs() {
        let seconds = |from, until| Some((Nanos::from_secs(from), Some(Nanos::from_secs(until))));
        let both = plan(vec![constant(0, 10), constant(4, 10)]);
        assert_eq!(level_span(&both), seconds(4, 10));
        let one_after_the_other = plan(vec![constant(0, 4), constant(4, 10)]);
        assert_eq!(level_span(&one_after_the_other), None);
        let highest = plan(vec![ramp(&[
            (2, 5),
            (3, 5),
            (1, 9),
            (2, 9),
            (4, 9),
            (9, 0),
        ])]);
        assert_eq!(
            level_span(&highest),
            seconds(8, 12),
            "the longest leg at nine"
        );
        let endless = plan(vec![scenario(
            3,
            Executor::ConstantVus {
                vus: 1,
                duration: None,
            },
        )]);
        assert_eq!(level_span(&endless), Some((Nanos::from_secs(3), None)));
    }
}
