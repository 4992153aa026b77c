//! The table per value of a tag (`--summary-by`): one row per request name, URL or whatever the tag
//! holds.
//!
//! Not one of k6's layouts. Must not know how rows were chosen. Invariant: every row that was
//! counted is in the table or in the number of those left out.

use loadline_metric::{Aggregated, TimeTrend};
use loadline_model::test_summary::{ByTag, MetricSummary};

use crate::Style;
use crate::page::{Page, cut};
use crate::units::{count, counted, share, span_or_dash};

/// Columns of a value of the tag; longer ones are cut.
const VALUE_COLUMNS: usize = 56;
/// Rows shown; the files of the summary have all thresholds and metrics, and the raw outputs all
/// samples.
const ROWS_MAX: usize = 100;

/// The table, set off by an empty line at its end; empty when nothing was seen.
#[must_use]
pub fn by_tag(table: &ByTag, style: &Style) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let mut page = Page::new(*style);
    page.section(&format!("Requests by {}", table.tag), "");
    let rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .take(ROWS_MAX)
        .map(|(value, metrics)| row(value, metrics))
        .collect();
    page.table(
        "<>>>>>>>",
        &["", "requests", "failed", "avg", "p90", "p95", "p99", "max"],
        &rows,
    );
    if let Some(hidden) = table
        .rows
        .len()
        .checked_sub(ROWS_MAX)
        .filter(|hidden| *hidden > 0)
    {
        let line = page
            .style
            .faint(&format!("  and {} more", counted(hidden as u64, "value")));
        page.line(&line);
    }
    if table.overflowed > 0 {
        let line = page.style.caution(&format!(
            "  {} with further values are counted in the totals alone",
            counted(table.overflowed, "sample")
        ));
        page.line(&line);
    }
    format!("{}\n", page.finish())
}

fn row(value: &str, metrics: &[MetricSummary]) -> Vec<String> {
    let of = |name: &str| {
        metrics
            .iter()
            .find(|m| &*m.definition.name == name)
            .map(|m| &m.values)
    };
    let times = match of("http_req_duration") {
        Some(Aggregated::Times(trend)) => Some(trend),
        _ => None,
    };
    let failed = match of("http_req_failed") {
        Some(Aggregated::Rate(rate)) => share(rate.nonzero(), rate.total()),
        _ => "-".to_owned(),
    };
    let requests = match of("http_reqs") {
        Some(Aggregated::Counter(counter)) => counter.total() as u64,
        _ => times.map_or(0, TimeTrend::count),
    };
    let shown = |of: &dyn Fn(&TimeTrend) -> Option<f64>| span_or_dash(times.and_then(of));
    let name = if value.is_empty() { "(none)" } else { value };
    vec![
        cut(name, VALUE_COLUMNS),
        count(requests),
        failed,
        shown(&TimeTrend::mean),
        shown(&|t| t.quantile(0.9)),
        shown(&|t| t.quantile(0.95)),
        shown(&|t| t.quantile(0.99)),
        shown(&|t| t.max().map(|ns| ns as f64)),
    ]
}
