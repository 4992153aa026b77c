//! Whether the times of answers show a queue in the target: more virtual users would only lengthen it.
//!
//! Must not say who is the limit; that is asked in `limits`. Invariant: times that differ by themselves, or that are long
//! and alike, are no queue.

use loadline_metric::TimeTrend;
use loadline_model::heat::Heat;
use loadline_model::result::Row;

use super::facts::{Facts, row_seconds, share};
use super::names;
use super::stats::{self, median};
use super::weights;

/// How many times as long as the fastest answer the median takes where answers wait for their turn, at least.
const WAITS: f64 = 1.8;
/// A median so far above the fastest answer, with so narrow a spread, is queueing in the target: in a closed loop on a
/// saturated server all answers take about (virtual users / capacity).
const QUEUES: [Queue; 2] = [
    Queue {
        median: 4.0,
        spread: 8.0,
    },
    Queue {
        median: WAITS,
        spread: 1.5,
    },
];
/// Standard deviations between the 10th percentile and the 90th.
const MIDDLE_80: f64 = 2.56;
/// The 10th percentile over the median in a queue, at least.
const QUICK: f64 = 0.4;

/// How a queue shows in the times of answers.
struct Queue {
    /// The median over the fastest, at least.
    median: f64,
    /// The 90th percentile over the 10th, at most.
    spread: f64,
}

/// Whether answers show a queue in the target, or those of the one request that takes most of the time.
pub(super) fn has_queue(facts: &Facts<'_>) -> bool {
    shows_queue(facts.answered_time()) || names::heaviest(facts).is_some_and(shows_queue)
}

fn shows_queue(time: &TimeTrend) -> bool {
    let at = time.quantiles(&[0.1, 0.5, 0.9]).zip(time.min());
    at.is_some_and(|(at, min)| {
        let shows =
            |queue: &Queue| at[1] >= queue.median * min as f64 && at[2] <= queue.spread * at[0];
        // Times that differ by themselves have quick ones among them, however many wait.
        at[0] >= QUICK * at[1] && QUEUES.iter().any(shows)
    })
}

/// Whether answers took longer while all virtual users were in use than while some were free.
pub(super) fn slows_when_full(facts: &Facts<'_>) -> bool {
    let (full, free): (Vec<&Row>, Vec<&Row>) = facts
        .rows
        .iter()
        .partition(|row| row.active_vus >= facts.vus);
    let p50 = |rows: &[&Row]| {
        let times = rows.iter().filter_map(|row| row.service_time_ns);
        median(times.map(|times| times.p50 as f64))
    };
    let times = p50(&full).zip(p50(&free));
    times.is_some_and(|(full, free)| full >= WAITS * free)
}

/// Whether the quickest answers are those of the first second, before the queue stood: later ones are never nearly as
/// quick, and alike.
pub(super) fn fills_at_start(facts: &Facts<'_>) -> bool {
    /// The first of a hundred over the median, where answers are alike.
    const ALIKE: f64 = 0.7;
    let Some(fastest) = facts.answered_time().min() else {
        return false;
    };
    let mut later = Heat::default();
    let rows = facts.rows.iter().skip(1);
    rows.for_each(|row| later.merge(&row.heat));
    let at = |share: f64| later.quantile(share).unwrap_or(0) as f64;
    let is_slower = |share: f64, times: f64| at(share) >= times * fastest as f64;
    facts.load_is_constant()
        && at(0.01) >= ALIKE * at(0.5)
        && is_slower(0.01, WAITS)
        && is_slower(0.0, 1.0)
}

/// Whether as many answers come in each second, much more evenly than chance has it and than times that differ so much allow, and take
/// much longer than the fastest: they leave the target at its own pace, in whatever order.
pub(super) fn is_served_evenly(facts: &Facts<'_>) -> bool {
    /// Of the deviation that chance gives.
    const EVEN: f64 = 0.25;
    /// Of the deviation of as many virtual users whose requests take their own time each.
    const EVENER: f64 = 0.6;
    let is_even = |pace: Pace| {
        let on_their_own = facts.answered_time().quantiles(&[0.1, 0.5, 0.9]);
        let differ = on_their_own.map_or(0.0, |at| (at[2] - at[0]) / MIDDLE_80 / at[1]);
        pace.deviation <= EVEN.min(EVENER * differ) * pace.by_chance()
    };
    may_stand(facts) && Pace::of(facts).is_some_and(is_even)
}

/// Whether nearly every answer takes as long as the fastest: none of them waits for another.
pub(super) fn takes_as_long_for_each(time: &TimeTrend) -> bool {
    /// Answers from which the fastest cannot be a stroke of luck.
    const SOME: u64 = 10;
    const LONGER: f64 = 1.1;
    let both = time.quantile(0.9).zip(time.min());
    time.count() >= SOME && both.is_some_and(|(slow, min)| slow <= LONGER * min as f64)
}

/// Whether answers may be queueing, in whatever order: they, or those that take most of the time, take much longer than the fastest
/// of them. Times that differ by themselves look the same.
pub(super) fn may_stand(facts: &Facts<'_>) -> bool {
    let time = names::of_most_time(facts);
    let times = time.quantile(0.5).zip(time.min());
    times.is_some_and(|(median, min)| median >= WAITS * min as f64) || slow_ones_may_stand(time)
}

/// Whether most of the time is that of a part of the answers, which differ as if they waited for each other: they miss a cache, say, and
/// what they need instead lets in one at a time.
fn slow_ones_may_stand(time: &TimeTrend) -> bool {
    const SOME: u64 = 20;
    /// Of the time of all.
    const MOST: f64 = 0.75;
    /// Of the slow ones, whose fastest might be one of the others.
    const FIRST: f64 = 0.02;
    let Some(fastest) = time.min() else {
        return false;
    };
    let bound = (WAITS * fastest as f64) as u64;
    let all = time.count();
    let slow = weights::longer_than(time, bound);
    let others = all - slow;
    let first = others + 1 + (FIRST * slow as f64) as u64;
    let at = time.quantiles(&[share(first, all), share(others + slow / 2, all)]);
    let differ = at.is_some_and(|at| at[1] >= WAITS * at[0]);
    // What the others take at most is not theirs.
    let of_others = others as f64 * bound as f64;
    slow >= SOME && time.sum() as f64 - of_others >= MOST * time.sum() as f64 && differ
}

/// Whether a few answers take most of the time, and nearly as long as the load: whoever comes later is served before them.
pub(super) fn starves_some(facts: &Facts<'_>) -> bool {
    const AS_LONG: f64 = 0.5;
    let longest = facts.answered_time().max().unwrap_or(0) as f64 / 1e9;
    is_mostly_long(facts) && longest >= AS_LONG * facts.seconds
}

/// Whether most of the time of all answers is that of a few, which take many times as long.
pub(super) fn is_mostly_long(facts: &Facts<'_>) -> bool {
    const LONG: f64 = 5.0;
    let time = names::of_most_time(facts);
    let usual = time.quantile(0.5).zip(time.mean());
    usual.is_some_and(|(median, mean)| mean >= LONG * median)
}

/// Whether virtual users are now nearly all in use, and now hardly any, under the same load: something that all answers wait
/// for lets them go at once.
pub(super) fn comes_in_bunches(facts: &Facts<'_>) -> bool {
    const ROWS_MIN: usize = 6;
    /// Of the deviation that chance gives the number of those that wait.
    const BUNCHED: f64 = 2.0;
    let in_use: Vec<f64> = facts.rows.iter().map(|row| row.active_vus as f64).collect();
    let is_bunched = stats::mean_and_deviation(&in_use)
        .is_some_and(|(_, deviation)| deviation >= BUNCHED * (facts.vus as f64).sqrt());
    is_bunched && in_use.len() >= ROWS_MIN && facts.load_is_constant()
}

/// Answers per second while all virtual users are in use.
struct Pace {
    rate: f64,
    deviation: f64,
}

impl Pace {
    /// `None` where the load changes, or where too few seconds or answers say nothing.
    fn of(facts: &Facts<'_>) -> Option<Pace> {
        const ROWS_MIN: usize = 6;
        const MANY: f64 = 10.0;
        let rows = facts.rows.get(1..facts.rows.len().saturating_sub(1))?;
        let full = rows.iter().filter(|row| row.active_vus >= facts.vus);
        let answers: Vec<f64> = full
            .map(|row| row.completed as f64 / row_seconds(row))
            .collect();
        let (rate, deviation) = stats::mean_and_deviation(&answers)?;
        let says = answers.len() >= ROWS_MIN && rate >= MANY && facts.load_is_constant();
        says.then_some(Pace { rate, deviation })
    }

    /// The deviation that a number of independent events has: its square root.
    fn by_chance(&self) -> f64 {
        self.rate.sqrt()
    }
}
