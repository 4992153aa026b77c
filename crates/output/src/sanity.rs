//! Checks whether the numbers of a file can come from a run, so that sums over them cannot overflow.
//!
//! Must not know where the file came from. Invariant: after [`check_snapshot`] two snapshots can be merged, and
//! after [`check_result`] a result can be summarized, without overflow.

use loadline_model::result::{Row, RunResult};
use loadline_model::snapshot::{Counts, RequestTally, ShapeTally, Snapshot, Tally};

/// Maximum value of any counter: more than a thousand years of a million requests per second, and all counters
/// of one kind add up within 64 bits.
const COUNTER_MAX: u64 = 1 << 58;
/// Maximum value of a counter in one row, so that the longest series adds up within 64 bits.
const ROW_COUNTER_MAX: u64 = 1 << 44;
/// Maximum rows of a table; the largest in the model has a quarter of it.
const TABLE_ROWS_MAX: usize = 1_024;
/// Maximum rows of a series; a run keeps 3,600.
const SERIES_MAX: usize = 1 << 18;

/// Says which number of a result is impossible.
pub(crate) fn check_result(result: &RunResult) -> Result<(), String> {
    let totals = &result.totals;
    let spans = [
        ("totals.elapsed_ns", totals.elapsed_ns),
        ("totals.measured_ns", totals.measured_ns),
        ("totals.asked", totals.asked.unwrap_or(0)),
        ("totals.never_started", totals.never_started),
        ("totals.active_vus_max", totals.active_vus_max),
        ("totals.cpu_ns", totals.cpu_ns),
        ("totals.throttled_ns", totals.throttled_ns.unwrap_or(0)),
    ];
    for (name, value) in spans {
        within(name, value, COUNTER_MAX)?;
    }
    check_snapshot(&totals.seen).map_err(|why| format!("totals.seen: {why}"))?;
    check_rows(&result.series)
}

/// Says which number of a series is impossible.
pub(crate) fn check_rows(rows: &[Row]) -> Result<(), String> {
    if rows.len() > SERIES_MAX {
        return Err(format!(
            "series has {} rows, more than any run keeps",
            rows.len()
        ));
    }
    for (position, row) in rows.iter().enumerate() {
        check_row(row).map_err(|why| format!("series row {}: {why}", position + 1))?;
    }
    Ok(())
}

fn check_row(row: &Row) -> Result<(), String> {
    let counters = [
        ("offered", row.offered.unwrap_or(0)),
        ("started", row.started),
        ("completed", row.completed),
        ("good", row.good),
        ("failed", row.failed),
        ("dropped", row.dropped),
        ("waiting", row.waiting),
        ("active_vus", row.active_vus),
        ("bytes_sent", row.bytes_sent),
        ("bytes_received", row.bytes_received),
        ("generator.run_queue_ns", row.generator.run_queue_ns),
        ("generator.stalled_ns", row.generator.stalled_ns),
        ("generator.stalls_ns", row.generator.stalls_ns),
        (
            "generator.throttled_ns",
            row.generator.throttled_ns.unwrap_or(0),
        ),
        ("span_ns", row.span_ns),
    ];
    for (name, value) in counters {
        within(name, value, ROW_COUNTER_MAX)?;
    }
    within("at_ns", row.at_ns, COUNTER_MAX)
}

/// Says which number of a snapshot is impossible.
pub(crate) fn check_snapshot(seen: &Snapshot) -> Result<(), String> {
    check_counts(&seen.counts)?;
    check_counts(&seen.warm_up).map_err(|why| format!("warm_up: {why}"))?;
    let connections = &seen.connections;
    let counters = [
        ("connections.opened", connections.opened),
        ("connections.failed", connections.failed),
        ("connections.http2", connections.http2),
        ("connections.retransmits", connections.retransmits),
        ("back_pressure_ns", seen.back_pressure_ns),
        ("worker_cpu_ns", seen.worker_cpu_ns),
        ("run_queue_ns", seen.run_queue_ns),
        ("turns", seen.turns),
    ];
    for (name, value) in counters {
        within(name, value, COUNTER_MAX)?;
    }
    check_tables(seen)
}

fn check_tables(seen: &Snapshot) -> Result<(), String> {
    let tables = [
        ("statuses", seen.statuses.len()),
        ("shapes", seen.shapes.len()),
        ("errors", seen.errors.len()),
        ("peers", seen.peers.len()),
        ("by_header", seen.by_header.len()),
        ("requests", seen.requests.len()),
        ("failed_checks", seen.failed_checks.len()),
        ("failed_checks_of", seen.failed_checks_of.len()),
        ("elsewhere", seen.elsewhere.len()),
    ];
    for (name, rows) in tables {
        within(name, rows as u64, TABLE_ROWS_MAX as u64)?;
    }
    let plain = (seen
        .statuses
        .rows()
        .map(|row| row.1)
        .chain(seen.statuses.overflow()))
    .chain(
        seen.errors
            .rows()
            .map(|row| row.1)
            .chain(seen.errors.overflow()),
    )
    .chain(
        seen.failed_checks
            .rows()
            .map(|row| row.1)
            .chain(seen.failed_checks.overflow()),
    )
    .chain(
        seen.failed_checks_of
            .rows()
            .map(|row| row.1)
            .chain(seen.failed_checks_of.overflow()),
    )
    .chain(
        seen.elsewhere
            .rows()
            .map(|row| row.1)
            .chain(seen.elsewhere.overflow()),
    );
    plain
        .copied()
        .try_for_each(|value| within("a table's count", value, COUNTER_MAX))?;
    let tallies = (seen
        .peers
        .rows()
        .map(|row| row.1)
        .chain(seen.peers.overflow()))
    .chain(
        seen.by_header
            .rows()
            .map(|row| row.1)
            .chain(seen.by_header.overflow()),
    );
    tallies.into_iter().try_for_each(check_tally)?;
    let requests = (seen.requests.rows().map(|row| row.1)).chain(seen.requests.overflow());
    requests.into_iter().try_for_each(check_request)?;
    let mut shapes = seen
        .shapes
        .rows()
        .map(|row| row.1)
        .chain(seen.shapes.overflow());
    shapes.try_for_each(check_shape)
}

fn check_counts(counts: &Counts) -> Result<(), String> {
    let counters = [
        ("started", counts.started),
        ("completed", counts.completed),
        ("good", counts.good),
        ("interrupted", counts.interrupted),
        ("lost", counts.lost),
        ("dropped", counts.dropped),
        ("bytes_sent", counts.bytes_sent),
        ("bytes_received", counts.bytes_received),
        ("body_bytes", counts.body_bytes),
        ("redirects", counts.redirects),
        ("retried", counts.retried),
    ];
    for (name, value) in counters {
        within(name, value, COUNTER_MAX)?;
    }
    counts
        .failed
        .iter()
        .try_for_each(|value| within("failed", *value, COUNTER_MAX))
}

fn check_tally(tally: &Tally) -> Result<(), String> {
    within("answered", tally.answered, COUNTER_MAX)?;
    within("failed", tally.failed, COUNTER_MAX)
}

fn check_request(tally: &RequestTally) -> Result<(), String> {
    within("answered", tally.answered, COUNTER_MAX)?;
    within("good", tally.good, COUNTER_MAX)?;
    within("failed", tally.failed, COUNTER_MAX)
}

fn check_shape(shape: &ShapeTally) -> Result<(), String> {
    within("count", shape.count, COUNTER_MAX)?;
    within("good", shape.good, COUNTER_MAX)?;
    within("sampled", shape.sampled, COUNTER_MAX)?;
    within("samples", shape.samples.len() as u64, TABLE_ROWS_MAX as u64)?;
    shape
        .samples
        .iter()
        .try_for_each(|body| within("sample count", body.count, COUNTER_MAX))
}

fn within(name: &str, value: u64, most: u64) -> Result<(), String> {
    if value <= most {
        Ok(())
    } else {
        Err(format!("{name} = {value} is more than any run counts"))
    }
}
