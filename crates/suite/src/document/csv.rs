//! Comma-separated values: the first table of the document (RFC 4180, lines ending with a line feed).
//!
//! Must not know where values come from. Invariant: each line has as many fields as there are columns.

use super::Content;
use super::source::DocumentRows;

pub(super) fn write<R: DocumentRows>(content: &Content<'_, R>) -> String {
    let Some(table) = content.tables.first() else {
        return String::new();
    };
    let mut out = String::new();
    let columns = &table.table.columns;
    line(columns.iter().map(|column| column.title.as_str()), &mut out);
    let mut cells = vec![String::new(); columns.len()];
    for row in &table.order {
        for (column, cell) in columns.iter().zip(&mut cells) {
            cell.clear();
            table.write(*row, column, cell);
        }
        line(cells.iter().map(|cell| cell.trim()), &mut out);
    }
    out
}

fn line<'c>(cells: impl Iterator<Item = &'c str>, out: &mut String) {
    for (n, cell) in cells.enumerate() {
        if n > 0 {
            out.push(',');
        }
        if cell.contains(['"', ',', '\n', '\r']) {
            out.push('"');
            out.push_str(&cell.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(cell);
        }
    }
    out.push('\n');
}
