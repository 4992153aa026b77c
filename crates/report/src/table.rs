//! A table of text for a terminal: aligned, as wide as there is room.
//!
//! Must not know the content. Invariants: no text is lost, cells without enough room wrap; if there is room for
//! the minimum widths, no line is wider than the room.

use crate::Style;
use crate::page::{pad_left, pad_right, wrap};

/// The separator between two columns.
const GAP: usize = 2;
/// A column is not made narrower than this: a line of three letters cannot be read.
const WIDTH_LEAST: usize = 8;

/// A column: its title, and whether its cells are right-aligned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextColumn {
    /// The title.
    pub title: String,
    /// Whether its cells are right-aligned.
    pub is_right: bool,
}

/// Lays out a table; `room` is the maximum width of a line, `None`: unlimited. Extra cells in a row are
/// ignored; the table's own rows have none.
#[must_use]
pub fn laid_out(
    columns: &[TextColumn],
    rows: &[Vec<String>],
    room: Option<usize>,
    style: Style,
) -> String {
    let widths = widths(columns, rows, room);
    let titles: Vec<String> = columns.iter().map(|column| column.title.clone()).collect();
    let mut out = String::new();
    for line in lines(columns, &titles, &widths) {
        out.push_str(&style.faint(&line));
        out.push('\n');
    }
    // Where cells go over several lines, rows are kept apart.
    let is_tight = rows
        .iter()
        .all(|row| lines(columns, row, &widths).len() == 1);
    for (n, row) in rows.iter().enumerate() {
        if n > 0 && !is_tight {
            out.push('\n');
        }
        for line in lines(columns, row, &widths) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

/// The width of a table if there is room for all of it.
#[must_use]
pub fn natural_width(columns: &[TextColumn], rows: &[Vec<String>]) -> usize {
    let widths = widths(columns, rows, None);
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// The widths of columns: what they need, the widest cut until all have room.
fn widths(columns: &[TextColumn], rows: &[Vec<String>], room: Option<usize>) -> Vec<usize> {
    let length = |text: &String| text.chars().count();
    let mut widths: Vec<usize> = columns.iter().map(|column| length(&column.title)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = length(cell).max(*width);
        }
    }
    let Some(room) = room else { return widths };
    let gaps = GAP * columns.len().saturating_sub(1);
    let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(room);
    while over > 0 {
        let Some(widest) = widths
            .iter_mut()
            .max()
            .filter(|width| **width > WIDTH_LEAST)
        else {
            break;
        };
        *widest -= 1;
        over -= 1;
    }
    widths
}

/// A row as lines.
fn lines(columns: &[TextColumn], cells: &[String], widths: &[usize]) -> Vec<String> {
    let broken = cells.iter().zip(widths);
    let broken: Vec<Vec<String>> = broken
        .map(|(cell, width)| broken_at(cell, *width))
        .collect();
    let height = broken.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let line = |n: usize| {
        let of_column = columns
            .iter()
            .zip(&broken)
            .zip(widths)
            .map(|((column, cell), width)| {
                let part = cell.get(n).map_or("", String::as_str);
                match column.is_right {
                    true => pad_left(part, *width),
                    false => pad_right(part, *width),
                }
            });
        let parts: Vec<String> = of_column.collect();
        parts.join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

/// A text as lines of at most `width` characters; longer words are broken.
fn broken_at(text: &str, width: usize) -> Vec<String> {
    if text.chars().count() <= width {
        return vec![text.to_owned()];
    }
    let pieces = wrap(text, width).into_iter().flat_map(|line| {
        let signs: Vec<char> = line.chars().collect();
        let pieces = signs
            .chunks(width.max(1))
            .map(|piece| piece.iter().collect::<String>());
        pieces.collect::<Vec<_>>()
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style {
        color: false,
        width: 80,
    };

    fn columns(titles: &[(&str, bool)]) -> Vec<TextColumn> {
        let column = |(title, is_right): &(&str, bool)| TextColumn {
            title: (*title).to_owned(),
            is_right: *is_right,
        };
        titles.iter().map(column).collect()
    }

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        let row = |row: &&[&str]| row.iter().map(|cell| (*cell).to_owned()).collect();
        rows.iter().map(row).collect()
    }

    #[test]
    fn numbers_stand_at_the_right() {
        let columns = columns(&[("Row", false), ("Rate", true)]);
        let rows = rows(&[&["a", "5"], &["long one", "13177"]]);
        assert_eq!(
            laid_out(&columns, &rows, None, PLAIN),
            "Row        Rate\na             5\nlong one  13177\n"
        );
        assert_eq!(natural_width(&columns, &rows), 15);
    }

    #[test]
    fn what_has_no_room_goes_on_in_the_next_line() {
        let columns = columns(&[("Row", false), ("CPU of components", false)]);
        let rows = rows(&[&["a", "one = 1.25, another-component = 2"], &["b", "3"]]);
        let text = laid_out(&columns, &rows, Some(20), PLAIN);
        assert!(
            text.lines().all(|line| line.chars().count() <= 20),
            "{text}"
        );
        let kept: String = text.split_whitespace().collect();
        assert!(
            kept.contains("CPUofcomponents") && kept.contains("one=1.25,another-component=2"),
            "{text}"
        );
        assert!(text.contains("\n\nb    3\n"), "{text}");
    }

    #[test]
    fn a_room_that_is_too_small_leaves_the_least_widths() {
        let columns = columns(&[("aaaaaaaaaaaa", false), ("bbbbbbbbbbbb", false)]);
        let text = laid_out(&columns, &[], Some(5), PLAIN);
        assert_eq!(text, "aaaaaaaa  bbbbbbbb\naaaa      bbbb\n");
    }
}
