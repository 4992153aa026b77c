//! The results document: tables of a suite's rows in Markdown, HTML, CSV, JSON and as a test report.
//!
//! A column is a title, an expression and a format. Must not know how a row is run, nor files: it gets the existing
//! text and returns the new one. Invariants: outside its blocks a Markdown file keeps every byte, hand-written cells
//! stay, and rendering again changes nothing.

mod compile;
mod contention;
mod csv;
mod doubts;
mod error;
mod explain;
mod fill;
mod history;
mod html;
mod json;
mod junit;
mod markdown;
mod methodology;
mod names;
mod notes;
mod plain;
pub mod presets;
mod references;
mod small;
mod source;
mod spec;

pub use doubts::{doubtful, footnote};
pub use error::DocumentError;
pub use explain::{Explanation, explain};
pub use history::{CELLS_MAX, History, HistoryColumns, HistoryError, HistoryRow, render_history};
pub use markdown::blocks;
pub use names::rules_without_match;
pub(crate) use names::{components, no_match, without_match};
pub use plain::{PlainTable, plain_tables};
pub(crate) use references::{Named, OtherRow, Reference, references};
pub use small::{Draw, ReportLink, SmallRuns};
pub use spec::{
    Align, ChartSpec, ChartsSpec, ColumnSpec, DocumentKind, DocumentSpec, Rename, RowsSpec,
    TableSpec,
};

use crate::outcome::SuiteOutcome;
use compile::Document;
use fill::Filled;
use names::Names;
use source::OutcomeRows;

/// The block about how figures were obtained.
const METHODOLOGY: &str = "methodology";

/// A rendered document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// All of it.
    pub text: String,
    /// The charts that it shows and that must be there for it.
    pub charts: Vec<ChartLink>,
    /// The reports that it links to and that must be there for it.
    pub reports: Vec<ReportLink>,
    /// What the user should know, such as cells of people that have lost their row.
    pub remarks: Vec<String>,
}

/// A chart in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartLink {
    /// The result that it is drawn from, as a path below the state folder.
    pub result: String,
    /// Which chart: the name of its file without ending.
    pub chart: String,
    /// Its path below the state folder.
    pub file: String,
}

/// Checks that a document can be made from any outcome.
///
/// # Errors
/// An invalid setting, expression or format, with its line and column in the suite file.
pub fn check(spec: &DocumentSpec) -> Result<(), DocumentError> {
    compile::document(spec).map(|_| ())
}

/// Checks that `existing`, the content of a document, has a place for everything that will be written into it.
///
/// # Errors
/// Those of [`check`]; invalid or missing markers in the document.
pub fn check_places(spec: &DocumentSpec, existing: &str) -> Result<(), DocumentError> {
    let document = compile::document(spec)?;
    match document.kind {
        DocumentKind::Markdown => markdown::check(&document.tables, existing),
        DocumentKind::Html | DocumentKind::Csv | DocumentKind::Json | DocumentKind::Junit => Ok(()),
    }
}

/// The kind of a document, from its settings or its file extension.
///
/// # Errors
/// As [`check`].
pub fn kind_of(spec: &DocumentSpec) -> Result<DocumentKind, DocumentError> {
    compile::document(spec).map(|document| document.kind)
}

/// Renders a document; `existing` is the content of its file, `None` if there is none yet, and `draw` draws
/// small charts.
///
/// # Errors
/// Those of [`check`]; a row that an expression names does not exist; invalid markers in the file.
pub fn render(
    spec: &DocumentSpec,
    outcome: &SuiteOutcome,
    existing: Option<&str>,
    draw: Draw<'_>,
) -> Result<Rendered, DocumentError> {
    let document = compile::document(spec)?;
    let names = Names(&document.components);
    let sources = OutcomeRows::of_all(outcome, &document);
    let tables = filled(&document, &sources, &names)?;
    let title = document.title.as_deref().unwrap_or(&outcome.name);
    let mut content = Content::of(&document, title, &tables, Some(outcome));
    if document.has_runs {
        content.small = small::small(&document, &tables, outcome, draw);
    }
    write(&document, &content, existing)
}

/// The tables of a document with their rows.
fn filled<'a, R: source::DocumentRows>(
    document: &'a Document,
    sources: &'a [R],
    names: &'a Names<'a>,
) -> Result<Vec<Filled<'a, R>>, DocumentError> {
    let tables = document.tables.iter().zip(sources);
    tables
        .map(|(table, rows)| Filled::new(table, rows, names))
        .collect()
}

/// What goes into a document, whatever its kind.
struct Content<'a, R> {
    title: &'a str,
    tables: &'a [Filled<'a, R>],
    /// The notes below each table.
    behind: Vec<notes::Behind>,
    /// Title and entries; empty where none is wanted.
    methodology: Vec<methodology::MethodologyFact>,
    outcome: Option<&'a SuiteOutcome>,
    charts: Vec<ChartLink>,
    /// A chart of each row's run; `None`: none is wanted.
    small: Option<small::Small>,
}

impl<'a, R: source::DocumentRows> Content<'a, R> {
    fn of(
        document: &Document,
        title: &'a str,
        tables: &'a [Filled<'a, R>],
        outcome: Option<&'a SuiteOutcome>,
    ) -> Content<'a, R> {
        let mut charts = Vec::new();
        let mut behind = Vec::new();
        for table in tables {
            let (notes, shown) = notes::behind(document, table, outcome);
            behind.push(notes);
            charts.extend(shown);
        }
        Content {
            title,
            tables,
            behind,
            methodology: match outcome.filter(|_| document.has_methodology) {
                Some(outcome) => methodology::entries(outcome),
                None => Vec::new(),
            },
            outcome,
            charts,
            small: None,
        }
    }
}

fn write<R: source::DocumentRows>(
    document: &Document,
    content: &Content<'_, R>,
    existing: Option<&str>,
) -> Result<Rendered, DocumentError> {
    let mut remarks = Vec::new();
    let text = match document.kind {
        DocumentKind::Markdown => markdown::write(content, existing, &mut remarks)?,
        DocumentKind::Html => html::write(content),
        DocumentKind::Csv => csv::write(content),
        DocumentKind::Json => json::write(content),
        DocumentKind::Junit => junit::write(content),
    };
    let shows = matches!(document.kind, DocumentKind::Markdown | DocumentKind::Html);
    Ok(Rendered {
        text,
        charts: if shows {
            content.charts.clone()
        } else {
            Vec::new()
        },
        reports: content
            .small
            .iter()
            .flat_map(|small| small.rows.iter().map(|row| row.report.clone()))
            .collect(),
        remarks,
    })
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
