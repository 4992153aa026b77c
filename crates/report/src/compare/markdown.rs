//! A comparison as Markdown, for pull requests and documents.
//!
//! Must not know files. Invariant: no text of a result breaks out of its cell.

use super::differences::caution;
use super::numbers::{change, interval, value_or_dash};
use super::text::outcome;
use super::{Cells, Comparison, Row};

impl Comparison {
    /// The whole comparison as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        let names: Vec<String> = self.sides.iter().map(|side| cell(&side.0)).collect();
        out.push_str(&format!(
            "# {} against {}\n\n## What differs between the tests\n\n",
            names.iter().skip(1).cloned().collect::<Vec<_>>().join(", "),
            names.first().map_or("", String::as_str)
        ));
        if !self.differences.is_empty() {
            row(&mut out, ["", ""].map(str::to_owned).iter().chain(&names));
            rule(&mut out, 2 + names.len(), 2 + names.len());
            for one in &self.differences {
                let head = [one.bearing.name().to_owned(), cell(&one.path)];
                let values: Vec<String> = one.values.iter().map(|value| cell(value)).collect();
                row(&mut out, head.iter().chain(&values));
            }
            out.push('\n');
        }
        out.push_str(&format!("{}\n", caution(&self.differences)));
        for section in &self.sections {
            out.push_str(&format!("\n## {}\n\n", section.title));
            let is_words = section.rows.iter().all(|row| !row.is_numbers());
            let head = if is_words {
                self.words_head(&names)
            } else {
                self.head_cells(&names)
            };
            row(&mut out, head.iter());
            rule(&mut out, head.len(), if is_words { head.len() } else { 1 });
            for line in &section.rows {
                row(&mut out, self.line_cells(line).iter());
            }
        }
        out.push_str("\n## How to read it\n\n");
        out.push_str(&self.method().join("\n\n"));
        out.push('\n');
        out
    }

    fn words_head(&self, names: &[String]) -> Vec<String> {
        std::iter::once(String::new())
            .chain(names.iter().cloned())
            .collect()
    }

    fn head_cells(&self, names: &[String]) -> Vec<String> {
        let mut head = vec![String::new(), names.first().cloned().unwrap_or_default()];
        for name in names.iter().skip(1) {
            let interval = self.basis.interval_head();
            head.extend([
                name.clone(),
                "change".to_owned(),
                interval.to_owned(),
                String::new(),
            ]);
        }
        head
    }

    fn line_cells(&self, row: &Row) -> Vec<String> {
        let mut cells = vec![cell(&row.label)];
        match &row.cells {
            Cells::Words(words) => cells.extend(words.iter().map(|word| cell(word))),
            Cells::Numbers {
                unit,
                values,
                changes,
            } => {
                let first = values.first().copied().flatten();
                cells.push(value_or_dash(*unit, first));
                for (value, of) in values.iter().skip(1).zip(changes) {
                    let by = first.zip(of.by).map(|(first, by)| change(*unit, first, by));
                    let test = of.test.as_ref();
                    let within = test.map(|test| interval(*unit, test.first, test.low, test.high));
                    let word = test.map(|test| outcome(test, true));
                    cells.push(value_or_dash(*unit, *value));
                    cells.extend([by, within, word].map(Option::unwrap_or_default));
                }
            }
        }
        cells
    }
}

/// Text in a cell of a table: bars and line ends are kept from ending it, marks from being markup.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn row<'t>(out: &mut String, cells: impl Iterator<Item = &'t String>) {
    out.push('|');
    for cell in cells {
        out.push_str(&format!(" {cell} |"));
    }
    out.push('\n');
}

/// The line below a head: so many columns, the first few to the left and the others to the right.
fn rule(out: &mut String, columns: usize, left: usize) {
    out.push('|');
    for column in 0..columns {
        out.push_str(if column < left { "---|" } else { "---:|" });
    }
    out.push('\n');
}
