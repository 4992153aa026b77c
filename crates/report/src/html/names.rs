//! The table per name of a script's requests, or per value of whichever tag was asked for.
//!
//! Must not know how rows were chosen. Invariant: every row that was counted is in the table or in the
//! number of those left out.

use loadline_model::RunResult;

use super::markup::{Html, Side};
use crate::k6::by_tag::{figures, shown_value};
use crate::units::{count, counted};

/// Rows shown; beyond, a page is no longer read but searched, and the outputs are better for that.
const ROWS_MAX: usize = 500;

/// The table; nothing when none was asked for.
pub(super) fn write(html: &mut Html, result: &RunResult) {
    let Some(table) = result
        .summary
        .as_ref()
        .and_then(|summary| summary.by_tag.as_ref())
    else {
        return;
    };
    if table.rows.is_empty() {
        return;
    }
    html.heading("Requests", &format!("by {}", table.tag));
    let columns = [
        ("", Side::Code),
        ("requests", Side::Numbers),
        ("failed", Side::Numbers),
        ("avg", Side::Numbers),
        ("p90", Side::Numbers),
        ("p95", Side::Numbers),
        ("p99", Side::Numbers),
        ("max", Side::Numbers),
    ];
    let row = |(value, metrics): &(String, Vec<_>)| {
        let mut cells = vec![shown_value(value).to_owned()];
        cells.extend(figures(metrics));
        cells
    };
    let rows: Vec<Vec<String>> = table.rows.iter().take(ROWS_MAX).map(row).collect();
    html.table(&columns, &rows);
    if let Some(hidden) = table
        .rows
        .len()
        .checked_sub(ROWS_MAX)
        .filter(|hidden| *hidden > 0)
    {
        let text = format!("and {} more values", count(hidden as u64));
        html.between("<p class=\"hint\">", &text, "</p>");
    }
    if table.overflowed > 0 {
        let text = format!(
            "{} with further values are counted in the totals alone",
            counted(table.overflowed, "sample")
        );
        html.between("<p class=\"hint\">", &text, "</p>");
    }
}
