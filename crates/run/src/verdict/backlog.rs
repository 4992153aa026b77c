//! Whether requests pile up: the number in flight grows from third to third of a run with constant load.
//!
//! Must not ask who is slow. Invariant: growth that more virtual users or a rising rate explain is not a pile.

use loadline_model::result::Row;

use super::facts::{Facts, row_seconds};
use super::names;

/// Rows needed to compare thirds.
const ROWS_MIN: usize = 6;
/// Minimum growth factor of the requests in flight from the end of one third to the end of the next.
const GROWS: f64 = 1.25;
/// Minimum share of the arrivals of two thirds that piles up in them, and of the requests of the name that
/// takes most of the time.
const PILED: f64 = 0.05;
/// Minimum number of requests in a pile.
const PILE_MIN: f64 = 5.0;

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
    let is_behind = answered < of_last(|row| row.started as f64);
    (is_pile && is_behind && last - first >= pile).then(|| answered / of_last(row_seconds))
}
