//! Request time by phase, and the cost of connections.
//!
//! Must not know percentiles. Invariant: each row shows its number of values.

use loadline_metric::Summary;
use loadline_model::RunResult;

use crate::page::Page;
use crate::units::{count, counted, span, span_or_dash};

pub(super) fn write(page: &mut Page, result: &RunResult) {
    let rows = rows(result);
    if !rows.is_empty() {
        page.section("Phases", "");
        page.table(
            "<>>>>",
            &["", "average", "fastest", "slowest", "count"],
            &rows,
        );
    }
    let connections = &result.totals.seen.connections;
    if connections.opened + connections.failed > 0 {
        page.line(&format!("  {}", connection_line(result)));
    }
}

/// Each phase that occurred: name, average, fastest, slowest, count.
pub(crate) fn rows(result: &RunResult) -> Vec<Vec<String>> {
    let (phases, connections) = (&result.totals.seen.phases, &result.totals.seen.connections);
    [
        ("DNS lookup", &connections.dns),
        ("TCP connect", &connections.connect),
        ("TLS handshake", &connections.tls),
        ("blocked", &phases.blocked),
        ("sending", &phases.sending),
        ("waiting", &phases.waiting),
        ("receiving", &phases.receiving),
    ]
    .iter()
    .filter(|(_, phase)| !phase.is_empty())
    .map(|(name, phase)| row(name, phase))
    .collect()
}

fn row(name: &str, phase: &Summary) -> Vec<String> {
    vec![
        name.to_owned(),
        span_or_dash(phase.mean()),
        span_or_dash(phase.min().map(|ns| ns as f64)),
        span_or_dash(phase.max().map(|ns| ns as f64)),
        count(phase.count()),
    ]
}

/// The connections made, in words.
pub(crate) fn connection_line(result: &RunResult) -> String {
    let connections = &result.totals.seen.connections;
    let mut parts = vec![format!(
        "{} opened",
        counted(connections.opened, "connection")
    )];
    if let Some(each) = result.totals.requests_per_connection() {
        let each = if each < 100.0 {
            format!("{each:.1}")
        } else {
            count(each.round() as u64)
        };
        let plural = if each == "1.0" { "" } else { "s" };
        parts.push(format!("{each} request{plural} each"));
    }
    if connections.failed > 0 {
        parts.push(format!("{} could not be opened", count(connections.failed)));
    }
    if connections.http2 > 0 {
        parts.push(format!("{} over HTTP/2", count(connections.http2)));
    }
    if let Some(rtt) = connections.min_rtt.min() {
        parts.push(format!("smallest round trip {}", span(rtt as f64)));
    }
    if connections.retransmits > 0 {
        let sampled = connections.min_rtt.count();
        let on = match sampled < connections.opened {
            true => format!(" on {} sampled connections", count(sampled)),
            false => String::new(),
        };
        parts.push(format!(
            "{} retransmitted segments{on}",
            count(connections.retransmits)
        ));
    }
    parts.join(", ")
}
