//! Whether requests pile up: more of them are under way from third to third of a run whose load stays the same.
//!
//! Must not ask who is slow. Invariant: nothing piles up that more virtual users or a rising rate explain.

use loadline_model::result::Row;

use super::facts::{Facts, row_seconds};

/// Rows from which thirds say something.
const ROWS_MIN: usize = 6;
/// How many times as many requests are under way at the end of a third as at the end of the one before, at least.
const GROWS: f64 = 1.25;
/// Share of the arrivals of two thirds that piles up in them, at least.
const PILED: f64 = 0.05;

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
    let is_pile = second >= GROWS * first && last >= GROWS * second;
    let of_last = |of: fn(&Row) -> f64| rows[end(2)..].iter().map(|row| of(row)).sum::<f64>();
    (is_pile && last - first >= PILED * arrived as f64)
        .then(|| of_last(|row| row.completed as f64) / of_last(row_seconds))
}
