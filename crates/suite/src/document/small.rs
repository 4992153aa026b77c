//! A small chart of each row's first run, all with the same scales, linked to the run's report.
//!
//! Must not know how a chart is drawn: the caller passes a function. Invariant: an incomplete row has none.

use std::collections::BTreeSet;

use loadline_model::RunResult;

use super::compile::Document;
use super::fill::Filled;
use super::notes::{below, state_of};
use super::source::DocumentRows;
use crate::outcome::{RowOutcome, RowStatus, SuiteOutcome};

/// Rows that have a chart: a page of more is slow to open.
const ROWS_MAX: usize = 200;

/// Rendered small charts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmallRuns {
    /// What all of them show, and to which scales.
    pub scales: String,
    /// One for each run, as markup.
    pub charts: Vec<String>,
}

/// Draws small charts of runs.
pub type Draw<'a> = &'a dyn Fn(&[&RunResult]) -> SmallRuns;

/// The report of a run that a document links to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportLink {
    /// The result that it is made from, as a path below the state folder.
    pub result: String,
    /// Its path below the state folder.
    pub file: String,
}

/// The small charts of a document.
pub(super) struct Small {
    pub(super) scales: String,
    pub(super) rows: Vec<SmallRow>,
    /// Rows beyond the maximum.
    pub(super) left_out: usize,
}

/// The chart of one row.
pub(super) struct SmallRow {
    /// What distinguishes it from the other rows.
    pub(super) title: String,
    pub(super) status: RowStatus,
    /// Where its report is, from the document on.
    pub(super) address: String,
    pub(super) report: ReportLink,
    pub(super) chart: String,
}

/// The rows that the document's tables show, in order; `None` if fewer than two have a run.
pub(super) fn small<R: DocumentRows>(
    document: &Document,
    tables: &[Filled<'_, R>],
    outcome: &SuiteOutcome,
    draw: Draw<'_>,
) -> Option<Small> {
    let mut known = BTreeSet::new();
    let shown = tables.iter().flat_map(|table| table.order.iter().copied());
    let rows = shown
        .filter(|row| known.insert(*row))
        .map(|row| &outcome.rows[row]);
    let whole = rows.filter(|row| row.status != RowStatus::Pending);
    let mut runs: Vec<_> = whole
        .filter_map(|row| Some((row, row.runs.first()?)))
        .collect();
    if runs.len() < 2 {
        return None;
    }
    let left_out = runs.len().saturating_sub(ROWS_MAX);
    runs.truncate(ROWS_MAX);
    let results: Vec<&RunResult> = runs.iter().map(|(_, run)| &*run.result).collect();
    let drawn = draw(&results);
    let state = state_of(document, outcome);
    let titles: Vec<String> = runs.iter().map(|(row, _)| title_of(row)).collect();
    let drawn_rows = runs.iter().zip(&titles).zip(drawn.charts);
    let rows = drawn_rows.map(|(((row, run), title), chart)| {
        let stem = run.file.strip_suffix(".json").unwrap_or(&run.file);
        let file = format!("{stem}.html");
        SmallRow {
            title: match titles.iter().filter(|other| *other == title).count() {
                1 => title.clone(),
                _ => row.id.clone(),
            },
            status: row.status,
            address: below(state, &file),
            report: ReportLink {
                result: run.file.clone(),
                file,
            },
            chart,
        }
    });
    let rows: Vec<SmallRow> = rows.collect();
    (!rows.is_empty()).then_some(Small {
        scales: drawn.scales,
        rows,
        left_out,
    })
}

/// A row's labels, or its identity where it has none.
fn title_of(row: &RowOutcome) -> String {
    let labels = row.labels.iter();
    let labels: Vec<String> = labels
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    match labels.is_empty() {
        true => row.id.clone(),
        false => labels.join(", "),
    }
}
