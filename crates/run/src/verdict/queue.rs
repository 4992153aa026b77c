//! Whether response times show a queue in the target: more virtual users would only lengthen it.
//!
//! Must not say who is the limit; `limits` decides that. Invariant: times that vary by nature, or that are long
//! and uniform, are not a queue.

use loadline_metric::TimeTrend;
use loadline_model::heat::Heat;
use loadline_model::result::Row;

use super::facts::{Facts, row_seconds, share};
use super::names;
use super::path::round_trip;
use super::stats::{self, longer_than, median};

/// Minimum ratio of the median to the fastest response if responses wait for their turn.
const WAITS: f64 = 1.8;
/// A median this far above the fastest response, with such a narrow spread, is queueing in the target: in a
/// closed loop on a saturated server all responses take about (virtual users / capacity).
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
/// Standard deviations between the 10th and the 90th percentile of a normal distribution.
const MIDDLE_80: f64 = 2.56;
/// Minimum ratio of the 10th percentile to the median in a queue, and the same if the longest times are alike, as all users
/// wait in it.
const QUICK: f64 = 0.4;
const QUICK_OF_ALIKE: f64 = 0.25;
/// Maximum ratio of the 90th percentile to the median of times that are alike.
const ALIKE: f64 = 1.5;

/// The shares of the responses whose times show a queue.
const QUEUE_QUANTILES: [f64; 3] = [0.1, 0.5, 0.9];

/// How a queue shows in response times.
struct Queue {
    /// Minimum ratio of the median to the fastest response.
    median: f64,
    /// Maximum ratio of the 90th percentile to the 10th.
    spread: f64,
}

/// Whether all responses, or those of the request that takes most of the time, or those that came while all virtual
/// users were in use, show a queue in the target.
pub(super) fn has_queue(facts: &Facts<'_>) -> bool {
    let way_ns = round_trip(facts).unwrap_or(0.0) * 1e9;
    let shows = |time: &TimeTrend| shows_queue(facts, time, way_ns);
    shows(facts.answered_time())
        || names::heaviest(facts).is_some_and(shows)
        || shows_queue_when_full(facts, way_ns)
}

/// `way_ns`: the part of each time that the network path takes.
fn shows_queue(facts: &Facts<'_>, time: &TimeTrend, way_ns: f64) -> bool {
    let at = time
        .quantiles(&QUEUE_QUANTILES)
        .zip(fastest_ns(facts, time));
    at.is_some_and(|(at, fastest)| {
        let at = [at[0], at[1], at[2]].map(|ns| ns - way_ns);
        are_of_queue(at, fastest - way_ns)
    })
}

/// The fastest response. If the target answered some requests with errors at once, or at once all along, as from a cache,
/// the fastest of the others: where all wait in a queue, only the first ones do not.
fn fastest_ns(facts: &Facts<'_>, time: &TimeTrend) -> Option<f64> {
    /// As a share of the 10th percentile.
    const AT_ONCE: f64 = 0.5;
    const MANY_ROWS: usize = 2;
    /// From this share of that time on there are hardly any.
    const GAP: f64 = 0.25;
    /// Maximum difference between the numbers of errors and of such responses: one, or this share.
    const AS_MANY: f64 = 0.1;
    let quick = AT_ONCE * time.quantile(QUEUE_QUANTILES[0])?;
    let at_once = time.count() - longer_than(time, quick as u64);
    let wrong = facts.counts.outcomes().wrong();
    let differ = at_once.abs_diff(wrong) as f64;
    let are_errors = wrong > 0 && differ <= (AS_MANY * wrong as f64).max(1.0);
    let later = facts.rows.get(1..).unwrap_or_default();
    let has_some = |row: &&&Row| row.heat.quantile(0.0).is_some_and(|ns| ns < quick as u64);
    let all_along = later.iter().filter(has_some).count() >= MANY_ROWS.max(later.len() / 3);
    // Times of one kind have no gap.
    let between = longer_than(time, (GAP * quick) as u64) + at_once - time.count();
    let is_apart = between as f64 <= AS_MANY * at_once as f64;
    match at_once > 0 && (are_errors || all_along && is_apart) {
        true => time.quantile(share(at_once + 1, time.count())),
        false => time.min().map(|ns| ns as f64),
    }
}

/// The same for the seconds that began and ended with all virtual users in use.
fn shows_queue_when_full(facts: &Facts<'_>, way_ns: f64) -> bool {
    const MANY: u64 = 50;
    let is_full = |row: &&Row| row.active_vus >= facts.vus;
    let pairs = facts.rows.windows(2);
    let mut heat = Heat::default();
    let full = pairs.filter(|pair| pair.iter().all(&is_full));
    full.for_each(|pair| heat.merge(&pair[1].heat));
    let at = QUEUE_QUANTILES.map(|share| heat.quantile(share).unwrap_or(0) as f64 - way_ns);
    let fastest = fastest_ns(facts, facts.answered_time());
    heat.above(0) >= MANY && fastest.is_some_and(|fastest| are_of_queue(at, fastest - way_ns))
}

/// Whether response times at [`QUEUE_QUANTILES`] are those of a queue, given the fastest response.
fn are_of_queue(at: [f64; 3], fastest: f64) -> bool {
    let [quick, median, slow] = at;
    let shows =
        |queue: &Queue| median >= queue.median * fastest.max(0.0) && slow <= queue.spread * quick;
    // Times that vary by nature include short ones, however many requests wait, and long ones.
    let quick_min = match slow <= ALIKE * median {
        true => QUICK_OF_ALIKE,
        false => QUICK,
    };
    quick >= quick_min * median && QUEUES.iter().any(shows)
}

/// Whether responses took longer while all virtual users were in use than while some were free.
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

/// Whether the fastest responses are those of the first second, before the queue had filled: later ones are
/// never nearly as fast, and are uniform.
pub(super) fn fills_at_start(facts: &Facts<'_>) -> bool {
    /// Minimum ratio of the 1st percentile to the median of uniform responses.
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

/// Whether the number of responses per second is much more constant than chance and the spread of their times
/// allow, and responses take much longer than the fastest: the target processes them at its own pace, in
/// whatever order.
pub(super) fn is_served_evenly(facts: &Facts<'_>) -> bool {
    /// Maximum share of the deviation expected by chance: so even are four, five or more seconds once in 400 runs.
    const EVEN: [f64; 3] = [0.12, 0.18, 0.25];
    /// Maximum share of the deviation expected from as many virtual users with independent response times.
    const EVENER: f64 = 0.6;
    const ROWS_MIN: usize = 4;
    let is_even = |pace: Pace| {
        let on_their_own = facts.answered_time().quantiles(&[0.1, 0.5, 0.9]);
        let differ = on_their_own.map_or(0.0, |at| (at[2] - at[0]) / MIDDLE_80 / at[1]);
        let even = EVEN[(pace.rows - ROWS_MIN).min(EVEN.len() - 1)];
        pace.deviation <= even.min(EVENER * differ) * pace.by_chance()
    };
    may_stand(facts) && Pace::of(facts, ROWS_MIN).is_some_and(is_even)
}

/// Whether the number of responses per second varies much more than chance allows for requests that do not wait for
/// each other, while they take much longer than the fastest: something that all of them need gets stuck at times.
pub(super) fn varies_together(facts: &Facts<'_>) -> bool {
    /// Minimum multiple of the deviation expected by chance.
    const UNEVEN: f64 = 3.0;
    /// So uneven by chance are few seconds, once in 100,000 runs.
    const ROWS_MIN: usize = 4;
    let is_uneven = |pace: Pace| pace.deviation >= UNEVEN * pace.by_chance();
    may_stand(facts) && Pace::of(facts, ROWS_MIN).is_some_and(is_uneven)
}

/// Whether more users of a closed load, or more arrivals of an open one, got hardly more responses, and waited longer for each.
pub(super) fn slows_with_load(facts: &Facts<'_>) -> bool {
    /// The middle of the load and its top, as shares of the most at once.
    const MIDDLE: std::ops::Range<f64> = 0.4..0.7;
    const TOP: f64 = 0.85;
    /// Maximum ratio of the responses per second at the top to those in the middle.
    const FLAT: f64 = 1.15;
    const SLOWER: f64 = 1.5;
    let load = |row: &Row| match facts.open {
        true => row.offered.unwrap_or(0),
        false => row.active_vus,
    };
    let most = facts.rows.iter().map(|row| load(row)).max().unwrap_or(0);
    let level = |row: &Row| share(load(row), most);
    let of = |is_in: &dyn Fn(f64) -> bool| -> (Vec<f64>, Vec<f64>) {
        let rows = facts.rows.iter().filter(|row| is_in(level(row)));
        let both = rows.filter_map(|row| {
            let p50 = row.service_time_ns?.p50 as f64;
            Some((row.good as f64 / row_seconds(row), p50))
        });
        both.unzip()
    };
    let (rates, times) = of(&|level| MIDDLE.contains(&level));
    let (at_top, longer) = of(&|level| level >= TOP);
    // Where users become fewer again, those of the middle still find the queue of the top.
    let quickest = times.into_iter().min_by(f64::total_cmp);
    let rates = median(rates).zip(median(at_top));
    let times = quickest.zip(median(longer));
    let is_flat = rates.is_some_and(|(rate, at_top)| at_top <= FLAT * rate);
    let is_slower = times.is_some_and(|(time, longer)| longer >= SLOWER * time);
    is_flat && is_slower
}

/// Whether nearly every response takes as long as the fastest: none of them waits for another.
pub(super) fn takes_as_long_for_each(time: &TimeTrend) -> bool {
    /// Number of responses from which the fastest cannot be luck.
    const SOME: u64 = 5;
    const LONGER: f64 = 1.1;
    let both = time.quantile(0.9).zip(time.min());
    time.count() >= SOME && both.is_some_and(|(slow, min)| slow <= LONGER * min as f64)
}

/// Whether half of these responses took so much longer than the fastest that some may have waited in the target.
pub(super) fn half_may_wait(facts: &Facts<'_>, time: &TimeTrend) -> bool {
    const LONGER: f64 = 1.15;
    half_take_longer(facts, time, LONGER)
}

/// Whether requests may be queueing, in whatever order: all responses, or those that take most of the time,
/// take much longer than the fastest of them. Times that vary by nature look the same.
pub(super) fn may_stand(facts: &Facts<'_>) -> bool {
    let time = names::of_most_time(facts);
    half_take_longer(facts, time, WAITS) || slow_ones_may_stand(time)
}

/// The same for what is left of these times without the mean time for which responses waited for the generator.
pub(super) fn may_stand_in_target(facts: &Facts<'_>) -> bool {
    let time = names::of_most_time(facts);
    let own_ns = facts.read_delay_s().unwrap_or(0.0) * 1e9;
    let at = time.quantile(0.5).zip(fastest_ns(facts, time));
    at.is_some_and(|(median, fastest)| median - own_ns >= WAITS * fastest)
        || slow_ones_may_stand(time)
}

/// Whether half of the responses took at least so many times as long as the fastest.
fn half_take_longer(facts: &Facts<'_>, time: &TimeTrend, times: f64) -> bool {
    let at = time.quantile(0.5).zip(fastest_ns(facts, time));
    at.is_some_and(|(median, fastest)| median >= times * fastest)
}

/// Whether part of the responses take most of the time and vary as if they waited for each other. For example,
/// they miss a cache, and the resource behind it serves one at a time.
fn slow_ones_may_stand(time: &TimeTrend) -> bool {
    const SOME: u64 = 20;
    /// Share of the total time.
    const MOST: f64 = 0.75;
    /// Quantile of the slow ones taken as their fastest; the very fastest might belong to the others.
    const FIRST: f64 = 0.02;
    let Some(fastest) = time.min() else {
        return false;
    };
    let bound = (WAITS * fastest as f64) as u64;
    let all = time.count();
    let slow = longer_than(time, bound);
    let others = all - slow;
    let first = others + 1 + (FIRST * slow as f64) as u64;
    let at = time.quantiles(&[share(first, all), share(others + slow / 2, all)]);
    let differ = at.is_some_and(|at| at[1] >= WAITS * at[0]);
    // Upper bound of the time of the other responses.
    let of_others = others as f64 * bound as f64;
    slow >= SOME && time.sum() as f64 - of_others >= MOST * time.sum() as f64 && differ
}

/// Whether a few responses take most of the time, and nearly as long as the run: later requests are served
/// before them.
pub(super) fn starves_some(facts: &Facts<'_>) -> bool {
    const AS_LONG: f64 = 0.5;
    let longest = facts.answered_time().max().unwrap_or(0) as f64 / 1e9;
    is_mostly_long(facts) && longest >= AS_LONG * facts.seconds
}

/// Whether a few responses, which take many times as long, make up most of the total time.
pub(super) fn is_mostly_long(facts: &Facts<'_>) -> bool {
    const LONG: f64 = 5.0;
    let time = names::of_most_time(facts);
    let usual = time.quantile(0.5).zip(time.mean());
    usual.is_some_and(|(median, mean)| mean >= LONG * median)
}

/// Whether nearly all virtual users are in use at some times and hardly any at others, under the same load:
/// something that all responses wait for releases them at once.
pub(super) fn comes_in_bunches(facts: &Facts<'_>) -> bool {
    const ROWS_MIN: usize = 6;
    /// Minimum factor over the deviation expected by chance for the number of waiting virtual users.
    const BUNCHED: f64 = 2.0;
    let in_use: Vec<f64> = facts.rows.iter().map(|row| row.active_vus as f64).collect();
    let is_bunched = stats::mean_and_deviation(&in_use)
        .is_some_and(|(_, deviation)| deviation >= BUNCHED * (facts.vus as f64).sqrt());
    is_bunched && in_use.len() >= ROWS_MIN && facts.load_is_constant()
}

/// Whether responses come in rounds, one for each virtual user: nearly every second has a whole number of rounds, of which
/// some have one more than others, and no response takes many times as long as another. What releases them all at once is
/// no queue, which releases one after the other.
pub(super) fn comes_in_rounds(facts: &Facts<'_>) -> bool {
    /// With fewer, numbers are multiples of theirs by chance.
    const USERS_MIN: u64 = 8;
    const ROWS_MIN: usize = 4;
    const NEARLY_ALL: f64 = 0.75;
    /// Maximum ratios of the median to the 10th percentile, and of the 90th to the median.
    const LONGER: [f64; 2] = [2.5, 1.6];
    let users = facts.vus;
    if users < USERS_MIN || !facts.load_is_constant() || facts.evidence.plan.scenarios.len() > 1 {
        return false;
    }
    // Those that arrivals wait for are busy after the schedule too.
    let longest = facts.rows.iter().map(|row| row.span_ns).max().unwrap_or(0);
    let counted = facts.evidence.series.iter().filter(|row| !row.warm_up);
    let full = counted
        .skip(1)
        .filter(|row| row.span_ns >= longest - longest / 10);
    let numbers: Vec<u64> = full.map(|row| row.completed).filter(|n| *n > 0).collect();
    let whole = || numbers.iter().filter(|n| n.is_multiple_of(users));
    let are_alike = facts.answered_time().quantiles(&QUEUE_QUANTILES);
    let are_alike =
        are_alike.is_some_and(|at| at[1] <= LONGER[0] * at[0] && at[2] <= LONGER[1] * at[1]);
    numbers.len() >= ROWS_MIN
        && whole().count() as f64 >= NEARLY_ALL * numbers.len() as f64
        && whole().min() < whole().max()
        && are_alike
}

/// Responses per second while all virtual users are in use.
struct Pace {
    rows: usize,
    rate: f64,
    deviation: f64,
}

impl Pace {
    /// `None` if the load changes, or if there are fewer seconds than that, or too few responses.
    fn of(facts: &Facts<'_>, rows_min: usize) -> Option<Pace> {
        const MANY: f64 = 10.0;
        let rows = facts.rows.get(1..facts.rows.len().saturating_sub(1))?;
        let full = rows.iter().filter(|row| row.active_vus >= facts.vus);
        let answers: Vec<f64> = full
            .map(|row| row.completed as f64 / row_seconds(row))
            .collect();
        let (rate, deviation) = stats::mean_and_deviation(&answers)?;
        let says = answers.len() >= rows_min && rate >= MANY && facts.load_is_constant();
        says.then_some(Pace {
            rows: answers.len(),
            rate,
            deviation,
        })
    }

    /// The deviation of a number of independent events: its square root.
    fn by_chance(&self) -> f64 {
        self.rate.sqrt()
    }
}
