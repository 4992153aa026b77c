//! What a script measured: its metrics by kind, and its checks by group.
//!
//! Must not know k6's layouts. Invariant: each value has its unit, and each distribution with its count.

use loadline_metric::{Aggregated, MetricType};
use loadline_model::RunResult;
use loadline_model::test_summary::MetricSummary;

use super::markup::{Html, Side};
use crate::amounts::amount;
use crate::units::{count, share, span};

/// Maximum rows of a table; further ones are counted.
const ROWS_MAX: usize = 500;

/// Every metric of a script's run, a table for each kind.
pub(super) fn metrics(html: &mut Html, result: &RunResult) {
    let Some(summary) = &result.summary else {
        return;
    };
    let mut all: Vec<&MetricSummary> = summary.root.metrics.iter().collect();
    if all.is_empty() {
        return;
    }
    all.sort_by_key(|metric| metric.key());
    let of = |kind| -> Vec<&MetricSummary> {
        let wanted = all.iter().filter(|metric| metric.definition.kind == kind);
        wanted.copied().collect()
    };
    let seconds = summary.duration_ns as f64 / 1e9;
    html.heading("Metrics", "of the whole run");
    table(html, &of(MetricType::Trend), TREND, trend);
    table(html, &of(MetricType::Rate), RATE, rate);
    table(html, &of(MetricType::Counter), COUNTER, |metric| {
        counter(metric, seconds)
    });
    table(html, &of(MetricType::Gauge), GAUGE, gauge);
}

type Columns = &'static [(&'static str, Side)];

const TREND: Columns = &[
    ("trend", Side::Code),
    ("values", Side::Numbers),
    ("avg", Side::Numbers),
    ("min", Side::Numbers),
    ("med", Side::Numbers),
    ("p90", Side::Numbers),
    ("p95", Side::Numbers),
    ("p99", Side::Numbers),
    ("max", Side::Numbers),
];
const RATE: Columns = &[
    ("rate", Side::Code),
    ("share", Side::Numbers),
    ("true", Side::Numbers),
    ("of", Side::Numbers),
];
const COUNTER: Columns = &[
    ("counter", Side::Code),
    ("sum", Side::Numbers),
    ("per second", Side::Numbers),
];
const GAUGE: Columns = &[
    ("gauge", Side::Code),
    ("last", Side::Numbers),
    ("min", Side::Numbers),
    ("max", Side::Numbers),
];

fn table(
    html: &mut Html,
    metrics: &[&MetricSummary],
    columns: Columns,
    cells: impl Fn(&MetricSummary) -> Vec<String>,
) {
    let rows: Vec<Vec<String>> = metrics
        .iter()
        .take(ROWS_MAX)
        .map(|metric| {
            let mut row = vec![metric.key()];
            row.extend(cells(metric));
            row
        })
        .collect();
    html.table(columns, &rows);
    beyond(html, metrics.len());
}

fn beyond(html: &mut Html, rows: usize) {
    if let Some(more) = rows.checked_sub(ROWS_MAX).filter(|more| *more > 0) {
        let text = format!(
            "and {} more, which are in the JSON result",
            count(more as u64)
        );
        html.between("<p class=\"hint\">", &text, "</p>");
    }
}

const QUANTILES: [f64; 6] = [0.0, 0.5, 0.9, 0.95, 0.99, 1.0];

fn trend(metric: &MetricSummary) -> Vec<String> {
    let contains = metric.definition.contains;
    let (number, mean, quantiles) = match &metric.values {
        Aggregated::Times(times) => (times.count(), times.mean(), times.quantiles(&QUANTILES)),
        Aggregated::Values(values) => (values.count(), values.mean(), values.quantiles(&QUANTILES)),
        _ => (0, None, None),
    };
    let is_ns = matches!(metric.values, Aggregated::Times(_));
    let shown = |value: f64| match is_ns {
        true => span(value),
        false => amount(value, contains),
    };
    let mut cells = vec![count(number), mean.map_or_else(dash, shown)];
    match quantiles {
        Some(quantiles) => cells.extend(quantiles.into_iter().map(shown)),
        None => cells.extend(QUANTILES.map(|_| dash())),
    }
    cells
}

fn rate(metric: &MetricSummary) -> Vec<String> {
    match &metric.values {
        Aggregated::Rate(rate) => vec![
            share(rate.nonzero(), rate.total()),
            count(rate.nonzero()),
            count(rate.total()),
        ],
        _ => Vec::new(),
    }
}

fn counter(metric: &MetricSummary, seconds: f64) -> Vec<String> {
    let Aggregated::Counter(counter) = &metric.values else {
        return Vec::new();
    };
    let contains = metric.definition.contains;
    let each = match seconds > 0.0 {
        true => format!("{}/s", amount(counter.total() / seconds, contains)),
        false => dash(),
    };
    vec![amount(counter.total(), contains), each]
}

fn gauge(metric: &MetricSummary) -> Vec<String> {
    let Aggregated::Gauge(gauge) = &metric.values else {
        return Vec::new();
    };
    let contains = metric.definition.contains;
    let shown = |value: Option<f64>| value.map_or_else(dash, |value| amount(value, contains));
    vec![shown(gauge.last()), shown(gauge.min()), shown(gauge.max())]
}

fn dash() -> String {
    "-".to_owned()
}

/// The checks, in the order in which they were first seen, each with the groups that it is in.
pub(super) fn checks(html: &mut Html, result: &RunResult) {
    let Some(summary) = &result.summary else {
        return;
    };
    let mut all = summary.root.all_checks(" › ");
    if all.is_empty() {
        return;
    }
    all.sort_by_key(|(_, check)| check.first_seen);
    let passed: u64 = all.iter().map(|(_, check)| check.passes).sum();
    let failed: u64 = all.iter().map(|(_, check)| check.fails).sum();
    let remark = format!(
        "{} of {} passed",
        share(passed, passed + failed),
        count(passed + failed)
    );
    html.heading("Checks", &remark);
    html.wide();
    html.raw("<table class=\"outcomes\"><thead><tr><th scope=\"col\">outcome</th>");
    html.raw("<th scope=\"col\">check</th><th scope=\"col\" class=\"n\">passed</th>");
    html.raw("<th scope=\"col\" class=\"n\">failed</th><th scope=\"col\" class=\"n\">share</th></tr></thead><tbody>");
    for (name, check) in all.iter().take(ROWS_MAX) {
        let (passes, fails) = (check.passes, check.fails);
        html.raw(match fails {
            0 => "<tr class=\"good\"><td>✓ passed</td>",
            _ if passes == 0 => "<tr class=\"alarm\"><td>✗ failed</td>",
            _ => "<tr class=\"caution\"><td>! partly</td>",
        });
        html.between("<th scope=\"row\">", name, "</th>");
        html.between("<td class=\"n\">", &count(passes), "</td>");
        html.between("<td class=\"n\">", &count(fails), "</td>");
        html.between(
            "<td class=\"n\">",
            &share(passes, passes + fails),
            "</td></tr>",
        );
    }
    html.raw("</tbody></table></div>");
    beyond(html, all.len());
}
