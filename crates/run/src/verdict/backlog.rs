//! Whether requests pile up: the number in flight grows from third to third of a run with constant load.
//!
//! Must not ask who is slow. Invariant: growth that more virtual users or a rising rate explain is not a pile.

use loadline_model::result::Row;

use super::facts::{Facts, row_seconds, share};
use super::names;
use super::queue;
use super::stats::{longer_than, mean_and_deviation, median, rising_share};

/// Rows needed to compare thirds.
const ROWS_MIN: usize = 6;
/// Minimum growth factor of the requests in flight from the end of one third to the end of the next.
const GROWS: f64 = 1.25;
/// Minimum share of the arrivals of two thirds that piles up in them, and of the requests of the name that
/// takes most of the time.
const PILED: f64 = 0.05;
/// Minimum number of requests in a pile.
const PILE_MIN: f64 = 5.0;

/// Whether more requests of an open load were in flight in its later half than in its earlier one.
pub(super) fn grows(facts: &Facts<'_>) -> bool {
    const GREW: f64 = 1.5;
    let in_flight: Vec<f64> = facts.rows.iter().map(|row| row.active_vus as f64).collect();
    let half = in_flight.len() / 2;
    let mean = |rows: &[f64]| rows.iter().sum::<f64>() / rows.len() as f64;
    facts.open && half > 0 && mean(&in_flight[half..]) >= GREW * mean(&in_flight[..half])
}

/// Whether many of a second's arrivals were in flight at its end.
pub(super) fn stands(row: &Row) -> bool {
    const IN_FLIGHT: f64 = 0.5;
    row.active_vus as f64 >= IN_FLIGHT * row.started as f64
}

/// Whether an open load found the target so far behind for a while that even the quick responses of a second took half a
/// second more than the usual ones of its quietest second.
pub(super) fn piles_up(facts: &Facts<'_>) -> bool {
    /// Nanoseconds.
    const LONGER: f64 = 500e6;
    /// Share of the arrivals of a second that must be answered in it for its times to be usual ones.
    const USUAL: f64 = 0.3;
    /// The 10th percentile over the median where all responses wait.
    const ALIKE: f64 = 0.5;
    /// Share of the responses of a usual second.
    const GOES_ON: f64 = 0.6;
    /// Share of the responses of the run.
    const MANY: f64 = 0.05;
    let is_usual =
        |row: &&&Row| row.completed > 0 && row.completed as f64 >= USUAL * row.started as f64;
    let usual = facts.rows.iter().filter(is_usual);
    let usual = usual.filter_map(|row| row.heat.quantile(0.5)).min();
    let (Some(usual), true) = (
        usual,
        facts.open && facts.rows.iter().any(|row| stands(row)),
    ) else {
        return false;
    };
    let completed = facts.rows.iter().map(|row| row.completed as f64);
    let usually = median(completed).unwrap_or(0.0);
    let waits = |row: &&Row| {
        // When no more requests start, slow kinds of them are left.
        let goes_on = row.completed as f64 >= GOES_ON * usually;
        let times = row.heat.quantile(0.1).zip(row.heat.quantile(0.5));
        let all_wait = |(quick, median): (u64, u64)| {
            quick as f64 >= (usual as f64 + LONGER).max(ALIKE * median as f64)
        };
        goes_on && times.is_some_and(all_wait)
    };
    let series = facts.evidence.series.iter();
    let waiting: u64 = series.filter(waits).map(|row| row.completed).sum();
    waiting as f64 >= MANY * facts.counts.completed.max(1) as f64
}

/// Whether many more requests of an open load were in flight all the time than the usual times explain, and some of them
/// nearly as long as the run: the target serves others first.
pub(super) fn keeps_some_waiting(facts: &Facts<'_>) -> bool {
    const MANY: f64 = 10.0;
    const TIMES: f64 = 3.0;
    /// Share of the responses that took longer than this.
    const SOME: f64 = 0.01;
    const LONG_NS: u64 = 1_000_000_000;
    let time = facts.answered_time();
    let usual_s = time.quantile(0.5).unwrap_or(0.0) / 1e9;
    let rates = facts
        .rows
        .iter()
        .map(|row| row.completed as f64 / row_seconds(row));
    let usual = rates.fold(0.0, f64::max) * usual_s;
    let least = facts.rows.iter().map(|row| row.active_vus).min();
    let long = longer_than(time, LONG_NS);
    facts.open
        && queue::starves_some(facts)
        && least.is_some_and(|least| least as f64 >= MANY.max(TIMES * usual))
        && long as f64 >= SOME * time.count() as f64
}

/// Whether as many requests of an open load were in flight at the end of a second as start in one, and hardly any in most of
/// the others: responses had stopped for a while.
pub(super) fn stops_for_a_while(facts: &Facts<'_>) -> bool {
    /// Share of the largest pile.
    const HARDLY: f64 = 0.1;
    /// Requests that start in a second from which their number is not chance.
    const MANY: u64 = 20;
    let rows = facts.rows.iter().filter(|row| row.started >= MANY);
    let piles: Vec<f64> = rows.map(|row| share(row.active_vus, row.started)).collect();
    let most = piles.iter().copied().fold(0.0, f64::max);
    let usual = median(piles);
    facts.open && most >= 1.0 && usual.is_some_and(|usual| usual <= HARDLY * most)
}

/// Whether iterations of a script mostly consist of requests, and those that take most of the time take longer and longer
/// instead of equally long.
fn wait_for_different_times(facts: &Facts<'_>) -> bool {
    const MOSTLY: f64 = 0.5;
    const DIFFERENT: f64 = 2.0;
    let at = names::of_most_time(facts).quantiles(&[0.1, 0.9]);
    facts.request_share() >= MOSTLY && at.is_some_and(|at| at[1] >= DIFFERENT * at[0])
}

/// How many requests of an open load were in flight at least and at most, if their number swings far more than chance explains
/// and one in seven waits many times as long as the fastest: the target lets them go in bunches.
pub(super) fn is_let_go_in_bunches(facts: &Facts<'_>) -> Option<[u64; 2]> {
    const NOTICEABLE_NS: f64 = 200e6;
    const MANY_TIMES: f64 = 20.0;
    const ONE_IN_SEVEN: f64 = 0.85;
    /// The variance of a number of independent requests is its mean.
    const SWINGS: f64 = 8.0;
    /// One is a slowdown.
    const FALLS_MIN: usize = 2;
    let in_flight: Vec<f64> = facts.rows.iter().map(|row| row.active_vus as f64).collect();
    let (mean, deviation) = mean_and_deviation(&in_flight)?;
    let time = facts.answered_time();
    let (late, fastest) = time.quantile(ONE_IN_SEVEN).zip(time.min())?;
    let waits = late >= NOTICEABLE_NS.max(MANY_TIMES * fastest as f64);
    let swings = deviation * deviation >= SWINGS * mean;
    let is_so = facts.open && facts.load_is_constant() && in_flight.len() >= ROWS_MIN;
    let active = facts.rows.iter().map(|row| row.active_vus);
    let ends = [active.clone().min()?, active.max()?];
    let is_repeated = || falls(facts, mean) >= FALLS_MIN || is_in_step(facts, SWINGS);
    (is_so && waits && swings && is_repeated()).then_some(ends)
}

/// Whether in most seconds far more or far fewer requests were in flight at the end than their times explain, which are
/// shorter than a second: whatever holds them up does so once in every second, so that no second is a quiet one. `swings` is
/// the least ratio of the squared difference to the number expected.
fn is_in_step(facts: &Facts<'_>, swings: f64) -> bool {
    const SECOND_NS: f64 = 1e9;
    /// Steps of the summation.
    const STEPS: u32 = 20;
    let longest = facts.answered_time().quantile(0.99).unwrap_or(0.0);
    let differs = |row: &&&Row| {
        let middle = |step: u32| (f64::from(step) + 0.5) / f64::from(STEPS);
        let times = (0..STEPS).filter_map(|step| row.heat.quantile(middle(step)));
        let mean_s = times.sum::<u64>() as f64 / f64::from(STEPS) / SECOND_NS;
        // Little's law.
        let expected = (row.completed as f64 * mean_s / row_seconds(row)).max(1.0);
        (row.active_vus as f64 - expected).powi(2) >= swings * expected
    };
    let differing = facts.rows.iter().filter(differs).count();
    longest < SECOND_NS && differing * 2 > facts.rows.len()
}

/// How often the number in flight fell from above its mean to less than half of it, to the last response.
fn falls(facts: &Facts<'_>, mean: f64) -> usize {
    let mut is_high = false;
    let mut falls = 0;
    for row in facts.evidence.series {
        let in_flight = row.active_vus as f64;
        if in_flight > mean {
            is_high = true;
        } else if is_high && in_flight < mean / 2.0 {
            is_high = false;
            falls += 1;
        }
    }
    falls
}

/// Responses per second in the last third of the run, if arrivals outpace responses from beginning to end.
pub(super) fn falls_behind(facts: &Facts<'_>) -> Option<f64> {
    let rows = &facts.rows;
    if !facts.open || !facts.load_is_constant() || rows.len() < ROWS_MIN {
        return None;
    }
    let end = |thirds: usize| rows.len() * thirds / 3;
    let under_way = |thirds: usize| rows[end(thirds) - 1].active_vus as f64;
    let [first, second, last] = [1, 2, 3].map(under_way);
    let arrived: u64 = rows[end(1)..].iter().map(|row| row.started).sum();
    let of_slowest = names::heaviest(facts).map_or(arrived, |time| time.count() * 2 / 3);
    let pile = (PILED * arrived.min(of_slowest) as f64).max(PILE_MIN);
    let is_pile = second >= GROWS * first && last >= GROWS * second;
    let of_last = |of: fn(&Row) -> f64| rows[end(2)..].iter().map(|row| of(row)).sum::<f64>();
    let answered = of_last(|row| row.completed as f64);
    // A script's requests are counted when they end.
    let is_behind = answered < of_last(|row| row.started as f64)
        || facts.is_script() && wait_for_different_times(facts);
    let is_high = last - first >= pile || last - first >= PILE_MIN && gets_slower(rows);
    (is_pile && is_behind && is_high).then(|| answered / of_last(row_seconds))
}

/// Whether the slowest responses of each second took longer than those of the one before, by far in the end: one kind of them
/// waits behind more and more of its own.
fn gets_slower(rows: &[&Row]) -> bool {
    const RISES: f64 = 0.8;
    const SLOWER: f64 = 4.0;
    const LONG_NS: f64 = 500e6;
    let slowest = rows.iter().filter_map(|row| row.service_time_ns);
    let slowest: Vec<f64> = slowest.map(|times| times.p99 as f64).collect();
    let (Some(first), Some(last)) = (slowest.first(), slowest.last()) else {
        return false;
    };
    rising_share(&slowest) >= RISES && *last >= (SLOWER * first).max(first + LONG_NS)
}
