//! The figures that a run is quoted by, as tiles.
//!
//! Must not know how they are laid out. Invariant: each says what it is an average, maximum or
//! percentile of.

use loadline_metric::TimeTrend;
use loadline_model::RunResult;
use loadline_model::result::StopReason;

use super::markup::Html;
use super::verdict::is_going_on;
use crate::text::{response_time, service_time};
use crate::units::{Bytes, count, rate, share, span, span_or_dash};

/// The tiles.
pub(super) fn write(html: &mut Html, result: &RunResult) {
    html.raw("<dl class=\"figures\">");
    rates(html, result);
    time(html, "Service time p99", &service_time(result));
    if let Some(response) = response_time(result) {
        time(html, "Response time p99", &response);
    }
    fates(html, result);
    extent(html, result);
    html.raw("</dl>");
}

fn rates(html: &mut Html, result: &RunResult) {
    let rates = &result.totals.rates;
    let about = "good answers, average of the whole run";
    tile(html, "Goodput", &rate(rates.goodput), about);
    if let Some(offered) = rates.offered {
        let begun = result.delivered_share();
        let begun = begun.map(|share| format!("{:.1} %", share * 100.0));
        let begun = begun.as_deref().unwrap_or("an unknown share");
        if result.plan.script.is_none() {
            let about = "planned arrivals, while they were due";
            tile(html, "Offered", &rate(offered), about);
            let part = format!("{begun} of the offered rate");
            tile(html, "Started", &rate(rates.started), &part);
        } else {
            let about = format!("planned, while they were due; {begun} of them were begun");
            tile(html, "Iterations", &rate(offered), &about);
            let about = "begun by the iterations";
            tile(html, "Requests", &rate(rates.started), about);
        }
    }
    let about = throughput(result);
    tile(html, "Throughput", &rate(rates.average), &about);
}

/// What became of the requests.
fn fates(html: &mut Html, result: &RunResult) {
    let counts = &result.totals.seen.counts;
    let about = match (
        counts.completed,
        counts.completed.saturating_sub(counts.good),
    ) {
        (0, _) => "no answer".to_owned(),
        (_, 0) => "all of them good".to_owned(),
        (all, bad) => format!("{} of them not good ({})", count(bad), share(bad, all)),
    };
    tile(html, "Answered", &count(counts.completed), &about);
    let failed = counts.failed_total();
    let part = share(failed, counts.started);
    let about = format!("{part} of {} sent", count(counts.started));
    tile(html, "Failed", &count(failed), &about);
    if counts.dropped > 0 {
        let about = "iterations due, and not started";
        tile(html, "Dropped", &count(counts.dropped), about);
    }
}

/// How much was at work, moved, and for how long.
fn extent(html: &mut Html, result: &RunResult) {
    let totals = &result.totals;
    let counts = &totals.seen.counts;
    let vus = count(totals.active_vus_max);
    tile(html, "Virtual users", &vus, "at work at a time, at most");
    let received = Bytes(counts.bytes_received).to_string();
    let about = format!("{} sent", Bytes(counts.bytes_sent));
    tile(html, "Received", &received, &about);
    let about = match totals.stop {
        _ if is_going_on(result) => "so far",
        StopReason::Finished => "from the start to the last answer",
        _ => "until it was ended",
    };
    tile(html, "Length", &span(totals.elapsed_ns as f64), about);
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

fn time(html: &mut Html, name: &'static str, times: &TimeTrend) {
    let at = |q| span_or_dash(times.quantile(q));
    let remark = format!("p50 {}, p95 {}, max {}", at(0.5), at(0.95), at(1.0));
    tile(html, name, &at(0.99), &remark);
}

fn tile(html: &mut Html, name: &'static str, value: &str, remark: &str) {
    html.between("<div><dt>", name, "</dt>");
    html.between("<dd>", value, "</dd>");
    html.between("<dd class=\"remark\">", remark, "</dd></div>");
}
