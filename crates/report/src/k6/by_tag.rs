//! The table per value of a tag (`--summary-by`): one row per request name, URL or whatever the tag
//! holds.
//!
//! Not one of k6's layouts. Must not know how rows were chosen. Invariant: every row that was
//! counted is in the table or in the number of those left out.

use loadline_metric::TimeTrend;
use loadline_model::request_table::RowFigures;
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
    write(&mut page, table);
    format!("{}\n", page.finish())
}

/// The table as a section.
pub(crate) fn write(page: &mut Page, table: &ByTag) {
    page.section(&format!("Requests by {}", table.tag), "");
    let head: Vec<&str> = [""].into_iter().chain(COLUMNS).collect();
    page.table("<>>>>>>>", &head, &cells(table, ROWS_MAX));
    if let Some(hidden) = table
        .rows
        .len()
        .checked_sub(ROWS_MAX)
        .filter(|hidden| *hidden > 0)
    {
        let line = page
            .style
            .faint(&format!("  and {} more values", count(hidden as u64)));
        page.line(&line);
    }
    if table.overflowed > 0 {
        let line = page.style.caution(&format!(
            "  {} with further values are counted in the totals alone",
            counted(table.overflowed, "sample")
        ));
        page.line(&line);
    }
}

/// What stands beside a value of the tag.
pub const COLUMNS: [&str; 7] = ["requests", "failed", "avg", "p90", "p95", "p99", "max"];

/// The first rows: the value of the tag, and a cell for each of [`COLUMNS`].
#[must_use]
pub fn cells(table: &ByTag, rows_max: usize) -> Vec<Vec<String>> {
    let rows = table.rows.iter().take(rows_max);
    rows.map(|(value, metrics)| row(value, metrics)).collect()
}

fn row(value: &str, metrics: &[MetricSummary]) -> Vec<String> {
    let mut row = vec![cut(shown_value(value), VALUE_COLUMNS)];
    row.extend(figures(metrics));
    row
}

/// A value of the tag as it is shown.
pub(crate) fn shown_value(value: &str) -> &str {
    if value.is_empty() { "(none)" } else { value }
}

/// Requests, failed, average, 90th, 95th and 99th percentile, slowest.
pub(crate) fn figures(metrics: &[MetricSummary]) -> Vec<String> {
    let RowFigures {
        requests,
        failed,
        times,
    } = RowFigures::of(metrics);
    let failed = failed.map_or_else(
        || "-".to_owned(),
        |rate| share(rate.nonzero(), rate.total()),
    );
    let requests = requests.unwrap_or_else(|| times.map_or(0, TimeTrend::count));
    let shown = |of: &dyn Fn(&TimeTrend) -> Option<f64>| span_or_dash(times.and_then(of));
    vec![
        count(requests),
        failed,
        shown(&TimeTrend::mean),
        shown(&|t| t.quantile(0.9)),
        shown(&|t| t.quantile(0.95)),
        shown(&|t| t.quantile(0.99)),
        shown(&|t| t.max().map(|ns| ns as f64)),
    ]
}

#[cfg(test)]
mod tests {
    use loadline_metric::{Aggregated, BuiltIn};

    use super::*;

    fn metric(of: BuiltIn, values: &[f64]) -> MetricSummary {
        let mut all = Aggregated::empty(of.kind(), of.contains(), true);
        for value in values {
            all.record(*value, 0).unwrap();
        }
        MetricSummary {
            definition: of.definition(),
            tags: None,
            suffix: None,
            values: all,
            thresholds: Vec::new(),
        }
    }

    fn table(rows: usize, overflowed: u64) -> ByTag {
        let metrics = vec![
            metric(BuiltIn::HttpReqs, &[1.0, 1.0]),
            metric(BuiltIn::HttpReqFailed, &[0.0, 1.0]),
            metric(BuiltIn::HttpReqDuration, &[1.0, 3.0]),
        ];
        ByTag {
            tag: "name".to_owned(),
            rows: (0..rows)
                .map(|row| (format!("GET /{row}"), metrics.clone()))
                .collect(),
            overflowed,
            ..ByTag::default()
        }
    }

    #[test]
    fn each_value_has_a_row() {
        assert_eq!(
            by_tag(&table(1, 7), &Style::default()),
            "Requests by name\n           requests   failed       avg       p90       p95       p99       max\n  \
             GET /0          2   50.0 %   2.00 ms   2.80 ms   2.90 ms   2.98 ms   3.00 ms\n  \
             7 samples with further values are counted in the totals alone\n\n"
        );
        assert_eq!(by_tag(&table(0, 0), &Style::default()), "");
    }

    #[test]
    fn rows_beyond_the_limit_are_counted() {
        let text = by_tag(&table(ROWS_MAX + 2, 0), &Style::default());
        assert_eq!(text.lines().count(), ROWS_MAX + 4);
        assert!(text.ends_with("  and 2 more values\n\n"), "{text}");
    }
}
