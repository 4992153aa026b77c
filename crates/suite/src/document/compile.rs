//! Compiles a document's settings to tables: parses expressions and formats and checks that they fit.
//!
//! Must not know results. Invariant: what compiles can be rendered for any outcome, unless it names rows that
//! do not exist.

use loadline_yaml::{At, Placed};

use super::spec::{
    Align, ChartsSpec, ColumnSpec, DocumentKind, DocumentSpec, Rename, RowsSpec, TableSpec,
};
use super::{DocumentError, presets};
use crate::expression::{Dimension, Expression, Path, ValueKind};
use crate::format::{Blank, Format, ListStyle};

/// A document that can be filled.
pub(super) struct Document {
    pub(super) kind: DocumentKind,
    pub(super) title: Option<String>,
    pub(super) has_methodology: bool,
    /// Whether it has a small chart of each row's run.
    pub(super) has_runs: bool,
    pub(super) state: Option<String>,
    pub(super) components: Vec<Rename>,
    pub(super) tables: Vec<Table>,
}

/// A table that can be filled.
pub(super) struct Table {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) columns: Vec<Column>,
    pub(super) rows: RowsSpec,
    pub(super) sort: Vec<Expression>,
    pub(super) blank: Blank,
    pub(super) has_notes: bool,
    pub(super) charts: Option<Charts>,
    pub(super) links: bool,
    /// What all its expressions name.
    pub(super) paths: Vec<Path>,
    /// The other rows that they name, each with the place where.
    pub(super) others: Vec<(String, Placed<String>)>,
    /// What each of its expressions names itself.
    pub(super) expressions: Vec<ExpressionPaths>,
}

/// What one expression names.
pub(super) struct ExpressionPaths {
    /// Its position in the suite file.
    pub(super) at: Option<At>,
    pub(super) paths: Vec<Path>,
    /// Whether the first of them that is there is taken.
    pub(super) has_alternatives: bool,
    /// Whether it has a value for every row, whatever the row has.
    pub(super) always_says: bool,
}

/// Charts behind a table.
pub(super) struct Charts {
    pub(super) intro: Option<Content>,
    /// Title and name.
    pub(super) list: Vec<(String, String)>,
}

pub(super) struct Column {
    pub(super) title: String,
    pub(super) align: Align,
    /// `None`: people fill it.
    pub(super) content: Option<Content>,
}

impl Column {
    /// Whether its cells hold figures of runs.
    pub(super) fn is_measured(&self) -> bool {
        let content = self.content.as_ref();
        content.is_some_and(|content| content.values.iter().any(|(value, _)| value.is_measured()))
    }
}

/// What fills a cell.
pub(super) struct Content {
    /// Expressions with their text.
    pub(super) values: Vec<(Expression, String)>,
    pub(super) format: Format,
    pub(super) format_text: String,
    pub(super) interval: bool,
    pub(super) list: ListStyle,
}

pub(super) fn document(spec: &DocumentSpec) -> Result<Document, DocumentError> {
    if spec.is_twofold() {
        return Err(DocumentError::at(
            &spec.file,
            "the document has a list of tables, and settings of a single table beside it"
                .to_owned(),
            "move preset, columns, rows, sort, with and titles into a table of the list".to_owned(),
        ));
    }
    let kind = kind(spec)?;
    let reads_people = matches!(kind, DocumentKind::Markdown | DocumentKind::Html);
    let mut tables: Vec<Table> = Vec::new();
    for table in spec.all_tables() {
        let place = table.name.clone();
        let table = compile_table(table, spec, reads_people)?;
        if tables.iter().any(|known| known.name == table.name) || table.name == super::METHODOLOGY {
            return Err(DocumentError::at(
                &place,
                format!("the document has a block `{}` already", table.name),
                "give each table its own name".to_owned(),
            ));
        }
        tables.push(table);
    }
    Ok(Document {
        kind,
        title: spec.title.clone(),
        has_methodology: spec.methodology.unwrap_or(reads_people),
        has_runs: kind == DocumentKind::Html && spec.runs.unwrap_or(true),
        state: spec.state.clone(),
        components: spec.components.clone(),
        tables,
    })
}

fn kind(spec: &DocumentSpec) -> Result<DocumentKind, DocumentError> {
    if let Some(kind) = spec.kind {
        return Ok(kind);
    }
    let ending = spec
        .file
        .value
        .rsplit_once('.')
        .map_or("", |(_, ending)| ending);
    match ending.to_ascii_lowercase().as_str() {
        "md" | "markdown" => Ok(DocumentKind::Markdown),
        "html" | "htm" => Ok(DocumentKind::Html),
        "csv" => Ok(DocumentKind::Csv),
        "json" => Ok(DocumentKind::Json),
        "xml" => Ok(DocumentKind::Junit),
        _ => Err(DocumentError::at(
            &spec.file,
            format!(
                "`{}` does not say what kind of document it is",
                spec.file.value
            ),
            "end it with .md, .html, .csv, .json or .xml, or add `kind`".to_owned(),
        )),
    }
}

fn compile_table(
    mut spec: TableSpec,
    document: &DocumentSpec,
    reads_people: bool,
) -> Result<Table, DocumentError> {
    let name = spec.name.clone();
    if !is_block_name(&name.value) {
        return Err(DocumentError::at(
            &name,
            format!("`{}` cannot be the name of a block", name.value),
            "use letters, digits, -, _ and .".to_owned(),
        ));
    }
    spec.blank = spec.blank.take().or_else(|| document.blank.clone());
    presets::expand(&mut spec)?;
    if spec.columns.is_empty() {
        return Err(DocumentError::at(
            &name,
            format!("the table `{}` has no columns", name.value),
            "add `preset` or `columns`".to_owned(),
        ));
    }
    let mut table = Table {
        name: name.value.clone(),
        title: spec.title,
        columns: Vec::new(),
        rows: spec.rows,
        sort: Vec::new(),
        blank: match spec.blank.as_deref() {
            None | Some("empty") => Blank::Empty,
            Some("unit") => Blank::Unit,
            Some(words) => Blank::Text(words.to_owned()),
        },
        has_notes: spec.notes.unwrap_or(true),
        charts: None,
        links: spec.links,
        paths: Vec::new(),
        others: Vec::new(),
        expressions: Vec::new(),
    };
    for mut column in spec.columns {
        column.interval = match spec.intervals {
            Some(true) => Some(true),
            Some(false) => column.interval.or(Some(false)),
            // Programs that read a table need a number in a cell.
            None => column.interval.or((!reads_people).then_some(false)),
        };
        table.add_column(&column, &name)?;
    }
    for text in &spec.sort {
        let expression = table.expression(text)?;
        table.sort.push(expression);
    }
    table.charts = match spec.charts {
        Some(charts) => Some(table.charts(charts, &name)?),
        None => None,
    };
    Ok(table)
}

/// Whether a cell has an interval by default: a single measured rate or time does.
fn usual_interval(values: &[(Expression, String)]) -> bool {
    let [(value, _)] = values else {
        return false;
    };
    let measures =
        [Dimension::RATE, Dimension::TIME].map(|dimension| ValueKind::Number(Some(dimension)));
    value.is_measured() && measures.contains(&value.kind())
}

fn is_block_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    !name.is_empty() && name.bytes().all(allowed) && !name.contains("--")
}

impl Table {
    fn add_column(
        &mut self,
        spec: &ColumnSpec,
        table: &Placed<String>,
    ) -> Result<(), DocumentError> {
        if self.columns.iter().any(|known| known.title == spec.title) {
            let place = spec.value.as_ref().or(spec.values.first());
            return Err(DocumentError::at(
                place.unwrap_or(table),
                format!("the table has a column `{}` already", spec.title),
                "give each column its own title".to_owned(),
            ));
        }
        let column = self.column(spec, table)?;
        self.columns.push(column);
        Ok(())
    }

    fn charts(
        &mut self,
        spec: ChartsSpec,
        table: &Placed<String>,
    ) -> Result<Charts, DocumentError> {
        let intro = match spec.intro {
            Some(mut intro) => {
                intro.interval.get_or_insert(false);
                Some(self.content(&intro, table)?)
            }
            None => None,
        };
        let list = spec.list.into_iter();
        Ok(Charts {
            intro,
            list: list.map(|chart| (chart.title, chart.chart)).collect(),
        })
    }

    fn column(
        &mut self,
        spec: &ColumnSpec,
        table: &Placed<String>,
    ) -> Result<Column, DocumentError> {
        let has_value = spec.value.is_some() || !spec.values.is_empty();
        let content = match (spec.hand, has_value) {
            (true, false) => None,
            (false, true) => Some(self.content(spec, table)?),
            (true, true) => {
                return Err(DocumentError::at(
                    spec.value.as_ref().or(spec.values.first()).unwrap_or(table),
                    format!(
                        "the column `{}` is filled in by hand and has an expression",
                        spec.title
                    ),
                    "remove `hand` or `value`".to_owned(),
                ));
            }
            (false, false) => {
                return Err(DocumentError::at(
                    table,
                    format!("the column `{}` has no value", spec.title),
                    "add `value`, or `hand: true` if people fill it in".to_owned(),
                ));
            }
        };
        Ok(Column {
            title: spec.title.clone(),
            align: spec.align,
            content,
        })
    }

    fn content(
        &mut self,
        spec: &ColumnSpec,
        table: &Placed<String>,
    ) -> Result<Content, DocumentError> {
        if let (Some(value), false) = (&spec.value, spec.values.is_empty()) {
            return Err(DocumentError::at(
                value,
                format!("the column `{}` has `value` and `values`", spec.title),
                "put all into `values`".to_owned(),
            ));
        }
        let texts: Vec<&Placed<String>> = spec.value.iter().chain(&spec.values).collect();
        let mut values = Vec::new();
        for text in &texts {
            values.push((self.expression(text)?, text.value.clone()));
        }
        let place = spec
            .format
            .as_ref()
            .or(texts.first().copied())
            .unwrap_or(table);
        let format_text = spec.format.as_ref().map_or("{}", |format| &format.value);
        let wrong = |error: crate::format::FormatError| {
            DocumentError::at(
                place,
                format!("format of the column `{}`: {error}", spec.title),
                "see docs/document.md for formats".to_owned(),
            )
        };
        let format: Format = format_text.parse().map_err(wrong)?;
        let kinds: Vec<ValueKind> = values.iter().map(|(value, _)| value.kind()).collect();
        format.check(&kinds).map_err(wrong)?;
        let list = ListStyle::default();
        Ok(Content {
            interval: spec.interval.unwrap_or_else(|| usual_interval(&values)),
            values,
            format,
            format_text: format_text.to_owned(),
            list: ListStyle {
                item: spec.item.clone().unwrap_or(list.item),
                separator: spec.separator.clone().unwrap_or(list.separator),
            },
        })
    }

    fn expression(&mut self, text: &Placed<String>) -> Result<Expression, DocumentError> {
        let mut read: Expression = text.value.parse().map_err(|error| {
            DocumentError::at(
                text,
                format!("expression `{}`, {error}", text.value),
                "see docs/document.md for expressions".to_owned(),
            )
        })?;
        for row in read.rows() {
            if !self.others.iter().any(|(known, _)| known == row) {
                self.others.push((row.clone(), text.clone()));
            }
        }
        self.expressions.push(ExpressionPaths {
            at: text.at,
            paths: read.paths().to_vec(),
            has_alternatives: read.has_alternatives(),
            always_says: read.always_says(),
        });
        let mut others: Vec<String> = self.others.iter().map(|(row, _)| row.clone()).collect();
        read.bind(&mut self.paths, &mut others);
        Ok(read)
    }
}
