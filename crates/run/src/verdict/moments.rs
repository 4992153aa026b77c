//! In which seconds a load fell short, if it did in a small part of the run: a spike, whose figures the means of the whole
//! run hide.
//!
//! Must not say who was in the way. Invariant: a moment is at most half of the run, and has nearly all of what it is about.

use loadline_model::result::Row;

use super::backlog;
use super::facts::{Facts, row_seconds};

/// Maximum share of the time.
const PART: f64 = 0.5;
/// Rows from which a part of them can stand out.
const ROWS_MIN: usize = 6;
/// Share of a span from its first second to its last from which it is told as a whole.
const WHOLE: f64 = 0.8;

/// Some seconds of the run, with the figures of these seconds.
pub(super) struct Moment<'a> {
    rows: Vec<&'a Row>,
    all_s: f64,
}

impl<'a> Moment<'a> {
    /// The seconds that are such; `None`: none, or too many.
    fn of(facts: &Facts<'a>, is_such: impl Fn(&Row) -> bool) -> Option<Moment<'a>> {
        let all_s: f64 = facts.rows.iter().map(|row| row_seconds(row)).sum();
        let rows = facts.rows.iter().copied().filter(|row| is_such(row));
        let moment = Moment {
            rows: rows.collect(),
            all_s,
        };
        let is_part = !moment.rows.is_empty() && moment.seconds() <= PART * all_s;
        (is_part && facts.rows.len() >= ROWS_MIN).then_some(moment)
    }

    fn seconds(&self) -> f64 {
        self.rows.iter().map(|row| row_seconds(row)).sum()
    }

    pub(super) fn sum(&self, of: impl Fn(&Row) -> u64) -> u64 {
        self.rows.iter().map(|row| of(row)).sum()
    }

    pub(super) fn per_second(&self, of: impl Fn(&Row) -> u64) -> f64 {
        self.sum(of) as f64 / self.seconds().max(f64::MIN_POSITIVE)
    }

    /// When it was: `from 10 s to 15 s`, or `in 6 of 30 s`.
    pub(super) fn when(&self) -> String {
        let begins = self.rows.first().map_or(0, |row| row.at_ns) as f64 / 1e9;
        let ends = self.rows.last().map_or(0.0, |row| {
            row.at_ns.saturating_add(row.span_ns) as f64 / 1e9
        });
        match self.seconds() >= WHOLE * (ends - begins) {
            true => format!("from {begins:.0} s to {ends:.0} s"),
            false => format!("in {:.0} of {:.0} s", self.seconds(), self.all_s),
        }
    }
}

/// The seconds in which arrivals of an open load were dropped, or waited for a virtual user; `None` if this went on to the
/// end: it took a while to use up all virtual users, and then shows what the load always lacks.
pub(super) fn of_shortfall<'a>(facts: &Facts<'a>) -> Option<Moment<'a>> {
    const DROPPED: f64 = 0.01;
    const WAITING: f64 = 0.1;
    let is_short = |row: &Row| {
        let offered = row.offered.unwrap_or(0) as f64;
        let at_least = |number: u64, share: f64| number > 0 && number as f64 >= share * offered;
        at_least(row.dropped, DROPPED) || at_least(row.waiting, WAITING)
    };
    let arrivals = |row: &&&Row| row.offered.is_some_and(|offered| offered > 0);
    let passes = facts
        .rows
        .iter()
        .rev()
        .find(arrivals)
        .is_some_and(|last| !is_short(last));
    let moment = Moment::of(facts, is_short)?;
    (facts.open && passes).then_some(moment)
}

/// The seconds in which an open load got nearly all of its failures and wrong responses.
pub(super) fn of_failures<'a>(facts: &Facts<'a>) -> Option<Moment<'a>> {
    const NEARLY_ALL: f64 = 0.9;
    /// Of the share in the worst second.
    const AS_MANY: f64 = 0.25;
    let bad = |row: &Row| row.outcomes().bad();
    let share = |row: &Row| bad(row) as f64 / row.outcomes().done().max(1) as f64;
    let most = facts.rows.iter().map(|row| share(row)).fold(0.0, f64::max);
    let moment = Moment::of(facts, |row| bad(row) > 0 && share(row) >= AS_MANY * most)?;
    let all: u64 = facts.rows.iter().map(|row| bad(row)).sum();
    (facts.open && moment.sum(bad) as f64 >= NEARLY_ALL * all as f64).then_some(moment)
}

/// The seconds at whose end many of the arrivals of an open load were in flight.
pub(super) fn of_queue<'a>(facts: &Facts<'a>) -> Option<Moment<'a>> {
    let moment = Moment::of(facts, |row| row.started > 0 && backlog::stands(row))?;
    facts.open.then_some(moment)
}
