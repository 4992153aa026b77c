//! The rows of a table: from a suite's outcome, or from a history of many runs.
//!
//! Must not know columns. Invariant: an incomplete row has no runs here, so nothing incomplete is shown.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::compile::Document;
use super::doubts::{doubtful, words};
use crate::expression::figures::value_of;
use crate::expression::{Path, RowField, Value};
use crate::outcome::{RowOutcome, RowStatus, SuiteOutcome};

/// Rows with what is known of each; paths are given by their number in the table.
pub(super) trait DocumentRows: Sync {
    fn count(&self) -> usize;
    fn id(&self, row: usize) -> &str;
    fn group(&self, row: usize) -> Option<&str>;
    fn label(&self, row: usize, name: &str) -> Option<&str>;
    /// How many labels of two rows are the same.
    fn likeness(&self, row: usize, other: usize) -> usize;
    fn status(&self, row: usize) -> RowStatus;
    fn reasons(&self, row: usize) -> &[String];
    /// Whole runs.
    fn runs(&self, row: usize) -> usize;
    /// What makes the figures of its runs doubtful, in words, the gravest first.
    fn doubts(&self, row: usize) -> Vec<&str>;
    /// The value of a path that is not a measurement.
    fn fact(&self, row: usize, path: usize) -> Value<'_>;
    /// The value of a path for one run.
    fn measured(&self, row: usize, run: usize, path: usize) -> Value<'_>;
}

/// The rows of an outcome, everything that a table names already looked up.
pub(super) struct OutcomeRows<'a> {
    outcome: &'a SuiteOutcome,
    paths: &'a [Path],
    /// By row, run and path.
    values: Vec<Vec<Vec<Value<'a>>>>,
}

impl<'a> OutcomeRows<'a> {
    /// The rows of each table of a document.
    pub(super) fn of_all(
        outcome: &'a SuiteOutcome,
        document: &'a Document,
    ) -> Vec<OutcomeRows<'a>> {
        let tables = document.tables.iter();
        tables
            .map(|table| OutcomeRows::new(outcome, &table.paths))
            .collect()
    }

    pub(super) fn new(outcome: &'a SuiteOutcome, paths: &'a [Path]) -> OutcomeRows<'a> {
        let of_row = |row: &'a RowOutcome| {
            let runs = if row.status == RowStatus::Pending {
                &[][..]
            } else {
                &row.runs[..]
            };
            let of_run = |result| paths.iter().map(|path| value_of(result, path)).collect();
            runs.iter().map(|run| of_run(&*run.result)).collect()
        };
        OutcomeRows {
            outcome,
            paths,
            values: outcome.rows.iter().map(of_row).collect(),
        }
    }
}

/// The name of a status in documents.
pub(super) fn status_name(status: RowStatus) -> &'static str {
    match status {
        RowStatus::Pending => "pending",
        RowStatus::Passed => "passed",
        RowStatus::Failed => "failed",
    }
}

fn named<'v>(facts: &'v BTreeMap<String, String>, name: &str) -> Value<'v> {
    facts
        .get(name)
        .map_or(Value::Missing, |text| Value::Text(Cow::Borrowed(text)))
}

impl DocumentRows for OutcomeRows<'_> {
    fn count(&self) -> usize {
        self.outcome.rows.len()
    }

    fn id(&self, row: usize) -> &str {
        &self.outcome.rows[row].id
    }

    fn group(&self, row: usize) -> Option<&str> {
        self.outcome.rows[row].group.as_deref()
    }

    fn label(&self, row: usize, name: &str) -> Option<&str> {
        self.outcome.rows[row].labels.get(name).map(String::as_str)
    }

    fn likeness(&self, row: usize, other: usize) -> usize {
        let others = &self.outcome.rows[other].labels;
        let labels = self.outcome.rows[row].labels.iter();
        labels
            .filter(|(name, value)| others.get(*name) == Some(value))
            .count()
    }

    fn status(&self, row: usize) -> RowStatus {
        self.outcome.rows[row].status
    }

    fn reasons(&self, row: usize) -> &[String] {
        &self.outcome.rows[row].reasons
    }

    fn runs(&self, row: usize) -> usize {
        self.values[row].len()
    }

    fn doubts(&self, row: usize) -> Vec<&str> {
        let runs = self.outcome.rows[row].runs.iter().take(self.runs(row));
        let found = doubtful(runs.flat_map(|run| &run.result.verdict.findings));
        found.into_iter().map(words).collect()
    }

    fn fact(&self, row: usize, path: usize) -> Value<'_> {
        let of = &self.outcome.rows[row];
        match &self.paths[path] {
            Path::Plan(name) => named(&of.plan, name),
            Path::Env(name) => named(&of.env, name),
            Path::Label(name) => named(&of.labels, name),
            Path::Suite(name) if name == "name" => Value::Text(Cow::Borrowed(&self.outcome.name)),
            Path::Suite(name) => named(&self.outcome.facts, name),
            Path::Row(field) => row_fact(self, row, *field),
            Path::Run(_) | Path::Observe(_) => Value::Missing,
        }
    }

    fn measured(&self, row: usize, run: usize, path: usize) -> Value<'_> {
        let of_run = self.values[row].get(run);
        of_run.map_or(Value::Missing, |values| values[path].clone())
    }
}

/// A row's own data.
pub(super) fn row_fact<R: DocumentRows>(rows: &R, row: usize, field: RowField) -> Value<'_> {
    match field {
        RowField::Id => Value::Text(Cow::Borrowed(rows.id(row))),
        RowField::Group => rows
            .group(row)
            .map_or(Value::Missing, |group| Value::Text(Cow::Borrowed(group))),
        RowField::Status => Value::Text(Cow::Borrowed(status_name(rows.status(row)))),
        RowField::Reasons => Value::Text(Cow::Owned(rows.reasons(row).join("; "))),
        RowField::Repeats => {
            Value::number(rows.runs(row) as f64, crate::expression::Dimension::NUMBER)
        }
    }
}
