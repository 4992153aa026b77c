//! Goodput, offered and delivered rates, totals, transfer, and throughput over time.
//!
//! Must not know latencies beyond the rows' percentiles. Invariant: goodput comes first.

use std::time::Duration;

use loadline_model::RunResult;
use loadline_model::result::Row;

use crate::chart;
use crate::page::Page;
use crate::units::{Bytes, count, percent, planned, rate, share, span};

pub(super) fn write(page: &mut Page, result: &RunResult) {
    let (totals, rates) = (&result.totals, &result.totals.rates);
    let counts = &totals.seen.counts;
    page.section("Summary", "");
    page.strong_row(
        "Goodput",
        &rate(rates.goodput),
        "answered, complete and correct",
    );
    if let Some(offered) = rates.offered {
        offered_rows(page, result, offered);
    }
    page.row(
        "Throughput",
        &rate(rates.average),
        "average of the whole run, ramp included",
    );
    if let Some(error) = result.verdict.rate_error {
        page.row(
            "",
            &format!("± {:.1} %", error * 100.0),
            "of that average, with 95 % confidence",
        );
    }
    for (value, what) in [
        (rates.steady, "average in steady state"),
        (rates.max_1s, "max over 1 s"),
        (rates.max_5s, "max over 5 s"),
    ] {
        if let Some(value) = value {
            page.row("", &rate(value), what);
        }
    }
    page.row(
        "Answered",
        &count(counts.completed),
        &answered_remark(result),
    );
    if counts.failed_total() > 0 {
        let of = share(counts.failed_total(), counts.started);
        page.row(
            "Failed",
            &count(counts.failed_total()),
            &format!("{of} of the requests sent"),
        );
    }
    if counts.redirects + counts.retried > 0 {
        let retried = format!("{} tried again on a new connection", count(counts.retried));
        let redirects = format!("{} redirects followed", count(counts.redirects));
        page.row("", "", &format!("{redirects}, {retried}"));
    }
    transfer(page, result);
}

fn answered_remark(result: &RunResult) -> String {
    let counts = &result.totals.seen.counts;
    let bad = counts.outcomes().wrong();
    let took = format!("in {}", span(result.totals.measured_ns as f64));
    if bad == 0 {
        return took;
    }
    format!(
        "{took}; {} of them not good ({})",
        count(bad),
        share(bad, counts.completed)
    )
}

/// What was due, and the started part of it; a script's requests are shown separately.
fn offered_rows(page: &mut Page, result: &RunResult, offered: f64) {
    let started = rate(result.totals.rates.started);
    let begun = result.delivered_share();
    let begun = begun.map_or_else(|| "-".to_owned(), percent);
    if !result.plan.sends_several() {
        let about = "planned arrivals per second";
        page.row("Offered", &rate(offered), about);
        page.row("Started", &started, &format!("{begun} of the offered rate"));
    } else {
        let about = format!("planned iterations per second; {begun} of them started");
        page.row("Iterations", &rate(offered), &about);
        page.row("Requests", &started, "started by the iterations");
    }
}

fn transfer(page: &mut Page, result: &RunResult) {
    let counts = &result.totals.seen.counts;
    let seconds = (result.totals.measured_ns.max(1)) as f64 / 1e9;
    let each = |bytes: u64| Bytes((bytes as f64 / seconds) as u64);
    let received = format!(
        "received, {}/s; sent {}, {}/s",
        each(counts.bytes_received),
        Bytes(counts.bytes_sent),
        each(counts.bytes_sent)
    );
    page.row(
        "Transfer",
        &Bytes(counts.bytes_received).to_string(),
        &received,
    );
}

/// With fewer rows the throughput over time adds nothing to the summary.
const ROWS_MIN: usize = 5;
const COLUMNS_MAX: usize = 72;
/// The last column is left out when it is shorter than this part of the others.
const LAST_PART: u64 = 10;
/// Label at the left and figures at the right of a line.
const MARGINS: usize = 44;

pub(super) fn over_time(page: &mut Page, result: &RunResult) {
    let rows = &result.series;
    if rows.len() < ROWS_MIN {
        return;
    }
    let columns = page
        .style
        .columns()
        .saturating_sub(MARGINS)
        .clamp(16, COLUMNS_MAX);
    let per_column = rows.len().div_ceil(columns);
    let mut groups: Vec<&[Row]> = rows.chunks(per_column).collect();
    let length = |group: &[Row]| group.iter().map(|row| row.span_ns).sum::<u64>();
    let seconds = groups.first().map_or(0, |group| length(group));
    // The rest after the last whole second may be very short, and its rate meaningless.
    if groups
        .last()
        .is_some_and(|group| length(group) < seconds / LAST_PART)
    {
        groups.pop();
    }
    page.section(
        "Over time",
        &format!("one column is {}", planned(Duration::from_nanos(seconds))),
    );
    let each =
        |of: fn(&Row) -> u64| -> Vec<f64> { groups.iter().map(|g| per_second(g, of)).collect() };
    let completed = each(|row| row.completed);
    let is_script = result.plan.sends_several();
    if rows.iter().any(|row| row.offered.is_some()) {
        let name = if is_script { "iterations" } else { "offered" };
        spark(page, name, &each(|row| row.offered.unwrap_or(0)), rate);
    }
    spark(page, "completed", &completed, rate);
    if rows.iter().any(|row| row.good < row.completed) {
        spark(page, "good", &each(|row| row.good), rate);
    }
    if is_script && rows.iter().any(|row| row.dropped > 0) {
        spark(page, "dropped", &each(|row| row.dropped), rate);
    }
    let failed: fn(&Row) -> u64 = match is_script {
        true => |row| row.failed,
        false => |row| row.failed + row.dropped,
    };
    if rows.iter().any(|row| failed(row) > 0) {
        spark(page, "failed", &each(failed), rate);
    }
    let p99: Vec<f64> = groups.iter().map(|group| worst_p99(group)).collect();
    spark(page, "p99", &p99, span);
}

fn per_second(rows: &[Row], of: fn(&Row) -> u64) -> f64 {
    let time = rows.iter().map(|row| row.span_ns).sum::<u64>().max(1);
    rows.iter().map(of).sum::<u64>() as f64 / (time as f64 / 1e9)
}

/// The highest of the rows' p99: of response time where there is one.
fn worst_p99(rows: &[Row]) -> f64 {
    let of = |row: &Row| {
        row.response_time_ns
            .or(row.service_time_ns)
            .map_or(0, |p| p.p99)
    };
    rows.iter().map(of).max().unwrap_or(0) as f64
}

fn spark(page: &mut Page, label: &str, values: &[f64], written: fn(f64) -> String) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    let line = page.style.accent(&chart::sparkline(values));
    let figures = page
        .style
        .faint(&format!("{} to {}", written(least), written(most)));
    page.line(&format!("  {label:<11}{line}  {figures}"));
}
