//! A comparison for a terminal: the differences, then a table per section.
//!
//! Must not know terminals. Invariant: columns are aligned whatever the colours, and a line says in words what
//! its colour says.

use super::differences::{Bearing, caution};
use super::numbers::{change, interval, value_or_dash};
use super::{Basis, Cells, Change, Comparison, LEVEL, Outcome, Row, Test};
use crate::page::{Page, cut, pad_left, pad_right};
use crate::style::Style;

/// Columns of a name in the head of a table.
const NAME_MAX: usize = 24;
/// Columns of a label.
const LABEL_MAX: usize = 40;
/// Maximum differences shown that do not affect the measurements.
const NOTES_MAX: usize = 8;

/// Text with the colour that it is painted in after it was padded.
struct Cell {
    text: String,
    tone: Tone,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tone {
    Plain,
    Faint,
    Good,
    Bad,
    Strong,
}

impl Cell {
    fn plain(text: impl Into<String>) -> Cell {
        Cell {
            text: text.into(),
            tone: Tone::Plain,
        }
    }

    fn toned(text: impl Into<String>, tone: Tone) -> Cell {
        Cell {
            text: text.into(),
            tone,
        }
    }
}

impl Comparison {
    /// The whole comparison as text.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let mut page = Page::new(*style);
        let others: Vec<&str> = self
            .sides
            .iter()
            .skip(1)
            .map(|side| side.0.as_str())
            .collect();
        let first = self.sides.first().map_or("", |side| side.0.as_str());
        page.section(
            "Comparison",
            &format!("{} against {first}", others.join(", ")),
        );
        self.write_runs(&mut page);
        self.write_differences(&mut page);
        for section in &self.sections {
            let numbers: Vec<&Row> = section.rows.iter().filter(|row| row.is_numbers()).collect();
            page.section(section.title, "");
            if !numbers.is_empty() {
                let rows: Vec<Vec<Cell>> = numbers.iter().map(|row| self.cells(row)).collect();
                table(&mut page, &self.head(&numbers), &rows);
            }
            for row in &section.rows {
                self.write_words(&mut page, row);
            }
        }
        page.section("How to read it", "");
        for line in self.method() {
            page.paragraph("  ", 2, &line);
        }
        page.finish()
    }

    fn write_runs(&self, page: &mut Page) {
        if self.basis == Basis::Runs {
            let each = self.sides.iter().map(|(name, runs)| match runs {
                1 => format!("{name}: a single run"),
                runs => format!("{name}: {runs} runs"),
            });
            page.paragraph("  ", 2, &each.collect::<Vec<_>>().join("; "));
        } else {
            let caution = match self.tests {
                0 => "Single runs, without intervals: a change may be run-to-run variation.",
                _ => "Single runs: the intervals do not include run-to-run variation.",
            };
            page.paragraph("  ", 2, caution);
        }
    }

    fn write_differences(&self, page: &mut Page) {
        page.section("What differs between the tests", "");
        let told = |one: &&super::Difference| one.bearing.matters();
        let matter: Vec<_> = self.differences.iter().filter(told).collect();
        let rest: Vec<_> = self.differences.iter().filter(|one| !told(one)).collect();
        let shown = matter
            .iter()
            .copied()
            .chain(rest.iter().copied().take(NOTES_MAX));
        let row = |one: &super::Difference| {
            let tone = if one.bearing.matters() {
                Tone::Strong
            } else {
                Tone::Faint
            };
            let mut cells = vec![
                Cell::toned(one.bearing.name(), tone),
                Cell::plain(cut(&one.path, 60)),
            ];
            cells.extend(
                one.values
                    .iter()
                    .map(|value| Cell::plain(cut(value, LABEL_MAX))),
            );
            cells
        };
        let rows: Vec<Vec<Cell>> = shown.map(row).collect();
        if rows.is_empty() {
            page.line("  nothing");
        } else {
            let names = self.sides.iter().map(|side| cut(&side.0, NAME_MAX));
            let head: Vec<String> = [String::new(), String::new()]
                .into_iter()
                .chain(names)
                .collect();
            left_table(page, &head, &rows);
        }
        if rest.len() > NOTES_MAX {
            let more = format!(
                "  and {} more that do not affect the load",
                rest.len() - NOTES_MAX
            );
            page.line(&page.style.faint(&more));
        }
        let word = caution(&self.differences);
        let text = match matter.iter().any(|one| one.bearing != Bearing::Target) {
            true => page.style.caution("!"),
            false => page.style.faint("·"),
        };
        page.paragraph(&format!("  {text} "), 4, word);
    }

    /// The head of a section's table; a column is named only if a row has a value in it.
    fn head(&self, rows: &[&Row]) -> Vec<String> {
        let is_tested = rows.iter().any(|row| row.is_tested());
        let mut head = vec![String::new(), self.name(0)];
        for other in 1..self.sides.len() {
            head.push(self.name(other));
            head.push("change".to_owned());
            if self.sides.len() == 2 && is_tested {
                head.push(self.basis.interval_head().to_owned());
            }
            head.push(String::new());
        }
        head
    }

    fn name(&self, side: usize) -> String {
        cut(&self.sides[side].0, NAME_MAX)
    }

    fn cells(&self, row: &Row) -> Vec<Cell> {
        let Cells::Numbers {
            unit,
            values,
            changes,
        } = &row.cells
        else {
            return Vec::new();
        };
        let first = values.first().copied().flatten();
        let mut cells = vec![
            Cell::plain(cut(&row.label, LABEL_MAX)),
            Cell::plain(value_or_dash(*unit, first)),
        ];
        let is_pair = self.sides.len() == 2;
        for (value, change_of) in values.iter().skip(1).zip(changes) {
            cells.push(Cell::plain(value_or_dash(*unit, *value)));
            let text = first
                .zip(change_of.by)
                .map(|(first, by)| change(*unit, first, by));
            cells.push(Cell::toned(
                text.unwrap_or_else(|| "-".to_owned()),
                tone(change_of),
            ));
            let test = change_of.test.as_ref();
            if is_pair && self.has_tests(row) {
                let text = test.map(|test| interval(*unit, test.first, test.low, test.high));
                cells.push(Cell::toned(text.unwrap_or_default(), Tone::Faint));
            }
            let word = test.map_or_else(String::new, |test| outcome(test, is_pair));
            cells.push(Cell::toned(word, tone(change_of)));
        }
        cells
    }

    /// Whether the row's section has a column of intervals.
    fn has_tests(&self, row: &Row) -> bool {
        let section = self
            .sections
            .iter()
            .find(|section| section.rows.iter().any(|one| one.id == row.id));
        section.is_some_and(|section| section.rows.iter().any(Row::is_tested))
    }

    fn write_words(&self, page: &mut Page, row: &Row) {
        let Cells::Words(words) = &row.cells else {
            return;
        };
        let label = pad_right(&cut(&row.label, LABEL_MAX), 14);
        if words.windows(2).all(|pair| pair[0] == pair[1]) {
            let word = words.first().map_or("", String::as_str);
            page.paragraph(&format!("  {label} "), 17, &format!("{word} (all)"));
            return;
        }
        for (at, word) in words.iter().enumerate() {
            let lead = if at == 0 {
                label.clone()
            } else {
                " ".repeat(label.chars().count())
            };
            let name = page.style.faint(&format!("{}: ", self.name(at)));
            page.paragraph(&format!("  {lead} {name}"), 17, word);
        }
    }

    /// How the comparison was made, in a few sentences.
    pub(super) fn method(&self) -> Vec<String> {
        let level = 100.0 * (1.0 - LEVEL);
        let what = match self.basis {
            Basis::Seconds => {
                "from the steady seconds of each run (warm-up, ramps and the first second excluded), \
                 corrected for autocorrelation"
            }
            Basis::Runs => "from whole runs, each counting once",
        };
        let mut lines = Vec::new();
        if self.tests > 0 {
            let tests = self.tests;
            lines.push(format!(
                "Intervals of the change: {what}. All {tests} together hold with {level:.0} % confidence \
                 (Bonferroni). A change counts as better, worse or different only if its whole interval \
                 lies on one side of zero; the effect size (Vargha and Delaney) stands beside it."
            ));
        } else {
            lines.push(
                "No interval can be given: that takes at least 8 steady seconds of each run, or \
                 repetitions of each (--group-by)."
                    .to_owned(),
            );
        }
        if self.basis == Basis::Seconds && self.tests > 0 {
            lines.push(
                "A change beyond the spread within two single runs can still be run-to-run variation: \
                 repeat each side a few times and use --group-by."
                    .to_owned(),
            );
        }
        lines
    }
}

impl Basis {
    pub(super) fn interval_head(self) -> &'static str {
        match self {
            Basis::Seconds => "in steady seconds",
            Basis::Runs => "between runs",
        }
    }
}

impl Row {
    pub(super) fn is_numbers(&self) -> bool {
        matches!(self.cells, Cells::Numbers { .. })
    }

    pub(super) fn is_tested(&self) -> bool {
        match &self.cells {
            Cells::Numbers { changes, .. } => changes.iter().any(|change| change.test.is_some()),
            Cells::Words(_) => false,
        }
    }
}

/// The outcome in words, with the size of the effect where there is room.
pub(super) fn outcome(test: &Test, is_long: bool) -> String {
    let word = match test.outcome {
        Outcome::Alike if is_long => return "no clear change".to_owned(),
        Outcome::Alike => return "≈".to_owned(),
        Outcome::Better => "better",
        Outcome::Worse => "worse",
        Outcome::Differs => "different",
    };
    if is_long {
        format!("{word}, {}", test.size())
    } else {
        word.to_owned()
    }
}

fn tone(change: &Change) -> Tone {
    match change.test.map(|test| test.outcome) {
        Some(Outcome::Better) => Tone::Good,
        Some(Outcome::Worse) => Tone::Bad,
        Some(Outcome::Differs) => Tone::Strong,
        Some(Outcome::Alike) => Tone::Faint,
        None => Tone::Plain,
    }
}

fn painted(style: Style, padded: &str, tone: Tone) -> String {
    match tone {
        Tone::Plain => padded.to_owned(),
        Tone::Faint => style.faint(padded),
        Tone::Good => style.good(padded),
        Tone::Bad => style.alarm(padded),
        Tone::Strong => style.strong(padded),
    }
}

/// A table whose first and last columns are words and whose others are numbers.
fn table(page: &mut Page, head: &[String], rows: &[Vec<Cell>]) {
    let last = head.len().saturating_sub(1);
    aligned(page, head, rows, |column| column == 0 || column == last);
}

fn left_table(page: &mut Page, head: &[String], rows: &[Vec<Cell>]) {
    aligned(page, head, rows, |_| true);
}

fn aligned(page: &mut Page, head: &[String], rows: &[Vec<Cell>], is_left: impl Fn(usize) -> bool) {
    let width = |column: usize| {
        let cells = rows
            .iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.text.chars().count());
        cells
            .chain([head[column].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let pad = |text: &str, column: usize| match is_left(column) {
        true => pad_right(text, widths[column]),
        false => pad_left(text, widths[column]),
    };
    let style = page.style;
    let titles: Vec<String> = head
        .iter()
        .enumerate()
        .map(|(at, text)| pad(text, at))
        .collect();
    page.line(&style.faint(format!("  {}", titles.join("   ")).trim_end()));
    for row in rows {
        // Trailing empty cells are not padded, or the line would end with painted blanks.
        let full = row
            .iter()
            .rposition(|cell| !cell.text.is_empty())
            .map_or(0, |at| at + 1);
        let cells = row.iter().enumerate().take(full).map(|(at, cell)| {
            let padded = pad(&cell.text, at);
            let padded = if at + 1 == full {
                padded.trim_end().to_owned()
            } else {
                padded
            };
            painted(style, &padded, cell.tone)
        });
        page.line(&format!("  {}", cells.collect::<Vec<_>>().join("   ")));
    }
}
