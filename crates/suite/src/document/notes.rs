//! Notes below a table: how often its rows were run, what failed, what is pending, charts, links to results.
//!
//! Must not know kinds of documents. Invariant: the same outcome gives the same notes, and none of them grows
//! with the number of rows.

use super::ChartLink;
use super::compile::{Column, Document, Table};
use super::fill::Filled;
use super::source::DocumentRows;
use crate::outcome::{RowOutcome, RowStatus, SuiteOutcome};

/// Rows that are named one by one; a reader of more looks into the table.
const NAMED_MAX: usize = 20;

/// The notes below a table.
#[derive(Default)]
pub(super) struct Behind {
    pub(super) notes: Vec<String>,
    pub(super) charts: Vec<Shown>,
    /// Text and address.
    pub(super) links: Vec<(String, String)>,
}

/// Charts of one row.
pub(super) struct Shown {
    pub(super) intro: String,
    /// Title and address.
    pub(super) list: Vec<(String, String)>,
}

pub(super) fn behind<R: DocumentRows>(
    document: &Document,
    table: &Filled<'_, R>,
    outcome: Option<&SuiteOutcome>,
) -> (Behind, Vec<ChartLink>) {
    let mut behind = Behind::default();
    if table.table.has_notes {
        behind.notes = notes(table);
    }
    let Some(outcome) = outcome else {
        return (behind, Vec::new());
    };
    let state = state_of(document, outcome);
    let links = |row: &RowOutcome| {
        let of_run = |run: &crate::outcome::RunOutcome| {
            let text = match row.runs.len() {
                1 => row.id.clone(),
                _ => format!("{} ({})", row.id, run.repetition),
            };
            (text, below(state, &run.file))
        };
        row.runs.iter().map(of_run).collect::<Vec<_>>()
    };
    if table.table.links {
        behind.links = table
            .order
            .iter()
            .flat_map(|row| links(&outcome.rows[*row]))
            .collect();
    }
    let mut shown = Vec::new();
    for row in &table.order {
        let charts = charts(table, *row, &outcome.rows[*row], state);
        if let Some((charts, links)) = charts {
            behind.charts.push(charts);
            shown.extend(links);
        }
    }
    (behind, shown)
}

/// The state folder as links name it.
pub(super) fn state_of<'a>(document: &'a Document, outcome: &'a SuiteOutcome) -> &'a str {
    let known = outcome.facts.get("state").map(String::as_str);
    document.state.as_deref().or(known).unwrap_or("")
}

pub(super) fn below(folder: &str, file: &str) -> String {
    match folder.trim_end_matches('/') {
        "" => file.to_owned(),
        folder => format!("{folder}/{file}"),
    }
}

/// From the row's first run; `None` without one, or if no charts are requested.
fn charts<R: DocumentRows>(
    table: &Filled<'_, R>,
    row: usize,
    of: &RowOutcome,
    state: &str,
) -> Option<(Shown, Vec<ChartLink>)> {
    let wanted = table.table.charts.as_ref();
    let wanted = wanted.filter(|charts| !charts.list.is_empty())?;
    let run = of
        .runs
        .first()
        .filter(|_| of.status != RowStatus::Pending)?;
    let mut intro = String::new();
    match &wanted.intro {
        Some(content) => {
            table.write_content(row, content, &mut intro);
        }
        None => intro.push_str(&of.id),
    }
    let folder = run.file.strip_suffix(".json").unwrap_or(&run.file);
    let mut list = Vec::new();
    let mut links = Vec::new();
    for (title, chart) in &wanted.list {
        let file = format!("{folder}.charts/{chart}.svg");
        list.push((title.clone(), below(state, &file)));
        links.push(ChartLink {
            result: run.file.clone(),
            chart: chart.clone(),
            file,
        });
    }
    Some((Shown { intro, list }, links))
}

pub(super) fn notes<R: DocumentRows>(table: &Filled<'_, R>) -> Vec<String> {
    let mut notes = Vec::new();
    let rows = table.rows;
    let runs = || {
        table
            .order
            .iter()
            .map(|row| rows.runs(*row))
            .filter(|runs| *runs > 0)
    };
    let is_measured = table.table.columns.iter().any(Column::is_measured);
    if let (Some(least), Some(most), true) = (runs().min(), runs().max(), is_measured) {
        let has_intervals = table.has_intervals && wants_intervals(table.table);
        notes.push(repetitions(least, most, has_intervals));
        notes.extend(table.doubts.footnotes());
    }
    let with = |status: RowStatus| {
        let order = table.order.iter().copied();
        order.filter(move |row| rows.status(*row) == status)
    };
    let failed: Vec<usize> = with(RowStatus::Failed).take(NAMED_MAX + 1).collect();
    for row in failed.iter().take(NAMED_MAX) {
        notes.push(match rows.reasons(*row) {
            [] => format!("{} failed.", rows.id(*row)),
            reasons => format!("{} failed: {}.", rows.id(*row), reasons.join("; ")),
        });
    }
    if failed.len() > NAMED_MAX {
        let more = with(RowStatus::Failed).count() - NAMED_MAX;
        notes.push(format!("{more} more failed."));
    }
    let pending: Vec<&str> = with(RowStatus::Pending)
        .take(NAMED_MAX)
        .map(|row| rows.id(row))
        .collect();
    if !pending.is_empty() {
        let more = with(RowStatus::Pending).count() - pending.len();
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        notes.push(format!("Pending: {}{more}.", pending.join(", ")));
    }
    notes
}

fn wants_intervals(table: &Table) -> bool {
    let mut contents = table
        .columns
        .iter()
        .filter_map(|column| column.content.as_ref());
    contents.any(|content| content.interval)
}

fn repetitions(least: usize, most: usize, wants_intervals: bool) -> String {
    let of = match (least, most) {
        (1, 1) => return "Each row is one run: the variation between runs is unknown.".to_owned(),
        (1, most) => {
            format!("Values are medians of up to {most} runs; a row of one run has no interval.")
        }
        (least, most) if least == most => format!("Values are medians of {most} runs."),
        (least, most) => format!("Values are medians of {least} to {most} runs."),
    };
    if wants_intervals {
        format!("{of} In brackets: the 95 % interval from the variance between runs.")
    } else {
        of
    }
}
