//! The key figures of a run: four as tiles, the others as a table.
//!
//! Must not know how they are laid out. Invariant: each says what it is an average, maximum or percentile of.

use loadline_metric::TimeTrend;
use loadline_model::RunResult;
use loadline_model::result::{Row, StopReason};

use super::markup::{Html, Side};
use super::spark::{self, Joined};
use super::verdict::is_going_on;
use crate::text::{response_time, service_time};
use crate::units::{Bytes, count, percent, rate, share, span, span_or_dash};

const SERVICE: &str = "Service time p99";
const RESPONSE: &str = "Response time p99";

/// The four figures that a run is judged by, as tiles; the others in a table below them. `now`: the last seconds of a
/// run in progress.
pub(super) fn write(html: &mut Html, result: &RunResult, now: Option<&Row>) {
    html.raw("<dl class=\"figures\">");
    let tiles = [
        goodput(result, now),
        time(result, now),
        wrong_or_failed(result, now),
        load(result, now),
    ];
    for tile in tiles {
        tile.write(html, now);
    }
    html.raw("</dl>");
    let mut rows = rates(result);
    rows.extend(fates(result));
    rows.extend(extent(result));
    let columns = [("", Side::Words), ("", Side::Numbers), ("", Side::Words)];
    html.raw("<div class=\"rest\">").table(&columns, &rows);
    html.raw("</div>");
}

/// In an open model the response time, from the scheduled start; otherwise the service time.
fn judged_time(result: &RunResult) -> (&'static str, TimeTrend) {
    match response_time(result).filter(|_| !result.plan.sends_several()) {
        Some(times) => (RESPONSE, times),
        None => (SERVICE, service_time(result)),
    }
}

fn goodput(result: &RunResult, now: Option<&Row>) -> Tile {
    Tile {
        name: "Goodput",
        value: rate(result.totals.rates.goodput),
        about: "good responses, average of the whole run".to_owned(),
        now: now.and_then(|row| row.per_second(row.good)).map(rate),
        curve: curve(result, |row| row.per_second(row.good)),
        joined: Joined::Mean,
    }
}

fn time(result: &RunResult, now: Option<&Row>) -> Tile {
    let (name, times) = judged_time(result);
    let p99 = |row: &Row| {
        let times = match name {
            RESPONSE => row.response_time_ns,
            _ => row.service_time_ns,
        };
        times.map(|times| times.p99 as f64)
    };
    Tile {
        name,
        value: self::p99(&times),
        about: around(&times),
        now: now.map(|row| span_or_dash(p99(row))),
        curve: result.series.iter().map(p99).collect(),
        joined: Joined::Most,
    }
}

fn bad(row: &Row) -> u64 {
    row.outcomes().bad()
}

fn wrong_or_failed(result: &RunResult, now: Option<&Row>) -> Tile {
    let counts = &result.totals.seen.counts;
    let outcomes = counts.outcomes();
    let (wrong, failed, all) = (outcomes.wrong(), outcomes.failed, outcomes.bad());
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
    Tile {
        name: "Wrong or failed",
        value: count(all),
        about,
        now: now.map(|row| match bad(row) {
            0 => "0".to_owned(),
            bad => format!(
                "{} ({})",
                count(bad),
                share(bad, row.completed + row.failed)
            ),
        }),
        curve: curve(result, |row| row.per_second(bad(row))),
        joined: Joined::Most,
    }
}

/// In an open model the share of the plan that was started, otherwise the number of active virtual users.
fn load(result: &RunResult, now: Option<&Row>) -> Tile {
    let Some(offered) = result.totals.rates.offered else {
        return Tile {
            name: "Virtual users",
            value: count(result.totals.active_vus_max),
            about: "peak number of busy VUs".to_owned(),
            now: now.map(|row| count(row.active_vus)),
            curve: curve(result, |row| Some(row.active_vus as f64)),
            joined: Joined::Most,
        };
    };
    let is_script = result.plan.sends_several();
    Tile {
        name: "Load delivered",
        value: begun(result).unwrap_or_else(|| "–".to_owned()),
        about: format!(
            "of {} planned",
            rate(offered).replace("/s", &format!(" {}/s", unit(result)))
        ),
        now: now.map(|row| {
            let begun = begun_in(row, is_script);
            begun.map_or_else(|| "–".to_owned(), percent)
        }),
        curve: curve(result, |row| begun_in(row, is_script)),
        joined: Joined::Mean,
    }
}

/// The share of what was due in a row that was started: for requests, those started in it; for a script's
/// iterations, which rows do not count, those that were not dropped.
fn begun_in(row: &Row, is_script: bool) -> Option<f64> {
    let offered = row.offered.filter(|offered| *offered > 0)?;
    let begun = match is_script {
        true => offered.saturating_sub(row.dropped),
        false => row.started,
    };
    Some(begun as f64 / offered as f64)
}

/// The same over all rows of a running script, for which nothing else is counted yet.
fn begun_so_far(result: &RunResult) -> Option<f64> {
    if !is_going_on(result) || !result.plan.sends_several() {
        return None;
    }
    let offered: u64 = result.series.iter().filter_map(|row| row.offered).sum();
    let dropped: u64 = result.series.iter().map(|row| row.dropped).sum();
    (offered > 0).then(|| offered.saturating_sub(dropped) as f64 / offered as f64)
}

fn curve(result: &RunResult, of: impl Fn(&Row) -> Option<f64>) -> Vec<Option<f64>> {
    result.series.iter().map(of).collect()
}

/// What is planned in an open model: each iteration is a request, or it is not.
fn unit(result: &RunResult) -> &'static str {
    match result.plan.sends_several() {
        true => "iterations",
        false => "requests",
    }
}

fn begun(result: &RunResult) -> Option<String> {
    let share = result.delivered_share().or_else(|| begun_so_far(result))?;
    Some(percent(share))
}

fn rates(result: &RunResult) -> Vec<Vec<String>> {
    let rates = &result.totals.rates;
    let mut rows = Vec::new();
    if let Some(offered) = rates.offered {
        let name = match result.plan.sends_several() {
            true => "Iterations",
            false => "Offered",
        };
        let about = format!("planned {} per second", unit(result));
        rows.push(row(name, &rate(offered), &about));
        let about = "requests started per second";
        rows.push(row("Started", &rate(rates.started), about));
    }
    let about = throughput(result);
    rows.push(row("Throughput", &rate(rates.average), &about));
    let (judged, _) = judged_time(result);
    let all = [
        (SERVICE, Some(service_time(result))),
        (RESPONSE, response_time(result)),
    ];
    for (name, times) in all {
        if let Some(times) = times.filter(|_| name != judged) {
            rows.push(row(name, &p99(&times), &around(&times)));
        }
    }
    rows
}

/// The outcomes of the requests.
fn fates(result: &RunResult) -> Vec<Vec<String>> {
    let counts = &result.totals.seen.counts;
    let about = match (counts.completed, counts.outcomes().wrong()) {
        (0, _) => "no response".to_owned(),
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

/// Busy VUs, transferred bytes, and duration.
fn extent(result: &RunResult) -> Vec<Vec<String>> {
    let totals = &result.totals;
    let counts = &totals.seen.counts;
    let mut rows = Vec::new();
    if totals.rates.offered.is_some() {
        let vus = count(totals.active_vus_max);
        rows.push(row("Virtual users", &vus, "peak number of busy VUs"));
    }
    let received = Bytes(counts.bytes_received).to_string();
    let about = format!("{} sent", Bytes(counts.bytes_sent));
    rows.push(row("Received", &received, &about));
    let about = match totals.stop {
        _ if is_going_on(result) => "so far",
        StopReason::Finished => "from the start to the last response",
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

fn row(name: &str, value: &str, about: &str) -> Vec<String> {
    [name, value, about].map(str::to_owned).to_vec()
}

/// One of the leading figures.
struct Tile {
    name: &'static str,
    value: String,
    about: String,
    /// The value of the last seconds; `None` if the run is over.
    now: Option<String>,
    /// A value for each row of the run.
    curve: Vec<Option<f64>>,
    joined: Joined,
}

impl Tile {
    fn write(&self, html: &mut Html, now: Option<&Row>) {
        html.between("<div><dt>", self.name, "</dt>");
        html.between("<dd>", &self.value, "</dd>");
        if let (Some(value), Some(row)) = (&self.now, now) {
            let seconds = (row.span_ns as f64 / 1e9).round().max(1.0);
            let last = format!(" in the last {seconds} s");
            html.between("<dd class=\"now\">now <b>", value, "</b>");
            html.between("<small>", &last, "</small></dd>");
        }
        html.between("<dd class=\"remark\">", &self.about, "</dd>");
        html.raw("<dd class=\"curve\">");
        spark::write(html, &self.curve, self.joined);
        html.raw("</dd></div>");
    }
}
