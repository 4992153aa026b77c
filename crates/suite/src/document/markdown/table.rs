//! A table of a block, with the line above it that remembers which cells were whose.
//!
//! Must not know where values come from. Invariant: each row is one line, whatever its texts hold.

use super::escape::{TextPlace, escape, escaped};
use super::kept::{KeptTable, Memo};
use crate::document::compile::{Column, Table};
use crate::document::fill::Filled;
use crate::document::source::DocumentRows;
use crate::document::spec::Align;

/// The body of a table's block, notes left out; `old` is what stands there.
pub(super) fn write<R: DocumentRows>(
    table: &Filled<'_, R>,
    old: &str,
    remarks: &mut Vec<String>,
) -> String {
    let columns = &table.table.columns;
    let titles: Vec<String> = columns
        .iter()
        .map(|column| escaped(&column.title, TextPlace::Cell))
        .collect();
    let blanks: Vec<String> = columns
        .iter()
        .map(|column| blank(table.table, column))
        .collect();
    let is_fact: Vec<bool> = columns.iter().map(is_fact).collect();
    let mut kept = KeptTable::read(old, &titles, &blanks, &is_fact);
    let mut memo = Memo::new(&titles, &blanks);
    let mut lines = String::new();
    let mut cells = vec![String::new(); columns.len()];
    let mut filled = vec![false; columns.len()];
    for row in &table.order {
        table.write_row(*row, |at, text, is_filled| {
            cells[at].clear();
            escape(text, TextPlace::Cell, &mut cells[at]);
            filled[at] = is_filled;
        });
        let id = table.rows.id(*row);
        memo.add(id, &cells, &filled);
        kept.put(id, &mut cells, &filled);
        write_line(&cells, &mut lines);
    }
    for line in kept.extra_lines() {
        lines.push_str(line);
        lines.push('\n');
    }
    kept.tell_lost(&table.table.name, remarks);
    let mut out = memo.finish();
    write_line(&titles, &mut out);
    let rule = |column: &Column| match column.align {
        Align::Default => "---",
        Align::Left => ":--",
        Align::Center => ":-:",
        Align::Right => "--:",
    };
    write_line(&columns.iter().map(rule).collect::<Vec<_>>(), &mut out);
    out.push_str(&lines);
    out
}

/// Whether a column's cells tell rows apart without any run.
fn is_fact(column: &Column) -> bool {
    column.content.is_some() && !column.is_measured()
}

/// What stands in a column's cell without a value.
fn blank(table: &Table, column: &Column) -> String {
    let mut out = String::new();
    if let Some(content) = &column.content {
        content
            .format
            .write(&[], &table.blank, &content.list, &mut out);
    }
    escaped(&out, TextPlace::Cell)
}

fn write_line<T: AsRef<str>>(cells: &[T], out: &mut String) {
    out.push('|');
    for cell in cells {
        out.push(' ');
        out.push_str(cell.as_ref());
        out.push_str(if cell.as_ref().is_empty() { "|" } else { " |" });
    }
    out.push('\n');
}
