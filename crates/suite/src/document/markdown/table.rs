//! A table of a block, with the line above it that remembers which cells were whose.
//!
//! Must not know where values come from. Invariant: each row is one line, whatever its texts hold.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use super::escape::{TextPlace, escaped};
use super::kept::{KeptTable, Memo};
use crate::document::compile::{Column, Table};
use crate::document::fill::Filled;
use crate::document::source::DocumentRows;
use crate::document::spec::Align;

/// Rows that are filled before the next of them are written.
const PIECE_ROWS: usize = 512;
/// Pieces that are filled ahead of those that are written.
const PIECES_AHEAD: usize = 8;

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
    let mut memo = Memo::new(&titles, &blanks);
    let mut lines = String::new();
    let kept = thread::scope(|scope| {
        let (sender, filled) = sync_channel(PIECES_AHEAD);
        scope.spawn(move || fill(table, &sender));
        let mut kept = KeptTable::read(old, &titles, &blanks, &is_fact);
        for mut row in filled.into_iter().flatten() {
            let id = table.rows.id(row.number);
            memo.add(id, &row.cells, &row.filled);
            kept.put(id, &mut row.cells, &row.filled);
            write_line(&row.cells, &mut lines);
        }
        kept
    });
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

/// A row's cells, and whether any value is in each.
struct FilledRow {
    number: usize,
    cells: Vec<String>,
    filled: Vec<bool>,
}

/// Fills all rows in their order, until nobody takes them.
fn fill<R: DocumentRows>(table: &Filled<'_, R>, sender: &SyncSender<Vec<FilledRow>>) {
    for piece in table.order.chunks(PIECE_ROWS) {
        let rows = piece.iter().map(|row| filled_row(table, *row)).collect();
        if sender.send(rows).is_err() {
            return;
        }
    }
}

fn filled_row<R: DocumentRows>(table: &Filled<'_, R>, number: usize) -> FilledRow {
    let width = table.table.columns.len();
    let mut row = FilledRow {
        number,
        cells: Vec::with_capacity(width),
        filled: Vec::with_capacity(width),
    };
    table.write_row(number, |_, text, is_filled| {
        row.cells.push(escaped(text, TextPlace::Cell));
        row.filled.push(is_filled);
    });
    row
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
