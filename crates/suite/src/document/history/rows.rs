//! A history as rows of a document: each run is a separate row.
//!
//! Must not know how a history is stored. Invariant: a document finds in the selected columns what it would
//! find in all.

use std::borrow::Cow;

use super::{DOUBTS, GROUP, History, ID, Key};
use crate::document::doubts::footnote;
use crate::document::names::Names;
use crate::document::source::{DocumentRows, row_fact};
use crate::document::spec::DocumentSpec;
use crate::document::{self, Content, DocumentError, Rendered, compile};
use crate::expression::figures::{AggregatedSeries, pick};
use crate::expression::{Path, Value};
use crate::outcome::RowStatus;

/// The selected columns of a history.
#[derive(Debug)]
pub struct HistoryColumns {
    /// What is looked up in them; `None`: everything.
    paths: Option<Vec<Path>>,
}

impl HistoryColumns {
    /// All of them.
    pub const ALL: HistoryColumns = HistoryColumns { paths: None };

    /// The columns that a document needs.
    ///
    /// # Errors
    /// Those of [`document::render`].
    pub fn of(spec: &DocumentSpec) -> Result<HistoryColumns, DocumentError> {
        let tables = compile::document(spec)?.tables;
        let paths = tables.into_iter().flat_map(|table| table.paths);
        Ok(HistoryColumns {
            paths: Some(paths.collect()),
        })
    }

    pub(super) fn has_number(&self, key: &Key) -> bool {
        self.has(|path| match (key, path) {
            (Key::Run(name), Path::Run(wanted)) => name == wanted,
            (Key::Observed(figure), Path::Observe(_)) => figure.suits(path),
            _ => false,
        })
    }

    /// What a row is known by is always there.
    pub(super) fn has_text(&self, name: &str) -> bool {
        let (kind, name) = name.split_once('.').unwrap_or((name, ""));
        matches!(kind, "row" | "label")
            || self.has(|path| match path {
                Path::Run(wanted) => kind == "run" && name == wanted,
                Path::Plan(wanted) => kind == "plan" && name == wanted,
                _ => false,
            })
    }

    fn has(&self, fits: impl Fn(&Path) -> bool) -> bool {
        let paths = self.paths.as_ref();
        paths.is_none_or(|paths| paths.iter().any(fits))
    }
}

/// Makes a document from a history: each run is a separate row.
///
/// # Errors
/// Those of [`document::render`].
pub fn render_history(
    spec: &DocumentSpec,
    title: &str,
    history: &History,
    existing: Option<&str>,
) -> Result<Rendered, DocumentError> {
    let compiled = compile::document(spec)?;
    let names = Names(&compiled.components);
    let sources: Vec<HistoryRows<'_>> = compiled
        .tables
        .iter()
        .map(|table| HistoryRows::new(history, &table.paths))
        .collect();
    let tables = document::filled(&compiled, &sources, &names)?;
    let title = compiled.title.as_deref().unwrap_or(title);
    let content = Content::of(&compiled, title, &tables, None);
    document::write(&compiled, &content, existing)
}

/// The position of a path's values.
enum PathPlace {
    Nowhere,
    Number(usize),
    Text(usize),
    Observed(Vec<usize>),
}

struct HistoryRows<'a> {
    history: &'a History,
    paths: &'a [Path],
    places: Vec<PathPlace>,
    id: Option<usize>,
    group: Option<usize>,
    doubts: Option<usize>,
}

impl<'a> HistoryRows<'a> {
    fn new(history: &'a History, paths: &'a [Path]) -> HistoryRows<'a> {
        let text = |name: &str| history.texts.iter().position(|known| known.name == name);
        let place = |path: &Path| {
            match path {
            Path::Run(name) => match history.places.get(&Key::Run(name.clone())) {
                Some(place) => PathPlace::Number(*place),
                None => text(&format!("run.{name}")).map_or(PathPlace::Nowhere, PathPlace::Text),
            },
            Path::Observe(_) => PathPlace::Observed(
                history
                    .numbers
                    .iter()
                    .enumerate()
                    .filter(|(_, column)| matches!(&column.key, Key::Observed(figure) if figure.suits(path)))
                    .map(|(place, _)| place)
                    .collect(),
            ),
            Path::Label(name) => text(&format!("label.{name}")).map_or(PathPlace::Nowhere, PathPlace::Text),
            Path::Plan(name) => text(&format!("plan.{name}")).map_or(PathPlace::Nowhere, PathPlace::Text),
            Path::Env(_) | Path::Suite(_) | Path::Row(_) => PathPlace::Nowhere,
        }
        };
        HistoryRows {
            history,
            paths,
            places: paths.iter().map(place).collect(),
            id: text(ID),
            group: text(GROUP),
            doubts: text(DOUBTS),
        }
    }
}

impl DocumentRows for HistoryRows<'_> {
    fn count(&self) -> usize {
        self.history.rows
    }

    fn id(&self, row: usize) -> &str {
        self.id
            .and_then(|column| self.history.said(column, row))
            .unwrap_or("")
    }

    fn group(&self, row: usize) -> Option<&str> {
        self.group.and_then(|column| self.history.said(column, row))
    }

    fn label(&self, row: usize, name: &str) -> Option<&str> {
        let mut texts = self.history.texts.iter();
        let column = texts.position(|known| known.name.strip_prefix("label.") == Some(name))?;
        self.history.said(column, row)
    }

    fn likeness(&self, row: usize, other: usize) -> usize {
        let labels = self
            .history
            .texts
            .iter()
            .filter(|known| known.name.starts_with("label."));
        labels
            .filter(|of| of.values[row] == of.values[other])
            .count()
    }

    fn status(&self, _row: usize) -> RowStatus {
        RowStatus::Passed
    }

    fn reasons(&self, _row: usize) -> &[String] {
        &[]
    }

    fn runs(&self, _row: usize) -> usize {
        1
    }

    fn doubts(&self, row: usize) -> Vec<&str> {
        let codes = self
            .doubts
            .and_then(|column| self.history.said(column, row));
        let codes = codes.into_iter().flat_map(str::split_whitespace);
        codes.map(|code| footnote(code).unwrap_or(code)).collect()
    }

    fn fact(&self, row: usize, path: usize) -> Value<'_> {
        if let Path::Row(field) = &self.paths[path] {
            return row_fact(self, row, *field);
        }
        self.measured(row, 0, path)
    }

    fn measured(&self, row: usize, _run: usize, path: usize) -> Value<'_> {
        match &self.places[path] {
            PathPlace::Nowhere => Value::Missing,
            PathPlace::Number(column) => {
                let column = &self.history.numbers[*column];
                Value::number(column.values[row], column.dimension)
            }
            PathPlace::Text(column) => {
                let said = self.history.said(*column, row);
                said.map_or(Value::Missing, |text| Value::Text(Cow::Borrowed(text)))
            }
            PathPlace::Observed(columns) => {
                let Path::Observe(selector) = &self.paths[path] else {
                    return Value::Missing;
                };
                let seen = columns.iter().filter_map(|column| {
                    let column = &self.history.numbers[*column];
                    match &column.key {
                        Key::Observed(figure) => Some(figure.seen(column.values[row])),
                        Key::Run(_) => None,
                    }
                });
                let seen: Vec<AggregatedSeries<'_>> = seen
                    .filter(|seen| seen.amount.is_some_and(f64::is_finite))
                    .collect();
                pick(&seen, selector)
            }
        }
    }
}
