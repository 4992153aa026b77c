//! The content of a document as specified in a suite file.
//!
//! Must not know rows or results. Invariant: everything here is as written; `compile` interprets it.

use std::collections::BTreeMap;

use loadline_yaml::Placed;
use serde::Deserialize;

/// A document made from a suite's results.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentSpec {
    /// Where it is written, from the suite file's folder on.
    pub file: Placed<String>,
    /// What it is; `None`: as the file's name ends (`.md`, `.html`, `.csv`, `.json`, `.xml`).
    #[serde(default)]
    pub kind: Option<DocumentKind>,
    /// Its heading; `None`: the suite's name.
    #[serde(default)]
    pub title: Option<String>,
    /// Whether it describes how the figures were obtained; `None`: Markdown and HTML do.
    #[serde(default)]
    pub methodology: Option<bool>,
    /// Whether a page has a small chart of each row's first run, with a link to its report; `None`: yes.
    #[serde(default)]
    pub runs: Option<bool>,
    /// Whether its rows are all runs ever made in the state folder, each separately, instead of the suite's
    /// current rows.
    #[serde(default)]
    pub history: bool,
    /// The state folder in links of the document; `None`: as in `suite.state`, otherwise no folder.
    #[serde(default)]
    pub state: Option<String>,
    /// How components are called in cells, the first that fits wins.
    #[serde(default)]
    pub components: Vec<Rename>,
    /// Its tables; empty: one, of the settings below.
    #[serde(default)]
    pub tables: Vec<TableSpec>,
    /// The one table's block; `None`: `results`.
    #[serde(default)]
    pub name: Option<Placed<String>>,
    /// The one table's preset.
    #[serde(default)]
    pub preset: Option<Placed<String>>,
    /// Names that the preset leaves open.
    #[serde(default)]
    pub with: BTreeMap<String, Placed<String>>,
    /// Titles of the preset's columns and what they are called instead.
    #[serde(default)]
    pub titles: BTreeMap<String, String>,
    /// The one table's columns; behind those of a preset.
    #[serde(default)]
    pub columns: Vec<ColumnSpec>,
    /// The one table's rows.
    #[serde(default)]
    pub rows: RowsSpec,
    /// What the one table's rows are sorted by.
    #[serde(default)]
    pub sort: Vec<Placed<String>>,
    /// The text of cells without a value: `empty`, `unit`, or any other text as it is; `None`: as in the
    /// preset, otherwise `empty`.
    #[serde(default)]
    pub blank: Option<String>,
}

/// The kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DocumentKind {
    /// Blocks between markers in a Markdown file.
    Markdown,
    /// One page that needs nothing else.
    Html,
    /// The first table as comma-separated values.
    Csv,
    /// Every table as data.
    Json,
    /// A test report: a case for each row.
    Junit,
}

/// Another name for components.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rename {
    /// The component's name; `*` matches anything.
    #[serde(rename = "match")]
    pub pattern: Placed<String>,
    /// What it is called; `{n}` is the number of the component among those that the pattern takes, from one on.
    pub name: String,
}

/// One table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSpec {
    /// The name of its block, unique in the document.
    pub name: Placed<String>,
    /// Its heading in a new document; `None`: none.
    #[serde(default)]
    pub title: Option<String>,
    /// The preset that it starts from.
    #[serde(default)]
    pub preset: Option<Placed<String>>,
    /// Names that the preset leaves open.
    #[serde(default)]
    pub with: BTreeMap<String, Placed<String>>,
    /// Titles of the preset's columns and what they are called instead.
    #[serde(default)]
    pub titles: BTreeMap<String, String>,
    /// Its columns; behind those of a preset.
    #[serde(default)]
    pub columns: Vec<ColumnSpec>,
    /// Which rows it has.
    #[serde(default)]
    pub rows: RowsSpec,
    /// What they are sorted by, ascending; none: the order of the plan.
    #[serde(default)]
    pub sort: Vec<Placed<String>>,
    /// As in the document; `None`: as the document has it.
    #[serde(default)]
    pub blank: Option<String>,
    /// Whether all numbers carry their interval over repetitions; `None`: as each column has it.
    #[serde(default)]
    pub intervals: Option<bool>,
    /// Whether doubtful figures carry a mark, and the table is followed by what the marks mean, how often its rows were run,
    /// which failed and which are pending; `None`: yes.
    #[serde(default)]
    pub notes: Option<bool>,
    /// Charts of each row's run, behind the table.
    #[serde(default)]
    pub charts: Option<ChartsSpec>,
    /// Whether each row's result is linked behind the table; default no.
    #[serde(default)]
    pub links: bool,
}

/// Charts below a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartsSpec {
    /// The text before a row's charts; its title is not used. `None`: the row's identity.
    #[serde(default)]
    pub intro: Option<ColumnSpec>,
    /// The charts.
    pub list: Vec<ChartSpec>,
}

/// One chart.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartSpec {
    /// What it is called.
    pub title: String,
    /// Which chart: the name of its file without ending (`throughput`, `percentiles`, …).
    pub chart: String,
}

/// The rows of a table: those that match everything here.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowsSpec {
    /// Of this group; `None`: of any.
    #[serde(default)]
    pub group: Option<String>,
    /// With these labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

/// The alignment of a column's cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Align {
    /// As the reader's program has it.
    #[default]
    Default,
    /// At the left.
    Left,
    /// In the middle.
    Center,
    /// At the right.
    Right,
}

/// One column.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSpec {
    /// Its title, unique in the table.
    pub title: String,
    /// The expression of its cells.
    #[serde(default)]
    pub value: Option<Placed<String>>,
    /// Several expressions for one cell, in the place of `value`.
    #[serde(default)]
    pub values: Vec<Placed<String>>,
    /// How they are written; `None`: as `{}`.
    #[serde(default)]
    pub format: Option<Placed<String>>,
    /// The alignment of cells.
    #[serde(default)]
    pub align: Align,
    /// Whether people fill the column; it then has no expression.
    #[serde(default)]
    pub hand: bool,
    /// Whether a number carries its interval over repetitions; `None`: measured rates and times do, in documents that
    /// people read.
    #[serde(default)]
    pub interval: Option<bool>,
    /// How one component of a list is written; `None`: `{name} = {value}`.
    #[serde(default)]
    pub item: Option<String>,
    /// The separator between two components; `None`: `, `.
    #[serde(default)]
    pub separator: Option<String>,
}

impl DocumentSpec {
    /// A document with one preset, equivalent to a suite file with only these settings.
    #[must_use]
    pub fn of_preset(file: &str, preset: &str) -> DocumentSpec {
        DocumentSpec {
            file: unplaced(file),
            kind: None,
            title: None,
            methodology: None,
            runs: None,
            history: false,
            state: None,
            components: Vec::new(),
            tables: Vec::new(),
            name: None,
            preset: Some(unplaced(preset)),
            with: BTreeMap::new(),
            titles: BTreeMap::new(),
            columns: Vec::new(),
            rows: RowsSpec::default(),
            sort: Vec::new(),
            blank: None,
        }
    }

    /// Its tables, the settings of a single one made into a table.
    pub(super) fn all_tables(&self) -> Vec<TableSpec> {
        if !self.tables.is_empty() {
            return self.tables.clone();
        }
        vec![TableSpec {
            name: self.name.clone().unwrap_or_else(|| unplaced("results")),
            title: None,
            preset: self.preset.clone(),
            with: self.with.clone(),
            titles: self.titles.clone(),
            columns: self.columns.clone(),
            rows: self.rows.clone(),
            sort: self.sort.clone(),
            blank: None,
            intervals: None,
            notes: None,
            charts: None,
            links: false,
        }]
    }

    /// Whether settings of a single table are given next to a list of tables.
    pub(super) fn is_twofold(&self) -> bool {
        let has_one = self.preset.is_some()
            || self.name.is_some()
            || !self.columns.is_empty()
            || !self.sort.is_empty()
            || !self.with.is_empty()
            || !self.titles.is_empty()
            || self.rows.group.is_some()
            || !self.rows.labels.is_empty();
        has_one && !self.tables.is_empty()
    }
}

/// A text that is not from a file.
pub(super) fn unplaced(text: &str) -> Placed<String> {
    Placed::nowhere(text.to_owned())
}
