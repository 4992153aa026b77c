//! The table by values of a tag (`--summary-by`): one row per request name, URL or other value.
//!
//! Not one of k6's layouts. Must not know how rows were chosen. Invariants: every counted row is in the table
//! or in the number of omitted ones; if columns are omitted, the most informative ones stay.

use loadline_metric::TimeTrend;
use loadline_model::request_table::RowFigures;
use loadline_model::test_summary::{ByTag, MetricSummary};

use crate::Style;
use crate::page::Page;
use crate::units::{count, counted, rate, share, span_or_dash};

/// Columns of a value of the tag; longer ones are cut.
const VALUE_COLUMNS: usize = 56;
/// Minimum columns of a value of the tag: figures are omitted for it.
const VALUE_COLUMNS_MIN: usize = 24;
/// Columns between two cells.
const GAP: usize = 3;
/// Rows shown; the files of the summary have all thresholds and metrics, and the raw outputs all
/// samples.
const ROWS_MAX: usize = 100;

/// The table, followed by an empty line; empty if nothing was seen. `counted_ns`: how long requests were
/// counted, in nanoseconds.
#[must_use]
pub fn by_tag(table: &ByTag, counted_ns: u64, style: &Style) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let mut page = Page::new(*style);
    write(&mut page, table, counted_ns);
    format!("{}\n", page.finish())
}

/// The table as a section.
pub(crate) fn write(page: &mut Page, table: &ByTag, counted_ns: u64) {
    page.section(&format!("Requests by {}", table.tag), "");
    let rows = cells(table, counted_ns, ROWS_MAX);
    let (shown, name) = fitting(&rows, page.style.columns());
    let head: Vec<&str> = [""]
        .into_iter()
        .chain(shown.iter().map(|column| COLUMNS[*column]))
        .collect();
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let figures = shown.iter().map(|column| row[column + 1].clone());
            [shortened(&row[0], name)]
                .into_iter()
                .chain(figures)
                .collect()
        })
        .collect();
    page.table(&format!("<{}", ">".repeat(shown.len())), &head, &rows);
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
            "  {} with further values are counted only in the totals",
            counted(table.overflowed, "sample")
        ));
        page.line(&line);
    }
}

/// The columns next to a value of the tag.
pub const COLUMNS: [&str; 9] = [
    "requests", "req/s", "failed", "avg", "p50", "p90", "p95", "p99", "max",
];

/// Indices in [`COLUMNS`], the most informative first.
const BY_WEIGHT: [usize; COLUMNS.len()] = [0, 2, 7, 4, 1, 6, 8, 3, 5];

/// The columns that stay if there is room for this many, as indices in [`COLUMNS`], in its order.
#[must_use]
pub fn most_telling(number: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = BY_WEIGHT.into_iter().take(number).collect();
    chosen.sort_unstable();
    chosen
}

/// The columns that fit beside the values of the tag on a page of such a width, and the room of the values.
fn fitting(rows: &[Vec<String>], width: usize) -> (Vec<usize>, usize) {
    let width_of = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        let head = column.checked_sub(1).map_or(0, |at| COLUMNS[at].len());
        cells.max().unwrap_or(0).max(head)
    };
    let name = width_of(0).min(VALUE_COLUMNS);
    let room = |shown: &[usize]| {
        let figures: usize = shown.iter().map(|at| GAP + width_of(at + 1)).sum();
        width.saturating_sub(2 + figures)
    };
    let number = (0..=COLUMNS.len())
        .rev()
        .find(|number| room(&most_telling(*number)) >= name.min(VALUE_COLUMNS_MIN));
    let shown = most_telling(number.unwrap_or(0));
    let name = name.min(room(&shown));
    (shown, name)
}

/// The first rows: the value of the tag, and a cell per column in [`COLUMNS`]. `counted_ns`: how long requests
/// were counted, in nanoseconds.
#[must_use]
pub fn cells(table: &ByTag, counted_ns: u64, rows_max: usize) -> Vec<Vec<String>> {
    let rows = table.rows.iter().take(rows_max);
    rows.map(|(value, metrics)| {
        let mut row = vec![shortened(shown_value(value), VALUE_COLUMNS)];
        row.extend(figures(metrics, counted_ns));
        row
    })
    .collect()
}

/// A value of the tag shortened to this many columns. URLs often share their beginning, so most of the end
/// stays.
#[must_use]
pub fn shortened(value: &str, columns: usize) -> String {
    let letters = value.chars().count();
    if letters <= columns {
        return value.to_owned();
    }
    let kept = columns.saturating_sub(1);
    let (begin, end) = (kept / 3, kept - kept / 3);
    let head = value.chars().take(begin);
    let tail = value.chars().skip(letters - end);
    head.chain(['…'].into_iter().take(columns))
        .chain(tail)
        .collect()
}

/// A value of the tag as it is shown.
pub(crate) fn shown_value(value: &str) -> &str {
    if value.is_empty() { "(none)" } else { value }
}

/// A cell for each of [`COLUMNS`].
pub(crate) fn figures(metrics: &[MetricSummary], counted_ns: u64) -> Vec<String> {
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
    // A request without a response took no time in k6's metrics.
    let times = times.filter(|times| times.max() > Some(0));
    let shown = |of: &dyn Fn(&TimeTrend) -> Option<f64>| span_or_dash(times.and_then(of));
    vec![
        count(requests),
        rate(requests as f64 / (counted_ns as f64 / 1e9)),
        failed,
        shown(&TimeTrend::mean),
        shown(&|t| t.quantile(0.5)),
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

    const SECOND: u64 = 1_000_000_000;

    fn of_width(table: &ByTag, width: usize) -> String {
        let style = Style {
            width,
            ..Style::default()
        };
        by_tag(table, 4 * SECOND, &style)
    }

    #[test]
    fn each_value_has_a_row() {
        assert_eq!(
            of_width(&table(1, 7), 100),
            "Requests by name\n           requests    req/s   failed    avg    p50       p90       p95       p99    max\n  \
             GET /0          2   0.50/s   50.0 %   2 ms   2 ms   2.80 ms   2.90 ms   2.98 ms   3 ms\n  \
             7 samples with further values are counted only in the totals\n\n"
        );
        assert_eq!(of_width(&table(0, 0), 100), "");
    }

    #[test]
    fn requests_without_a_response_have_no_times() {
        let metrics = [
            metric(BuiltIn::HttpReqs, &[1.0]),
            metric(BuiltIn::HttpReqFailed, &[1.0]),
            metric(BuiltIn::HttpReqDuration, &[0.0]),
        ];
        let cells = figures(&metrics, SECOND);
        assert_eq!(cells[2], "100 %");
        assert!(cells[3..].iter().all(|cell| cell == "-"), "{cells:?}");
    }

    #[test]
    fn a_narrow_page_keeps_the_columns_that_say_most() {
        let mut table = table(1, 0);
        let heads = |table: &ByTag, width: usize| {
            let text = of_width(table, width);
            let longest = text.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(width), "{text}");
            let head = text.lines().nth(1).unwrap_or_default();
            head.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            heads(&table, 80),
            "requests req/s failed avg p50 p95 p99 max"
        );
        table.rows[0].0 = "GET https://shop.example/api/v2/products/{id}/reviews".to_owned();
        assert_eq!(heads(&table, 80), "requests req/s failed p50 p99");
        assert_eq!(heads(&table, 60), "requests failed p99");
        assert_eq!(
            heads(&table, 160),
            "requests req/s failed avg p50 p90 p95 p99 max"
        );
    }

    #[test]
    fn the_end_of_a_value_tells_it_from_others() {
        assert_eq!(shortened("GET http://h:1/a/b", 18), "GET http://h:1/a/b");
        assert_eq!(shortened("GET http://h:1/a/b", 10), "GET…:1/a/b");
        assert_eq!(shortened("µµµµ", 2), "…µ");
        assert_eq!(shortened("µµµµ", 0), "");
    }

    #[test]
    fn nothing_is_told_of_a_rate_over_no_time() {
        let metrics = &table(1, 0).rows[0].1;
        assert_eq!(figures(metrics, 0)[1], "-");
    }

    #[test]
    fn rows_beyond_the_limit_are_counted() {
        let text = of_width(&table(ROWS_MAX + 2, 0), 100);
        assert_eq!(text.lines().count(), ROWS_MAX + 4);
        assert!(text.ends_with("  and 2 more values\n\n"), "{text}");
    }
}
