//! Names in a document that the suite must define: groups, labels, variables, observers and other rows.
//!
//! Must not know a plan. Invariant: every such name is returned with its position, in document order.

use loadline_yaml::At;

use super::compile::{self, Table};
use super::spec::{DocumentSpec, RowsSpec};
use super::{DocumentError, fill};
use crate::expression::{Choice, Path};

/// Something that a document names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A group of rows.
    Group(String),
    /// A label, with its required value, if any.
    Label(String, Option<String>),
    /// A variable of a row's environment.
    Env(String),
    /// A fact of a row's plan.
    Plan(String),
    /// A fact of the suite.
    Suite(String),
    /// An observer.
    Observer(String),
}

impl Named {
    pub(crate) fn name(&self) -> &str {
        match self {
            Named::Group(name)
            | Named::Label(name, _)
            | Named::Env(name)
            | Named::Plan(name)
            | Named::Suite(name)
            | Named::Observer(name) => name,
        }
    }
}

/// What one setting of a document names.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    /// Where in the suite file.
    pub(crate) at: Option<At>,
    pub(crate) names: Vec<Named>,
    /// Whether one of them is enough: the others are alternatives.
    pub(crate) any: bool,
}

/// Another row that an expression names.
#[derive(Clone, Debug)]
pub(crate) struct OtherRow {
    /// Where in the suite file.
    pub(crate) at: Option<At>,
    /// An identity, or labels.
    pub(crate) name: String,
}

impl OtherRow {
    /// Whether a row is meant.
    pub(crate) fn is<'r>(&self, id: &str, label: impl Fn(&str) -> Option<&'r str>) -> bool {
        self.name == id || fill::labels_in(&self.name).is_some_and(|wanted| wanted.fit(label))
    }
}

/// All that a document names.
///
/// # Errors
/// As [`super::check`].
pub(crate) fn references(
    spec: &DocumentSpec,
) -> Result<(Vec<Reference>, Vec<OtherRow>), DocumentError> {
    let document = compile::document(spec)?;
    let (mut named, mut others) = (Vec::new(), Vec::new());
    for (table, spec) in document.tables.iter().zip(spec.all_tables()) {
        let at = spec.name.at.or(document_place(table));
        named.extend(of_rows(&table.rows, at));
        let may_be_silent = table.expressions.iter().filter(|one| !one.always_says);
        named.extend(may_be_silent.map(|expression| Reference {
            at: expression.at,
            names: expression.paths.iter().filter_map(of_path).collect(),
            any: expression.has_alternatives,
        }));
        others.extend(table.others.iter().map(|(name, text)| OtherRow {
            at: text.at,
            name: name.clone(),
        }));
    }
    named.retain(|reference| !reference.names.is_empty());
    Ok((named, others))
}

/// The position of a table without a name.
fn document_place(table: &Table) -> Option<At> {
    table
        .expressions
        .iter()
        .find_map(|expression| expression.at)
}

fn of_rows(rows: &RowsSpec, at: Option<At>) -> impl Iterator<Item = Reference> {
    let group = rows.group.iter().cloned().map(Named::Group);
    let labels = rows.labels.iter();
    let labels = labels.map(|(name, value)| Named::Label(name.clone(), Some(value.clone())));
    group.chain(labels).map(move |named| Reference {
        at,
        names: vec![named],
        any: false,
    })
}

fn of_path(path: &Path) -> Option<Named> {
    match path {
        Path::Label(name) => Some(Named::Label(name.clone(), None)),
        Path::Env(name) => Some(Named::Env(name.clone())),
        Path::Plan(name) => Some(Named::Plan(name.clone())),
        Path::Suite(name) => Some(Named::Suite(name.clone())),
        Path::Observe(selector) => match &selector.observer {
            Choice::Named(name) => Some(Named::Observer(name.clone())),
            Choice::All => None,
        },
        Path::Run(_) | Path::Row(_) => None,
    }
}
