//! When the target gave hardly any good response, and whether it recovered.
//!
//! Must not say who the limit is, nor choose the wording. Invariant: seconds are only compared if the plan has
//! the same load in each.

use loadline_model::error_class::Fault;
use loadline_model::result::Row;
use loadline_model::units::Nanos;

use super::facts::{Facts, row_seconds, share};
use super::link;
use super::names;
use super::stats::median;
use super::weights;

/// Minimum number of seconds needed to detect an outage.
const OUTAGE_ROWS_MIN: usize = 4;
/// Minimum number of good responses in a usual second, so that an empty second is not chance.
pub(super) const USUAL_MIN: f64 = 20.0;
/// A second with less than this share of the usual good responses is an outage.
pub(super) const DOWN: f64 = 0.1;
/// The same if the generator's workers waited for CPU: they then send fewer requests and get fewer responses.
const GONE: f64 = 0.01;
/// Share of a worker's time spent waiting for CPU in such a second.
const STARVED: f64 = 0.3;
/// A second with more than this share of the usual good responses has recovered.
const RECOVERED: f64 = 0.5;
/// Share of a second for which the generator was stalled, so that the second says nothing about the target.
const STALLED: f64 = 0.5;

/// Share of a script's iterations ending with an exception from which the script itself limits the load.
const THROWN: f64 = 0.1;

/// Good responses of a row, per second.
pub(super) fn good(row: &Row) -> f64 {
    row.good as f64 / row_seconds(row)
}

/// Whether a second also contains the responses of arrivals that waited in the previous one.
fn catches_up(before: &Row, row: &Row) -> bool {
    const WAITING: f64 = 0.1;
    before.waiting > 0 && before.waiting as f64 >= WAITING * row.offered.unwrap_or(0) as f64
}

/// A period in which the target gave hardly any good response.
pub(super) struct Downtime {
    /// Good responses per second while the target was up.
    pub(super) usual: f64,
    /// The row in which it starts.
    pub(super) begins: usize,
    /// Its length in rows; `None`: it lasted to the end.
    pub(super) length: Option<usize>,
}

/// The first downtime.
pub(super) fn downtime(facts: &Facts<'_>) -> Option<Downtime> {
    let rows = &facts.rows;
    // Users who all wait for one thing ask for nothing else, whose responses would show that the target is up.
    let hangs_in_one = !facts.open && names::that_hangs(facts).is_some();
    let is_asked = facts.load_is_constant() && !breaks_off(facts) && !hangs_in_one;
    if !is_asked || rows.len() < OUTAGE_ROWS_MIN {
        return None;
    }
    // The seconds in which the target was up define what is usual.
    let later = rows.windows(2).filter(|two| !catches_up(two[0], two[1]));
    let up = rows.iter().take(1).chain(later.map(|two| &two[1]));
    let up: Vec<f64> = up.map(|row| good(row)).collect();
    let most = most_of(&up);
    let usual = median(up.into_iter().filter(|good| *good >= RECOVERED * most))?;
    let usual = usual.min(asked_for(facts));
    if usual < USUAL_MIN {
        return None;
    }
    let is_down = |row: &&Row| is_down(facts, row, usual);
    // The target may need time before its first response.
    let first_up = rows.iter().position(|row| !is_down(row))?;
    let begins = first_up + rows[first_up..].iter().position(is_down)?;
    let length = rows[begins..]
        .iter()
        .position(|row| has_recovered(row, usual));
    // Responses after the last arrival show that the target is up.
    let last = rows.last()?.at_ns;
    let mut later = facts.evidence.series.iter().filter(|row| row.at_ns > last);
    let comes_back = later.any(|row| has_recovered(row, usual));
    // Workers that waited for sinks for that long sent no requests.
    let down = &rows[begins..begins + length.unwrap_or(rows.len() - begins)];
    let down_s: f64 = down.iter().map(|row| row_seconds(row)).sum();
    let held_s = facts.seen.back_pressure_ns as f64 / 1e9 / facts.workers();
    let is_ours = held_s >= weights::HELD_MOSTLY * down_s;
    (!is_ours).then_some(Downtime {
        usual,
        begins,
        length: length.or(comes_back.then_some(rows.len() - begins)),
    })
}

/// The most good responses per second but for one second, in which the generator may have had its machine for itself; those of
/// that second, if hardly any came in all the others.
fn most_of(up: &[f64]) -> f64 {
    let mut up = up.to_vec();
    up.sort_by(|a, b| b.total_cmp(a));
    match up[..] {
        [most, next, ..] if next < DOWN * most => most,
        [_, next, ..] => next,
        _ => 0.0,
    }
}

/// Requests per second that an open load asks for: what comes beyond them was due before. A script asks for as many as it likes.
fn asked_for(facts: &Facts<'_>) -> f64 {
    let is_all = facts.open && !facts.may_think() && facts.closed_vus() == 0;
    let asked = facts.asked_rate().filter(|_| is_all);
    asked.unwrap_or(f64::INFINITY)
}

/// When it was, if the target recovered: `from 6 s to 7 s`.
pub(super) fn recovered(facts: &Facts<'_>) -> Option<String> {
    let down = downtime(facts)?;
    let rows = facts.rows.get(down.begins..down.begins + down.length?)?;
    let ends = rows.last()?.at_ns.saturating_add(rows.last()?.span_ns);
    let seconds = |ns: u64| Nanos(ns).as_secs_f64();
    let begins = seconds(rows.first()?.at_ns);
    Some(format!("from {begins:.0} s to {:.0} s", seconds(ends)))
}

/// Whether there was one, and the target recovered.
pub(super) fn comes_back(facts: &Facts<'_>) -> bool {
    downtime(facts).is_some_and(|down| down.length.is_some())
}

/// Whether so many iterations of a script end with an exception that the script itself reduces the load.
pub(super) fn breaks_off(facts: &Facts<'_>) -> bool {
    let (thrown, all) = facts.thrown();
    share(thrown, all) >= THROWN
}

/// When the target stopped responding for good, in seconds; `None`: it did not, or its last responses were
/// wrong.
pub(super) fn silent_from(facts: &Facts<'_>) -> Option<f64> {
    let down = downtime(facts).filter(|down| down.length.is_none())?;
    let rows = &facts.rows[down.begins..];
    let is_silent = end_of(facts, rows, down.usual) == Some(End::Silent);
    is_silent.then(|| rows[0].at_ns as f64 / 1e9)
}

/// How often the target was down and recovered in these rows.
pub(super) fn further(facts: &Facts<'_>, mut rows: &[&Row], usual: f64) -> usize {
    let mut found = 0;
    while let Some(down) = rows.iter().position(|row| is_down(facts, row, usual)) {
        let Some(length) = rows[down..]
            .iter()
            .position(|row| has_recovered(row, usual))
        else {
            break;
        };
        found += 1;
        rows = &rows[down + length..];
    }
    found
}

fn has_recovered(row: &Row, usual: f64) -> bool {
    good(row) > RECOVERED * usual
}

/// Whether nobody was there to ask: all that would have are gone, or have nothing in flight.
fn is_deserted(facts: &Facts<'_>, row: &Row) -> bool {
    let is_empty = row.started == 0 && row.completed == 0 && row.failed == 0;
    // What lost agents had in flight counts as in flight for good.
    is_empty && (row.active_vus == 0 || facts.has_lost_agents())
}

/// Whether the target gave hardly any good response in a second in which it got requests.
fn is_down(facts: &Facts<'_>, row: &Row, usual: f64) -> bool {
    if is_deserted(facts, row) {
        return false;
    }
    // A generator that was busy otherwise and sent hardly any requests cannot have seen an outage.
    let was_asked = row.started as f64 / row_seconds(row) >= DOWN * usual
        || weights::occupied_in(facts, row) < weights::OCCUPIED;
    let ran = facts.stalled_s(row) < STALLED * row_seconds(row);
    // Few responses that each take long are all that the virtual users can get: slow, but not down.
    let taken = row
        .service_time_ns
        .map_or(0.0, |times| times.p90 as f64 / 1e9);
    let users = row.active_vus as f64;
    let is_slow = row.good > 0 && users > 0.0 && good(row) * taken >= RECOVERED * users;
    let left = match weights::starved_in(row, facts.workers()) >= STARVED {
        true => GONE,
        false => DOWN,
    };
    // Virtual users that have finished send fewer requests, and got all their responses.
    let is_through = !facts.open
        && row.active_vus.saturating_mul(2) < facts.most_active_vus()
        && row.good > 0
        && row.good == row.completed
        && row.completed >= row.started
        && row.failed == 0;
    if is_through {
        return false;
    }
    good(row) < left * usual && was_asked && ran && !is_slow && !fails_by_itself(row)
}

/// The state of a target that did not recover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Silent,
    Wrong,
}

/// How it ended in the rows from its outage on; `None`: good responses became fewer, but too many remain, or
/// their bodies arrive slowly.
pub(super) fn end_of(facts: &Facts<'_>, rows: &[&Row], usual: f64) -> Option<End> {
    let sum = |of: fn(&Row) -> u64| rows.iter().map(|row| of(row)).sum::<u64>();
    let (answered, good) = (sum(|row| row.completed), sum(|row| row.good));
    let left: f64 = rows.iter().map(|row| row_seconds(row)).sum();
    if good as f64 >= DOWN * usual * left {
        return None;
    }
    let still_answers = answered > 2 * good && answered as f64 / usual >= DOWN;
    match still_answers {
        true => Some(End::Wrong),
        false if good > 0 && (link::link(facts).is_some() || still_sends(facts, rows)) => None,
        false => Some(End::Silent),
    }
}

/// Whether bytes still arrive in these rows at a considerable part of the rate before them.
fn still_sends(facts: &Facts<'_>, rows: &[&Row]) -> bool {
    let rate = |rows: &[&Row]| {
        let bytes: u64 = rows.iter().map(|row| row.bytes_received).sum();
        bytes as f64 / rows.iter().map(|row| row_seconds(row)).sum::<f64>()
    };
    let before = facts.rows.len().saturating_sub(rows.len());
    let usual = rate(&facts.rows[..before]);
    usual > 0.0 && rate(rows) >= DOWN * usual
}

/// Whether the generator could not even send, because it ran out of ports or descriptors.
fn fails_by_itself(row: &Row) -> bool {
    let own = row.failures.iter();
    let own = own.filter(|(class, _)| class.fault() == Fault::Generator);
    own.map(|(_, n)| n).sum::<u64>().saturating_mul(2) >= row.started.max(1)
}
