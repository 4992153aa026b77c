//! The origin of a cell: file, expression, window, and the value of each repetition.
//!
//! Must not know kinds of documents. Invariant: the explanation uses the same evaluation as the cell.

use std::fmt;

use loadline_model::RunResult;

use super::compile::{Column, Table};
use super::fill::Filled;
use super::names::Names;
use super::source::{DocumentRows, OutcomeRows};
use super::spec::DocumentSpec;
use super::{DocumentError, compile};
use crate::expression::figures::FIGURES;
use crate::expression::{Expression, Path, Selector, Value};
use crate::format::{Blank, Format, ListStyle};
use crate::outcome::{RowOutcome, RowStatus, SuiteOutcome};
use crate::statistics::Interval;

/// The origin of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The row's identity.
    pub row: String,
    /// The column's title.
    pub column: String,
    /// The cell as it is written.
    pub cell: String,
    /// The status of the row.
    pub status: RowStatus,
    /// The column's format; empty where people fill it.
    pub format: String,
    /// Its expressions.
    pub values: Vec<ExplainedValue>,
}

/// The origin of one value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedValue {
    /// The expression as it was written.
    pub expression: String,
    /// Each thing that it names, and what that is.
    pub paths: Vec<(String, String)>,
    /// The row that each `row("…")` is, as it was found for this row.
    pub others: Vec<(String, String)>,
    /// Repetition, file below the state folder, and value of each run.
    pub by_run: Vec<(u32, String, String)>,
    /// Its value.
    pub value: String,
    /// Its 95 % interval in base units; `None` if there is none.
    pub interval: Option<Interval>,
}

/// Explains a cell. The column is given by its title, or by its number, from one.
///
/// # Errors
/// Those of [`super::render`]; no table has the row or the column.
pub fn explain(
    spec: &DocumentSpec,
    outcome: &SuiteOutcome,
    row: &str,
    column: &str,
) -> Result<Explanation, DocumentError> {
    let document = compile::document(spec)?;
    let names = Names(&document.components);
    let Some(number) = outcome.rows.iter().position(|known| known.id == row) else {
        let known: Vec<&str> = outcome
            .rows
            .iter()
            .map(|row| row.id.as_str())
            .take(20)
            .collect();
        return Err(unknown(format!("no row is `{row}`"), &known));
    };
    for table in &document.tables {
        let Some(found) = column_of(table, column) else {
            continue;
        };
        let rows = OutcomeRows::new(outcome, &table.paths);
        let filled = Filled::new(table, &rows, &names)?;
        if filled.order.contains(&number) {
            return Ok(traced(&filled, number, &outcome.rows[number], found));
        }
    }
    let known: Vec<&str> = document
        .tables
        .iter()
        .flat_map(|table| &table.columns)
        .map(|column| column.title.as_str())
        .collect();
    Err(unknown(
        format!("no table has the row `{row}` and a column `{column}`"),
        &known,
    ))
}

fn unknown(what: String, known: &[&str]) -> DocumentError {
    DocumentError {
        line: 0,
        column: 0,
        in_document: false,
        what,
        fix: format!("there are {}", known.join(", ")),
    }
}

fn column_of<'t>(table: &'t Table, wanted: &str) -> Option<&'t Column> {
    let titled = table.columns.iter().find(|column| column.title == wanted);
    titled.or_else(|| {
        let number: usize = wanted.parse().ok()?;
        table.columns.get(number.checked_sub(1)?)
    })
}

fn traced<R: DocumentRows>(
    table: &Filled<'_, R>,
    number: usize,
    row: &RowOutcome,
    column: &Column,
) -> Explanation {
    let mut cell = String::new();
    table.write(number, column, &mut cell);
    let content = column.content.as_ref();
    let values = content.map_or_else(Vec::new, |content| {
        let values = content.values.iter();
        values
            .map(|(of, text)| value(table, number, row, of, text))
            .collect()
    });
    Explanation {
        row: row.id.clone(),
        column: column.title.clone(),
        cell,
        status: row.status,
        format: content.map_or_else(String::new, |content| content.format_text.clone()),
        values,
    }
}

fn value<R: DocumentRows>(
    table: &Filled<'_, R>,
    number: usize,
    row: &RowOutcome,
    of: &Expression,
    text: &str,
) -> ExplainedValue {
    let found = table.find(of, number, true);
    let runs = &row.runs[..table.rows.runs(number).min(row.runs.len())];
    let by_run = match found.by_run.as_slice() {
        [] => std::slice::from_ref(&found.value),
        several => several,
    };
    let meant = table.others_of(of, number);
    ExplainedValue {
        expression: text.to_owned(),
        paths: named_in(of, table.table, text)
            .map(|path| {
                (
                    path.to_string(),
                    what(path, runs.first().map(|run| &*run.result)),
                )
            })
            .collect(),
        others: of
            .others()
            .iter()
            .map(|other| {
                let name = table.table.others[*other].0.clone();
                (name, table.rows.id(meant[*other]).to_owned())
            })
            .collect(),
        by_run: runs
            .iter()
            .zip(by_run)
            .map(|(run, value)| (run.repetition, run.file.clone(), shown(value)))
            .collect(),
        value: shown(&found.value),
        interval: found.interval,
    }
}

/// The paths that an expression itself names, of all those of its table.
fn named_in<'t>(of: &Expression, table: &'t Table, text: &str) -> impl Iterator<Item = &'t Path> {
    let own = text.parse::<Expression>().unwrap_or_else(|_| of.clone());
    table
        .paths
        .iter()
        .filter(move |path| own.paths().contains(path))
}

fn shown(value: &Value<'_>) -> String {
    let mut out = String::new();
    let missing = Blank::Text("not measured".to_owned());
    Format::default().write(
        std::slice::from_ref(value),
        &missing,
        &ListStyle::default(),
        &mut out,
    );
    out
}

/// What a path is, in words.
fn what(path: &Path, run: Option<&RunResult>) -> String {
    match path {
        Path::Run(name) => {
            let figure = FIGURES.iter().find(|figure| figure.name == name);
            match figure {
                Some(figure) => figure.what.to_owned(),
                None if name.starts_with("metrics.") => "a metric of the script".to_owned(),
                None => "of the distribution over the measured time".to_owned(),
            }
        }
        Path::Observe(selector) => window(selector, run),
        Path::Plan(_) => "of the row's plan, or of what was run".to_owned(),
        Path::Env(_) => "of the row's environment".to_owned(),
        Path::Label(_) => "a label of the row".to_owned(),
        Path::Suite(_) => "of the suite".to_owned(),
        Path::Row(_) => "of the row".to_owned(),
    }
}

/// Aggregation, phase and, of the first run, its window and series.
fn window(selector: &Selector, run: Option<&RunResult>) -> String {
    let of = format!(
        "{} over the phase {}",
        selector.aggregation.name(),
        selector.phase.name()
    );
    let Some(run) = run else { return of };
    let phases = run.observations.phases;
    let span = phases.map(|phases| phases.span(selector.phase));
    let window = span.map_or_else(String::new, |span| {
        let seconds = |ns: i64| ns as f64 / 1e9;
        format!(
            " ({:.1} s to {:.1} s of the run)",
            seconds(span.from_ns),
            seconds(span.to_ns)
        )
    });
    let series = run.observations.series.iter().filter(|series| {
        selector.observer.takes(&series.observer)
            && selector
                .component
                .as_ref()
                .is_none_or(|component| component.takes(&series.component))
            && selector
                .metric
                .as_ref()
                .is_none_or(|metric| *metric == series.metric)
    });
    let series: Vec<String> = series
        .map(|series| format!("{}/{}/{}", series.observer, series.component, series.metric))
        .collect();
    match series.as_slice() {
        [] => format!("{of}{window}; no such series was observed"),
        series => format!("{of}{window}, of {}", series.join(", ")),
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = super::source::status_name(self.status);
        writeln!(
            f,
            "row {} ({status}), column {}: {}",
            self.row,
            self.column,
            self.cell.trim()
        )?;
        if self.values.is_empty() {
            return writeln!(f, "this column is filled in by hand");
        }
        for value in &self.values {
            writeln!(f, "expression: {}", value.expression)?;
            for (path, what) in &value.paths {
                writeln!(f, "  {path}: {what}")?;
            }
            for (name, row) in &value.others {
                writeln!(f, "  row(\"{name}\") is the row {row}")?;
            }
            for (repetition, file, value) in &value.by_run {
                writeln!(f, "  run {repetition}, {file}: {value}")?;
            }
            let runs = match value.by_run.len() {
                0 => "no run",
                1 => "one run",
                _ => "median of the runs",
            };
            write!(f, "  {runs}: {}", value.value)?;
            match value.interval {
                Some(Interval { low, high }) => {
                    writeln!(f, ", 95 % interval {low} to {high} in base units")?;
                }
                None => writeln!(f)?,
            }
        }
        writeln!(f, "format: {}", self.format)
    }
}
