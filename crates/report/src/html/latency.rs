//! The distribution of times in numbers, and where the time went.
//!
//! Must not know charts. Invariant: a percentile based on few values is marked.

use loadline_metric::TimeTrend;
use loadline_model::RunResult;

use super::markup::{Html, Side};
use crate::percentiles;
use crate::text::{phases, response_time, service_time};
use crate::units::{counted, span_or_dash};

/// Percentiles, phases and connections.
pub(super) fn write(html: &mut Html, result: &RunResult) {
    let service = service_time(result);
    if service.is_empty() {
        return;
    }
    let response = response_time(result);
    html.heading(
        "Times",
        &format!("of {}", counted(service.count(), "request")),
    );
    html.raw("<div class=\"beside\"><div>");
    let is_marked = distribution(html, &service, response.as_ref());
    html.raw("</div><div>");
    phase_table(html, result);
    html.raw("</div></div>");
    hint(html, response.is_some(), is_marked);
}

fn hint(html: &mut Html, is_open: bool, is_marked: bool) {
    html.raw("<p class=\"hint\">Service time: from the actual send to the last byte.");
    if is_open {
        html.raw(" Response time: from the scheduled start to the last byte.");
    }
    if is_marked {
        html.raw(" * Fewer than 10 values lie beyond it.");
    }
    html.raw("</p>");
}

/// The table; whether a percentile in it is marked as a guess.
fn distribution(html: &mut Html, service: &TimeTrend, response: Option<&TimeTrend>) -> bool {
    let trends: Vec<&TimeTrend> = std::iter::once(service).chain(response).collect();
    let mut columns = vec![("", Side::Words), ("service time", Side::Numbers)];
    if response.is_some() {
        columns.push(("response time", Side::Numbers));
    }
    let line = |name: &str, of: &dyn Fn(&TimeTrend) -> Option<f64>| {
        let mut cells = vec![name.to_owned()];
        cells.extend(trends.iter().map(|trend| span_or_dash(of(trend))));
        cells
    };
    let mut rows = vec![
        line("fastest", &|t| t.min().map(|ns| ns as f64)),
        line("mean", &TimeTrend::mean),
    ];
    let mut is_marked = false;
    for shown in percentiles::of(service.count()) {
        is_marked |= shown.is_guess;
        rows.push(line(&shown.name, &|t| t.quantile(shown.quantile)));
    }
    rows.push(line("slowest", &|t| t.max().map(|ns| ns as f64)));
    html.table(&columns, &rows);
    is_marked
}

fn phase_table(html: &mut Html, result: &RunResult) {
    let columns = [
        ("phase", Side::Words),
        ("average", Side::Numbers),
        ("fastest", Side::Numbers),
        ("slowest", Side::Numbers),
        ("count", Side::Numbers),
    ];
    html.table(&columns, &phases::rows(result));
    let connections = &result.totals.seen.connections;
    if connections.opened + connections.failed > 0 {
        html.between(
            "<p class=\"hint\">",
            &phases::connection_line(result),
            ".</p>",
        );
    }
}
