//! Responses that take longer as the run goes on: all of them, or a part from some second on.
//!
//! Must not say who the limit is. Invariant: a load that is not carried, or that always has slow requests, is no slowdown.

use loadline_model::result::Row;
use loadline_model::units::Nanos;
use loadline_model::verdict::{Finding, Gravity, Limit};

use super::code::Code;
use super::downtime::good;
use super::facts::{Facts, share};
use super::names;
use super::path;
use super::stats::{median, rising_share};
use super::wording::duration;

/// Minimum number of seconds from which one can stand out.
pub(super) const ROWS_MIN: usize = 6;
/// The first seconds are compared with the last part of this many equal parts.
pub(super) const LAST: usize = 3;
/// Responses are slowing if their median at the end is at least this many times that at the start.
const SLOWED_FACTOR: f64 = 1.5;
/// Minimum difference between these medians in nanoseconds.
const SLOWED_NS: f64 = 1_000_000.0;
/// If users continue as soon as they can, more responses at the end than this share of the initial ones mean that
/// nothing slowed down.
const FEWER: f64 = 0.8;
/// The slowdown is gradual if the median rose in this share of the seconds; otherwise a step is searched for.
const RISES: f64 = 0.8;
/// Minimum share of the planned requests of a second that got a response, and the number of first seconds in
/// which this must hold, if the load was not carried later.
const CARRIED: f64 = 0.9;
const CARRIED_ROWS: usize = 4;

/// The row from which on one in ten responses takes far longer than before, to the end, and how long in nanoseconds. Requests
/// that are slow by nature are answered late from the first second on, and seen later.
pub(super) fn of_a_part(facts: &Facts<'_>) -> Option<(usize, f64)> {
    const SLOWER: f64 = 5.0;
    const SLOWER_NS: f64 = 500e6;
    /// Share of the seconds from then on.
    const NEARLY_ALL: f64 = 0.8;
    const BEFORE_MIN: usize = 2;
    const AFTER_MIN: usize = 3;
    /// Nanoseconds in which none of them began.
    const NONE_NS: f64 = 1.5e9;
    let p90 = |row: &&Row| row.service_time_ns.map_or(0.0, |times| times.p90 as f64);
    let times: Vec<f64> = facts.rows.iter().map(p90).collect();
    let usual = median(times.get(..times.len() / LAST)?.iter().copied())?;
    let is_slow = |ns: &f64| *ns >= (SLOWER * usual).max(usual + SLOWER_NS);
    let at = times.iter().position(&is_slow)?;
    let (before, after) = times.split_at(at);
    let slow: Vec<f64> = after.iter().copied().filter(|ns| is_slow(ns)).collect();
    let are_most = slow.len() as f64 >= NEARLY_ALL * after.len() as f64;
    let took = median(slow.iter().copied())?;
    let is_new = facts.rows[at].at_ns as f64 - took >= NONE_NS;
    let is_long = before.len() >= BEFORE_MIN && after.len() >= AFTER_MIN;
    let is_carried = facts.open && facts.missed().is_none() && facts.counts.failed_total() == 0;
    let is_comparable = is_carried && facts.load_is_constant() && times.len() >= ROWS_MIN;
    (is_comparable && is_long && are_most && is_new).then_some((at, took))
}

pub(super) fn findings(facts: &Facts<'_>, limit: Limit) -> Option<Finding> {
    of_all(facts, limit).or_else(|| {
        let (at, took) = of_a_part(facts)?;
        let from = Nanos(facts.rows[at].at_ns).as_secs_f64();
        Some(Code::Slowing.finding(
            Gravity::Caution,
            format!(
                "from second {from:.0} on, one in ten responses took {} or more",
                duration(took / 1e9)
            ),
            "look for what changed at that time for a part of the requests: a replica, a shard, a disk",
        ))
    })
}

/// Responses that took longer from second to second under the same load, or from some second on.
struct Slowdown {
    /// Medians in nanoseconds, at first and at the end.
    first: f64,
    last: f64,
    /// The second in which it happened, in nanoseconds; `None`: it was gradual.
    from_ns: Option<u64>,
}

impl Slowdown {
    fn of(facts: &Facts<'_>) -> Option<Slowdown> {
        // A load that is not carried queues up, which is reported elsewhere; if it was carried at first, the target
        // itself became slower.
        if facts.missed().is_some() && !was_carried_at_first(facts) {
            return None;
        }
        // After the end of the load, only slow requests are left.
        let is_loaded = |row: &&&Row| row.completed > row.failed && row.started > 0;
        let answered = facts.rows.iter().filter(is_loaded);
        let (starts, times): (Vec<u64>, Vec<f64>) = answered
            .filter_map(|row| Some((row.at_ns, row.service_time_ns?.p50 as f64)))
            .unzip();
        let part = (times.len() / LAST).max(1);
        let (first, last) = (times.get(..part)?, times.get(times.len() - part..)?);
        let (first, last) = (
            median(first.iter().copied())?,
            median(last.iter().copied())?,
        );
        let is_little = last < SLOWED_FACTOR * first || last - first < SLOWED_NS;
        // Virtual users that continue at once get fewer responses if each takes longer: if there are as many as
        // before, only their order changed.
        if !facts.open && facts.is_hurried() && !become_fewer(facts) {
            return None;
        }
        // If requests always differ, each second has another mix.
        let is_usual =
            || names::usually_take(facts, last / 1e9) || came_from_the_start(facts, first, last);
        if times.len() < ROWS_MIN || is_little || is_usual() {
            return None;
        }
        let at = step(&times, first, last);
        let is_gradual =
            rising_share(&times) >= RISES && !at.is_some_and(|at| is_sudden(&times, at));
        let from_ns = match is_gradual {
            true => None,
            false => Some(*starts.get(at?)?),
        };
        Some(Slowdown {
            first,
            last,
            from_ns,
        })
    }
}

/// When the target became slower at once, in seconds, with the medians before and after it, in seconds: nothing shows that the
/// path became longer, and the generator read soon. `None`: it did not.
pub(super) fn of_target(facts: &Facts<'_>) -> Option<[f64; 3]> {
    /// Of what responses take longer.
    const SOON: f64 = 0.25;
    let is_even = facts.load_is_constant() || facts.threads_start_at_once();
    let slow = Slowdown::of(facts).filter(|_| is_even)?;
    let longer_s = (slow.last - slow.first) / 1e9;
    let is_read = facts.read_delay_s().unwrap_or(0.0) <= SOON * longer_s;
    let is_of_path = path::queued_ns(facts).is_some() || path::may_queue(facts);
    let from = Nanos(slow.from_ns?).as_secs_f64();
    (is_read && !is_of_path).then_some([from, slow.first / 1e9, slow.last / 1e9])
}

fn of_all(facts: &Facts<'_>, limit: Limit) -> Option<Finding> {
    let Slowdown {
        first,
        last,
        from_ns,
    } = Slowdown::of(facts)?;
    let advice = match (limit, from_ns) {
        (Limit::Network, _) => {
            "look for what changed on the network path: another route, other traffic, a queue; run longer"
        }
        (_, None) => {
            "look for what piles up in the target: data, connections, a queue; run longer to see where it ends"
        }
        (_, Some(_)) => {
            "look for what changed at that time, in the target or on the network path: a job, another program, a cache, a limit; run longer to see which stays"
        }
    };
    let how = from_ns.map_or_else(
        || "from second to second".to_owned(),
        |at| format!("from second {:.0} on", Nanos(at).as_secs_f64()),
    );
    let (first, last) = (duration(first / 1e9), duration(last / 1e9));
    Some(Code::Slowing.finding(
        Gravity::Caution,
        format!("responses took longer {how}: {first} at first, {last} at the end (medians)"),
        advice,
    ))
}

/// Whether many responses took about as long as the `last` ones in each of the first seconds: where there are two kinds, the
/// median is now of the one, now of the other.
fn came_from_the_start(facts: &Facts<'_>, first: f64, last: f64) -> bool {
    const APART: f64 = 3.0;
    const AS_LONG: [f64; 2] = [0.8, 1.5];
    const MANY: f64 = 0.25;
    let rows = &facts.rows[..facts.rows.len() / LAST];
    let has_many = |row: &&Row| {
        let [at_least, at_most] = AS_LONG.map(|times| row.heat.above((times * last) as u64));
        share(at_least - at_most, row.heat.above(0)) >= MANY
    };
    last >= APART * first && !rows.is_empty() && rows.iter().all(has_many)
}

/// Whether constantly many virtual users get fewer and fewer responses because each takes longer.
pub(super) fn costs_responses(facts: &Facts<'_>) -> bool {
    let users = facts.rows.iter().map(|row| row.active_vus);
    let are_constant = users.clone().min() == users.max();
    !facts.open && are_constant && become_fewer(facts) && Slowdown::of(facts).is_some()
}

/// Whether there are fewer good responses at the end than at first.
fn become_fewer(facts: &Facts<'_>) -> bool {
    let rates: Vec<f64> = facts.rows.iter().map(|row| good(row)).collect();
    let part = (rates.len() / LAST).max(1);
    let middle = |rates: Option<&[f64]>| median(rates?.iter().copied());
    let first = middle(rates.get(..part));
    let last = middle(rates.get(rates.len().saturating_sub(part)..));
    first
        .zip(last)
        .is_some_and(|(first, last)| last <= FEWER * first)
}

/// Whether the first seconds carried the planned load without delaying a single arrival.
fn was_carried_at_first(facts: &Facts<'_>) -> bool {
    let is_carried = |row: &&Row| {
        let offered = row.offered.unwrap_or(u64::MAX) as f64;
        row.completed as f64 >= CARRIED * offered && row.waiting == 0 && row.dropped == 0
    };
    let first = facts.rows.get(..CARRIED_ROWS);
    first.is_some_and(|rows| rows.iter().all(is_carried))
}

/// Whether the step at an index, with the second in which it happens, is most of the way from the first to the last time:
/// that the others rise as well is chance.
fn is_sudden(times: &[f64], at: usize) -> bool {
    const MOST: f64 = 0.8;
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return false;
    };
    let before = times[at.saturating_sub(1)];
    let after = times.get(at + 1).copied().unwrap_or(times[at]);
    after - before >= MOST * (last - first)
}

/// The index at which times move from one level to another: before it nearly all are on the near side of the
/// middle, from it on nearly all on the far side. `None`: there is no such index.
fn step(times: &[f64], first: f64, last: f64) -> Option<usize> {
    const STRAYS: f64 = 0.1;
    let middle = (first * last).sqrt();
    let at = times.iter().position(|time| *time > middle)?;
    let strays = times[at..].iter().filter(|time| **time <= middle).count();
    (strays as f64 <= STRAYS * times.len() as f64).then_some(at)
}
