//! The steady seconds of a run: those in which the plan holds its load after the warm-up.
//!
//! Must not know their use. Invariant: incomplete rows are never among them.

use loadline_model::Nanos;
use loadline_model::rates::level_span;
use loadline_model::result::{Row, RunResult};

/// The steady rows in the order of time; empty for plans without a level load.
pub(super) fn rows(result: &RunResult) -> Vec<&Row> {
    let Some((from, until)) = level_span(&result.plan) else {
        return Vec::new();
    };
    // The first second makes connections, and the end of the last row is not due to the plan.
    let from = from.0.saturating_add(Nanos::PER_SECOND);
    let until = until.map_or(u64::MAX, |at| at.0.saturating_add(Nanos::PER_SECOND / 10));
    let whole = usual_span(&result.series);
    let is_inside = |row: &&Row| {
        !row.warm_up
            && row.span_ns >= whole
            && row.at_ns >= from
            && row.at_ns.saturating_add(row.span_ns) <= until
    };
    result.series.iter().filter(is_inside).collect()
}

/// The length of a whole row: that of the longest, as rows are halved in number all at once.
fn usual_span(rows: &[Row]) -> u64 {
    let longest = rows.iter().map(|row| row.span_ns).max().unwrap_or(0);
    // Timers are slightly late, so rows are slightly longer or shorter.
    (longest - longest / 10).max(1)
}
