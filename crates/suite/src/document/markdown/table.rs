//! The table of a block, with the comment above it that records which cells loadline filled.
//!
//! Must not know where values come from. Invariant: each row is one line, whatever its texts contain.

use std::borrow::Cow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::escape::{TextPlace, escape, escaped};
use super::kept::{KeptTable, Memo};
use crate::document::compile::{Column, Table};
use crate::document::fill::Filled;
use crate::document::source::DocumentRows;
use crate::document::spec::Align;

/// Rows that are filled before the next of them are written.
const PIECE_ROWS: usize = 512;
/// Pieces that are filled ahead of those that are written.
const PIECES_AHEAD: usize = 8;

/// The body of a table's block, without notes; `old` is the existing one.
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
        let fillers = thread::available_parallelism().map_or(1, usize::from);
        let fillers = fillers.min(table.order.len().div_ceil(PIECE_ROWS)).max(1);
        let filled: Vec<Receiver<Piece>> = (0..fillers)
            .map(|first| {
                let (sender, filled) = sync_channel(PIECES_AHEAD);
                scope.spawn(move || fill(table, first, fillers, &sender));
                filled
            })
            .collect();
        let mut kept = KeptTable::read(old, &titles, &blanks, &is_fact);
        // They take turns, so that the pieces come in order.
        for piece in filled.iter().cycle().map_while(|of| of.recv().ok()) {
            piece.for_each(columns.len(), |row, cells, filled| {
                let id = table.rows.id(row);
                memo.add(id, cells, filled);
                kept.put(id, cells, filled);
                write_line(cells, &mut lines);
            });
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

/// Rows with their cells, in little memory: one thread fills a piece, and another returns it.
#[derive(Default)]
struct Piece {
    rows: Vec<usize>,
    /// The cells of all rows, one behind the other, and where each ends.
    text: String,
    ends: Vec<usize>,
    /// Whether any value is in each cell.
    filled: Vec<bool>,
}

impl Piece {
    fn of<R: DocumentRows>(table: &Filled<'_, R>, rows: &[usize]) -> Piece {
        let mut piece = Piece {
            rows: rows.to_vec(),
            ..Piece::default()
        };
        for row in rows {
            table.write_row(*row, |_, text, is_filled| {
                escape(text, TextPlace::Cell, &mut piece.text);
                piece.ends.push(piece.text.len());
                piece.filled.push(is_filled);
            });
        }
        piece
    }

    /// Each row with its cells, `width` of them, and which are filled.
    fn for_each(&self, width: usize, mut take: impl FnMut(usize, &mut [Cow<'_, str>], &[bool])) {
        let mut cells = Vec::with_capacity(width);
        let mut begin = 0;
        for (at, row) in self.rows.iter().enumerate() {
            let of_row = at * width..(at + 1) * width;
            cells.clear();
            for end in &self.ends[of_row.clone()] {
                cells.push(Cow::Borrowed(&self.text[begin..*end]));
                begin = *end;
            }
            take(*row, &mut cells, &self.filled[of_row]);
        }
    }
}

/// Fills every `step`th piece from the `first` on, in order, until the receiver has ended.
fn fill<R: DocumentRows>(
    table: &Filled<'_, R>,
    first: usize,
    step: usize,
    sender: &SyncSender<Piece>,
) {
    let pieces = table.order.chunks(PIECE_ROWS).skip(first).step_by(step);
    for piece in pieces.map(|rows| Piece::of(table, rows)) {
        if sender.send(piece).is_err() {
            return;
        }
    }
}

/// Whether a column's cells distinguish rows without any run.
fn is_fact(column: &Column) -> bool {
    column.content.is_some() && !column.is_measured()
}

/// The text of a column's cell without a value.
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
