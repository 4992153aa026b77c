//! Whether requests pile up: more of them are under way from third to third of a run whose load stays the same.
//!
//! Must not ask who is slow. Invariant: nothing piles up that more virtual users or a rising rate explain.

use loadline_model::result::Row;

use super::facts::{Facts, row_seconds};
use super::names;

/// Rows from which thirds say something.
const ROWS_MIN: usize = 6;
/// How many times as many requests are under way at the end of a third as at the end of the one before, at least.
const GROWS: f64 = 1.25;
/// Share of the arrivals of two thirds that piles up in them, at least, and of the requests of one name that take most of the time.
const PILED: f64 = 0.05;
/// Requests in a pile, at least.
const PILE_MIN: f64 = 5.0;

/// Answers per second in the last third of the run, where arrivals come faster than answers from beginning to end.
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
    let is_behind = answered < of_last(|row| row.started as f64);
    (is_pile && is_behind && last - first >= pile).then(|| answered / of_last(row_seconds))
}
