//! A failed condition with the values of its parts below it, each under the place where it is written.
//!
//! Must not know how values come about. Invariant: a part without a place in the text is left out.

mod places;
mod spelled;

use std::collections::HashMap;

use super::ast::Expr;
use super::print;
use super::value::Value;

pub(crate) use spelled::spelled;

/// A part of a condition: an expression, or the operator before it in a chain of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Part(usize, bool);

impl Part {
    /// `is_link`: the operator before the expression is meant.
    pub(crate) fn of(expression: &Expr, is_link: bool) -> Part {
        Part(std::ptr::from_ref(expression).addr(), is_link)
    }
}

/// A line of values that grows to the left.
struct Line {
    text: Vec<char>,
    /// Where the value nearest to the left begins.
    from: usize,
}

impl Line {
    fn put(&mut self, column: usize, piece: &str) {
        let piece: Vec<char> = piece.chars().collect();
        let end = column + piece.len();
        if self.text.len() < end {
            self.text.resize(end, ' ');
        }
        self.text.splice(column..end, piece);
    }
}

/// The text of an assertion, and below it what is known of its parts.
pub(crate) fn condition(text: &str, condition: &Expr, known: &HashMap<Part, Value>) -> String {
    let mut values: Vec<(usize, String)> = places::of(text, condition)
        .into_iter()
        .filter_map(|(column, part, is_name)| {
            let value = known.get(&part)?;
            // A class is a name, not a value.
            let is_class = is_name && matches!(value, Value::Class(_));
            (!is_class).then(|| (column, print::inspected(value)))
        })
        .collect();
    // From the right; of those at the same place the outermost, which comes last.
    values.reverse();
    values.sort_by_key(|(column, _)| std::cmp::Reverse(*column));
    values.dedup_by_key(|(column, _)| *column);
    drawn(text, &values)
}

fn drawn(text: &str, values: &[(usize, String)]) -> String {
    let mut lines = vec![Line {
        text: Vec::new(),
        from: 0,
    }];
    for (column, value) in values {
        place(&mut lines, *column, value);
    }
    let mut told = text.to_owned();
    for line in lines {
        told.push('\n');
        told.extend(line.text);
    }
    told
}

/// Puts a value on the first line with room to the left of what is there, and marks its place on those above.
fn place(lines: &mut Vec<Line>, column: usize, value: &str) {
    let pieces: Vec<&str> = value.split('\n').collect();
    let end = match pieces.as_slice() {
        [one] => column + one.chars().count(),
        _ => usize::MAX,
    };
    for (depth, line) in lines.iter_mut().enumerate() {
        if end < line.from {
            line.put(column, value);
            line.from = column;
            return;
        }
        line.put(column, "|");
        if depth > 0 {
            line.from = column + 1;
        }
    }
    for piece in pieces {
        let mut line = Line {
            text: Vec::new(),
            from: column,
        };
        line.put(column, piece);
        lines.push(line);
    }
}
