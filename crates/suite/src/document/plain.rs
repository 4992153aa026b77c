//! The tables of a document as texts, for display outside of a file.
//!
//! Must not know where they are shown. Invariant: cells are those of the document, except columns that people
//! fill in, whose content is only in the file.

use super::names::Names;
use super::source::OutcomeRows;
use super::{Align, DocumentError, DocumentSpec, compile, filled, notes};
use crate::outcome::SuiteOutcome;

/// A table as texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainTable {
    /// Its heading; `None`: none.
    pub title: Option<String>,
    /// Title of each column, and the alignment of its cells.
    pub columns: Vec<(String, Align)>,
    /// Cells by row.
    pub rows: Vec<Vec<String>>,
    /// The notes below it.
    pub notes: Vec<String>,
}

/// The tables of a document; `has_intervals`: include intervals, which may need too much room.
///
/// # Errors
/// Those of [`super::render`], except for markers.
pub fn plain_tables(
    spec: &DocumentSpec,
    outcome: &SuiteOutcome,
    has_intervals: bool,
) -> Result<Vec<PlainTable>, DocumentError> {
    let document = compile::document(spec)?;
    let names = Names(&document.components);
    let sources = OutcomeRows::of_all(outcome, &document);
    let mut tables = filled(&document, &sources, &names)?;
    for table in &mut tables {
        table.has_intervals = has_intervals;
    }
    let plain = tables.iter().map(|table| {
        let all = &table.table.columns;
        let ours = all.iter().filter(|column| column.content.is_some());
        let rows = table.order.iter().map(|row| {
            let mut cells = Vec::new();
            table.write_row(*row, |at, cell, _| {
                if all[at].content.is_some() {
                    cells.push(cell.replace('\n', " "));
                }
            });
            cells
        });
        PlainTable {
            title: table.table.title.clone(),
            columns: ours
                .map(|column| (column.title.clone(), column.align))
                .collect(),
            rows: rows.collect(),
            notes: if table.table.has_notes {
                notes::notes(table)
            } else {
                Vec::new()
            },
        }
    });
    Ok(plain.collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{outcome, row, run};
    use super::*;

    #[test]
    fn what_people_fill_is_left_out() {
        let spec: DocumentSpec = loadline_yaml::from_str(
            "file: a.md\ncolumns:\n- { title: Test, value: label.test }\n- { title: Remark, hand: true }\n\
             - { title: Rate, value: run.rps, format: '{:.0 rps}', align: right }\n",
        )
        .expect("a document");
        let outcome = outcome(vec![row("a", &[("test", "one\ntwo")], vec![run(50.0)])]);
        let tables = plain_tables(&spec, &outcome, true).expect("tables");
        let expected = PlainTable {
            title: None,
            columns: vec![
                ("Test".to_owned(), Align::Default),
                ("Rate".to_owned(), Align::Right),
            ],
            rows: vec![vec!["one two".to_owned(), "50 rps".to_owned()]],
            notes: vec!["Each row is one run: the variation between runs is unknown.".to_owned()],
        };
        assert_eq!(tables, [expected]);
    }

    #[test]
    fn without_room_there_are_no_intervals_and_no_words_about_them() {
        let spec: DocumentSpec = loadline_yaml::from_str(
            "file: a.md\ncolumns:\n- { title: Rate, value: run.rps, format: '{:.0}' }\n",
        )
        .expect("a document");
        let outcome = outcome(vec![row("a", &[], vec![run(50.0), run(60.0)])]);
        let of = |has_intervals| {
            let mut tables = plain_tables(&spec, &outcome, has_intervals).expect("tables");
            let table = tables.remove(0);
            (table.rows[0][0].clone(), table.notes[0].clone())
        };
        assert_eq!(of(true).0, "55 (0 to 119)");
        assert!(of(true).1.contains("In brackets"));
        assert_eq!(
            of(false),
            ("55".to_owned(), "Values are medians of 2 runs.".to_owned())
        );
    }
}
