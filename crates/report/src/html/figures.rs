//! The figures that a run is quoted by: four as tiles, the others as a table.
//!
//! Must not know how they are laid out. Invariant: each says what it is an average, maximum or
//! percentile of.

use loadline_metric::TimeTrend;
use loadline_model::RunResult;
use loadline_model::result::StopReason;

use super::markup::{Html, Side};
use super::verdict::is_going_on;
use crate::text::{response_time, service_time};
use crate::units::{Bytes, count, rate, share, span, span_or_dash};

/// The four figures that a run is judged by, as tiles; the others in a table below them.
pub(super) fn write(html: &mut Html, result: &RunResult) {
    html.raw("<dl class=\"figures\">");
    let about = "good answers, average of the whole run";
    tile(html, "Goodput", &rate(result.totals.rates.goodput), about);
    let (name, times) = judged_time(result);
    time(html, name, &times);
    wrong_or_failed(html, result);
    load(html, result);
    html.raw("</dl>");
    let mut rows = rates(result);
    rows.extend(fates(result));
    rows.extend(extent(result));
    let columns = [("", Side::Words), ("", Side::Numbers), ("", Side::Words)];
    html.raw("<div class=\"rest\">").table(&columns, &rows);
    html.raw("</div>");
}

/// In an open model what users wait for, from the intended start; else the time of the service.
fn judged_time(result: &RunResult) -> (&'static str, TimeTrend) {
    match response_time(result).filter(|_| !result.plan.sends_several()) {
        Some(times) => ("Response time p99", times),
        None => ("Service time p99", service_time(result)),
    }
}

fn wrong_or_failed(html: &mut Html, result: &RunResult) {
    let counts = &result.totals.seen.counts;
    let wrong = counts.completed.saturating_sub(counts.good);
    let failed = counts.failed_total();
    let all = wrong + failed;
    let about = match all {
        0 => format!("of {} sent", count(counts.started)),
        _ => format!(
            "{} of {} sent: {} wrong, {} failed",
            share(all, counts.started),
            count(counts.started),
            count(wrong),
            count(failed)
        ),
    };
    tile(html, "Wrong or failed", &count(all), &about);
}

/// In an open model the share of what was planned that was begun; else how many were at work.
fn load(html: &mut Html, result: &RunResult) {
    let Some(offered) = result.totals.rates.offered else {
        let vus = count(result.totals.active_vus_max);
        return tile(html, "Virtual users", &vus, "at work at a time, at most");
    };
    let begun = begun(result).unwrap_or_else(|| "–".to_owned());
    let about = format!("of {} {} planned", rate(offered), unit(result));
    tile(html, "Load delivered", &begun, &about);
}

/// What is planned in an open model: each iteration is a request, or it is not.
fn unit(result: &RunResult) -> &'static str {
    match result.plan.sends_several() {
        true => "iterations",
        false => "requests",
    }
}

fn begun(result: &RunResult) -> Option<String> {
    let share = result.delivered_share()?;
    Some(format!("{:.1} %", share * 100.0))
}

fn rates(result: &RunResult) -> Vec<Vec<String>> {
    let rates = &result.totals.rates;
    let mut rows = Vec::new();
    if let Some(offered) = rates.offered {
        let name = match result.plan.sends_several() {
            true => "Iterations",
            false => "Offered",
        };
        let about = format!("{} planned, while they were due", unit(result));
        rows.push(row(name, &rate(offered), &about));
        let about = "requests, while iterations were due";
        rows.push(row("Started", &rate(rates.started), about));
    }
    let about = throughput(result);
    rows.push(row("Throughput", &rate(rates.average), &about));
    let (judged, _) = judged_time(result);
    let all = [
        ("Service time p99", Some(service_time(result))),
        ("Response time p99", response_time(result)),
    ];
    for (name, times) in all {
        if let Some(times) = times.filter(|_| name != judged) {
            rows.push(row(name, &p99(&times), &around(&times)));
        }
    }
    rows
}

/// What became of the requests.
fn fates(result: &RunResult) -> Vec<Vec<String>> {
    let counts = &result.totals.seen.counts;
    let about = match (
        counts.completed,
        counts.completed.saturating_sub(counts.good),
    ) {
        (0, _) => "no answer".to_owned(),
        (_, 0) => "all of them good".to_owned(),
        (all, bad) => format!("{} of them not good ({})", count(bad), share(bad, all)),
    };
    let mut rows = vec![row("Answered", &count(counts.completed), &about)];
    let failed = counts.failed_total();
    let part = share(failed, counts.started);
    let about = format!("{part} of {} sent", count(counts.started));
    rows.push(row("Failed", &count(failed), &about));
    if counts.dropped > 0 {
        let about = "iterations due, and not started";
        rows.push(row("Dropped", &count(counts.dropped), about));
    }
    rows
}

/// How much was at work, moved, and for how long.
fn extent(result: &RunResult) -> Vec<Vec<String>> {
    let totals = &result.totals;
    let counts = &totals.seen.counts;
    let mut rows = Vec::new();
    if totals.rates.offered.is_some() {
        let vus = count(totals.active_vus_max);
        rows.push(row("Virtual users", &vus, "at work at a time, at most"));
    }
    let received = Bytes(counts.bytes_received).to_string();
    let about = format!("{} sent", Bytes(counts.bytes_sent));
    rows.push(row("Received", &received, &about));
    let about = match totals.stop {
        _ if is_going_on(result) => "so far",
        StopReason::Finished => "from the start to the last answer",
        _ => "until it was ended",
    };
    rows.push(row("Length", &span(totals.elapsed_ns as f64), about));
    rows
}

fn throughput(result: &RunResult) -> String {
    let rates = &result.totals.rates;
    let mut parts = vec!["average".to_owned()];
    if let Some(error) = result.verdict.rate_error {
        parts.push(format!("± {:.1} %", error * 100.0));
    }
    if let Some(steady) = rates.steady {
        parts.push(format!("{} in steady state", rate(steady)));
    }
    if let Some(max) = rates.max_1s {
        parts.push(format!("{} in the best second", rate(max)));
    }
    parts.join(", ")
}

fn p99(times: &TimeTrend) -> String {
    span_or_dash(times.quantile(0.99))
}

fn around(times: &TimeTrend) -> String {
    let at = |q| span_or_dash(times.quantile(q));
    format!("p50 {}, p95 {}, max {}", at(0.5), at(0.95), at(1.0))
}

fn time(html: &mut Html, name: &'static str, times: &TimeTrend) {
    tile(html, name, &p99(times), &around(times));
}

fn row(name: &str, value: &str, about: &str) -> Vec<String> {
    [name, value, about].map(str::to_owned).to_vec()
}

fn tile(html: &mut Html, name: &'static str, value: &str, remark: &str) {
    html.between("<div><dt>", name, "</dt>");
    html.between("<dd>", value, "</dd>");
    html.between("<dd class=\"remark\">", remark, "</dd></div>");
}
