//! Rebuilds a result from a journal, for a run that could not write one itself.
//!
//! Must not know files. Invariant: every number is derived from complete records, and requests in flight at the
//! end are counted as interrupted, so that conservation holds.

use loadline_metric::ValueTrend;
use loadline_model::event::Mark;
use loadline_model::observation::{OBSERVER_MARK, ObservationLog};
use loadline_model::rates::{measured_ns, rates};
use loadline_model::result::{Row, RunResult, StopReason, Totals};
use loadline_model::snapshot::Snapshot;
use loadline_model::tag_series::TagRows;
use loadline_model::test_summary::TestSummary;
use loadline_model::units::Nanos;
use loadline_model::verdict::Verdict;

use super::encode::{Part, Start};

/// The result of a run whose journal has no end.
pub(super) fn result_of(
    start: Start,
    mut told: Part,
    observed: ObservationLog,
    tag_rows: &TagRows,
) -> RunResult {
    told.seen.counts.interrupt_rest();
    told.seen.warm_up.interrupt_rest();
    let totals = totals_of(&start, &told);
    let missing = told.left_out.saturating_add(observed.left_out());
    let missing = left_out(missing, totals.elapsed_ns);
    let script = told.seen.script.take();
    let settings = start.plan.script.as_deref();
    let by_tag = settings.map(|script| script.series.table_tag());
    let mut summary = script.map(|seen| TestSummary::of(&seen, totals.elapsed_ns, by_tag, &[]));
    if let Some(by_tag) = summary.as_mut().and_then(|summary| summary.by_tag.as_mut()) {
        by_tag.over_time = tag_rows.series();
    }
    RunResult {
        verdict: verdict_of(&totals),
        series: told.rows,
        events: told.marks.into_iter().chain(missing).collect(),
        // Without the run's phases: the end of the load is unknown.
        observations: observed.finish(None),
        summary,
        ..RunResult::bare(
            start.plan,
            start.environment,
            Totals {
                seen: told.seen,
                ..totals
            },
        )
    }
}

/// The result of a run whose journal cannot be read to its end.
pub(super) fn of_damaged(result: RunResult) -> RunResult {
    let seconds = Nanos(result.totals.elapsed_ns).as_secs_f64();
    let verdict = Verdict::unfinished(format!(
        "the journal is damaged behind the first {seconds:.1} s: what follows cannot be read"
    ));
    RunResult { verdict, ..result }
}

/// What a journal had no room for, as a mark at the end.
fn left_out(count: u64, at_ns: u64) -> Option<Mark> {
    (count > 0).then(|| Mark {
        at_ns,
        kind: OBSERVER_MARK.to_owned(),
        text: format!(
            "{count} marks, readings and notes are not in the journal: it holds no more; observe less"
        ),
    })
}

/// The totals, except what was seen.
fn totals_of(start: &Start, told: &Part) -> Totals {
    let rows = &told.rows;
    let elapsed_ns = end_of(rows);
    let offered = rows
        .iter()
        .filter_map(|row| row.offered)
        .reduce(|sum, row| sum + row);
    Totals {
        started_unix_ms: start.started_unix_ms,
        elapsed_ns,
        measured_ns: measured_ns(&start.plan, elapsed_ns),
        stop: StopReason::Crashed,
        asked: offered.or_else(|| start.plan.planned_iterations()),
        never_started: rows.last().map_or(0, |row| row.waiting),
        due_while_away: None,
        seen: Snapshot::default(),
        rates: rates(&start.plan, &told.seen, rows, offered, elapsed_ns),
        active_vus_max: rows.iter().map(|row| row.active_vus).max().unwrap_or(0),
        cpu_ns: rows
            .iter()
            .map(|row| row.generator.cpu_cores * row.span_ns as f64)
            .sum::<f64>() as u64,
        rss_max_bytes: rows
            .iter()
            .map(|row| row.generator.rss_bytes)
            .max()
            .unwrap_or(0),
        throttled_ns: (rows.iter())
            .filter_map(|row| row.generator.throttled_ns)
            .reduce(|sum, row| sum + row),
        window_rates: ValueTrend::default(),
    }
}

/// When the last row ends, in nanoseconds from the start of the run.
pub(super) fn end_of(rows: &[Row]) -> u64 {
    rows.last().map_or(0, |row| row.at_ns + row.span_ns)
}

fn verdict_of(totals: &Totals) -> Verdict {
    let seconds = Nanos(totals.elapsed_ns).as_secs_f64();
    Verdict::unfinished(format!(
        "the process died; its journal has the first {seconds:.1} s, and at most the last 2 \
             s before its death are missing"
    ))
}
