//! A result made of what a journal holds, for a run that could not make it itself.
//!
//! Must not know files. Invariant: every number is derived from whole records, and the requests
//! under way at the end are counted as interrupted, so that conservation holds.

use std::collections::BTreeMap;

use loadline_metric::{TimeTrend, ValueTrend};
use loadline_model::plan::TestPlan;
use loadline_model::result::{
    Percentiles, Rates, Row, RunResult, SCHEMA, StopReason, TimeMetric, Totals,
};
use loadline_model::snapshot::{Counts, Snapshot};
use loadline_model::units::{Nanos, duration_ns};
use loadline_model::verdict::{Delivery, Limit, Verdict};

use super::encode::{Part, Start};

/// The result of a run whose journal has no end.
pub(super) fn result_of(start: Start, mut told: Part) -> RunResult {
    count_unfinished_as_interrupted(&mut told.seen.counts);
    count_unfinished_as_interrupted(&mut told.seen.warm_up);
    let totals = totals_of(&start, &told);
    RunResult {
        schema: SCHEMA.to_owned(),
        labels: start.plan.labels.clone(),
        metrics: metrics_of(&start.plan, &told.seen),
        verdict: verdict_of(&totals),
        plan: start.plan,
        environment: start.environment,
        totals: Totals {
            seen: told.seen,
            ..totals
        },
        series: told.rows,
        events: told.marks,
        observations: told.resources,
        thresholds: Vec::new(),
    }
}

fn count_unfinished_as_interrupted(counts: &mut Counts) {
    let met_a_fate = counts.completed + counts.failed_total() + counts.interrupted;
    counts.interrupted += counts.started.saturating_sub(met_a_fate);
}

/// The totals, but for what was seen.
fn totals_of(start: &Start, told: &Part) -> Totals {
    let rows = &told.rows;
    let elapsed_ns = end_of(rows);
    let measured_ns = elapsed_ns.saturating_sub(duration_ns(start.plan.warm_up));
    let offered = rows
        .iter()
        .filter_map(|row| row.offered)
        .reduce(|sum, row| sum + row);
    Totals {
        started_unix_ms: start.started_unix_ms,
        elapsed_ns,
        measured_ns,
        stop: StopReason::Crashed,
        asked: offered.or_else(|| planned_iterations(&start.plan)),
        never_started: rows.last().map_or(0, |row| row.waiting),
        seen: Snapshot::default(),
        rates: rates_of(&told.seen.counts, rows, measured_ns),
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

/// Iterations planned, where a count ends every scenario.
fn planned_iterations(plan: &TestPlan) -> Option<u64> {
    plan.scenarios.iter().try_fold(0u64, |sum, scenario| {
        Some(sum.saturating_add(scenario.executor.planned_iterations()?))
    })
}

/// When the last row ends, in nanoseconds from the start of the run.
pub(super) fn end_of(rows: &[Row]) -> u64 {
    rows.last().map_or(0, |row| row.at_ns + row.span_ns)
}

fn rates_of(counts: &Counts, rows: &[Row], measured_ns: u64) -> Rates {
    let seconds = Nanos(measured_ns).as_secs_f64();
    let per_second = |count: u64| {
        if seconds > 0.0 {
            count as f64 / seconds
        } else {
            0.0
        }
    };
    let measured = || rows.iter().filter(|row| !row.warm_up);
    let offered = measured()
        .filter_map(|row| row.offered)
        .reduce(|sum, row| sum + row);
    Rates {
        goodput: per_second(counts.good),
        average: per_second(counts.completed),
        steady: None,
        max_1s: best_rate(measured(), Nanos::PER_SECOND),
        max_5s: best_rate(measured(), 5 * Nanos::PER_SECOND),
        offered: offered.map(per_second),
        started: per_second(counts.started),
    }
}

/// The best rate of completed requests over rows in a row that last `window_ns` together; `None`
/// when the rows are longer than that, or do not last that long.
fn best_rate<'a>(rows: impl Iterator<Item = &'a Row>, window_ns: u64) -> Option<f64> {
    // A row is cut by a timer, so it is never exactly as long as planned.
    let enough = window_ns - window_ns / 20;
    let too_long = window_ns + window_ns / 10;
    let rows: Vec<&Row> = rows.collect();
    let mut best: Option<f64> = None;
    let (mut first, mut span, mut completed) = (0, 0, 0);
    for (last, row) in rows.iter().enumerate() {
        span += row.span_ns;
        completed += row.completed;
        while first < last && span - rows[first].span_ns >= enough {
            span -= rows[first].span_ns;
            completed -= rows[first].completed;
            first += 1;
        }
        if (enough..=too_long).contains(&span) {
            let rate = completed as f64 / Nanos(span).as_secs_f64();
            best = Some(best.map_or(rate, |best| best.max(rate)));
        }
    }
    best
}

fn metrics_of(plan: &TestPlan, seen: &Snapshot) -> BTreeMap<String, TimeMetric> {
    let mut metrics = BTreeMap::new();
    let mut add = |name: &str, trend: TimeTrend| {
        metrics.insert(name.to_owned(), TimeMetric::of(trend));
    };
    add("service_time_ns", seen.service_time());
    if plan.is_open() {
        add("response_time_ns", seen.response_time.clone());
        add("schedule_lag_ns", seen.schedule_lag.clone());
    }
    metrics
}

fn verdict_of(totals: &Totals) -> Verdict {
    let seconds = Nanos(totals.elapsed_ns).as_secs_f64();
    Verdict {
        delivery: Delivery::Unfinished,
        limit: Limit::Unknown,
        headline: format!(
            "the process died; its journal tells the first {seconds:.1} s, and at most the last 2 \
                 s before its death are missing"
        ),
        findings: Vec::new(),
        saturation: None,
        rate_error: None,
    }
}

/// Makes one row of each two.
pub(super) fn halve_rows(rows: &mut Vec<Row>) {
    let halved = rows.chunks(2).map(|pair| match pair {
        [first, second] => joined(first, second),
        [single] => single.clone(),
        _ => unreachable!("chunks of two have one or two rows"),
    });
    *rows = halved.collect();
}

/// Two rows as one. Counts add up; states are those of the later row; percentiles cannot be
/// joined, so the larger stands.
fn joined(first: &Row, second: &Row) -> Row {
    let mut row = second.clone();
    row.at_ns = first.at_ns;
    row.span_ns += first.span_ns;
    row.offered = sum_of(first.offered, second.offered);
    row.started += first.started;
    row.completed += first.completed;
    row.good += first.good;
    row.failed += first.failed;
    row.dropped += first.dropped;
    row.bytes_sent += first.bytes_sent;
    row.bytes_received += first.bytes_received;
    row.service_time_ns = larger(first.service_time_ns, second.service_time_ns);
    row.response_time_ns = larger(first.response_time_ns, second.response_time_ns);
    row.lag_p99_ns = first.lag_p99_ns.max(second.lag_p99_ns);
    row.warm_up = first.warm_up && second.warm_up;
    let (a, b) = (&first.generator, &second.generator);
    let core_ns = a.cpu_cores * first.span_ns as f64 + b.cpu_cores * second.span_ns as f64;
    row.generator.cpu_cores = core_ns / (row.span_ns.max(1)) as f64;
    row.generator.busiest_worker = a.busiest_worker.max(b.busiest_worker);
    row.generator.rss_bytes = a.rss_bytes.max(b.rss_bytes);
    row.generator.throttled_ns = sum_of(a.throttled_ns, b.throttled_ns);
    row.generator.run_queue_ns = a.run_queue_ns + b.run_queue_ns;
    row
}

fn sum_of(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (one, other) => one.or(other),
    }
}

fn larger(a: Option<Percentiles>, b: Option<Percentiles>) -> Option<Percentiles> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Percentiles {
            p50: a.p50.max(b.p50),
            p90: a.p90.max(b.p90),
            p99: a.p99.max(b.p99),
        }),
        (one, other) => one.or(other),
    }
}
