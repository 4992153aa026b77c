//! Lines of metrics: names led by dots to one column, values and what follows them aligned.
//!
//! Must not know sections. Invariant: every line of one block has its colon in the same column.

use loadline_metric::Contains;

use super::number::{self, SummaryTimeUnit};
use super::paint::Paint;
use super::stats::{TrendStat, Values};
use crate::page::pad_right;

/// Dots behind the longest name.
const DOTS_MIN: usize = 3;

/// A line to be aligned with the others of its block.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The text before the name: a mark, or spaces.
    lead: String,
    /// Columns of the lead that the name's own column begins with.
    inset: usize,
    /// The name with the spaces that set a sub-metric off.
    name: String,
    cells: Cells,
}

#[derive(Clone, Debug)]
enum Cells {
    /// `name=value` side by side.
    Trend(Vec<(String, String)>),
    /// A value, and additional columns.
    Plain(String, Vec<String>),
}

impl Row {
    /// The line of values under the name given; `unit` of `None` picks a time's unit by its size.
    pub(super) fn of(
        name: String,
        values: &Values,
        contains: Contains,
        unit: Option<SummaryTimeUnit>,
    ) -> Row {
        let shown = |value: f64| number::value(value, contains, unit);
        let cells = match values {
            Values::Counter { count, rate } => {
                Cells::Plain(shown(*count), vec![format!("{}/s", shown(*rate))])
            }
            Values::Gauge { value, min, max } => Cells::Plain(
                shown(*value),
                vec![
                    format!("min={}", shown(*min)),
                    format!("max={}", shown(*max)),
                ],
            ),
            Values::Rate {
                passes,
                fails,
                rate,
            } => Cells::Plain(
                number::share(*rate),
                vec![format!("{passes} out of {}", passes + fails)],
            ),
            Values::Trend(stats) => Cells::Trend(
                stats
                    .iter()
                    .map(|(stat, value)| {
                        let text = match stat {
                            TrendStat::Count => number::text(*value),
                            _ => shown(*value),
                        };
                        (stat.name().to_owned(), text)
                    })
                    .collect(),
            ),
        };
        Row {
            lead: String::new(),
            inset: 0,
            name,
            cells,
        }
    }

    /// The same line with something before the name, of which `inset` columns count as the name's.
    pub(super) fn led_by(self, lead: String, inset: usize) -> Row {
        Row {
            lead,
            inset,
            ..self
        }
    }

    fn name_width(&self) -> usize {
        self.inset + self.name.chars().count()
    }

    fn plain(&self) -> Option<(&str, &[String])> {
        match &self.cells {
            Cells::Plain(value, extras) => Some((value, extras)),
            Cells::Trend(_) => None,
        }
    }
}

/// The columns of a block of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    name: usize,
    value: usize,
    extras: Vec<usize>,
    stats: Vec<usize>,
}

impl Columns {
    /// Columns wide enough for all rows.
    pub(super) fn of(rows: &[Row]) -> Columns {
        let mut columns = Columns::default();
        for row in rows {
            columns.name = columns.name.max(row.name_width());
            match &row.cells {
                Cells::Plain(value, extras) => {
                    widen(&mut columns.value, value);
                    widen_all(&mut columns.extras, extras.iter().map(String::as_str));
                }
                Cells::Trend(stats) => {
                    widen_all(
                        &mut columns.stats,
                        stats.iter().map(|(_, value)| value.as_str()),
                    );
                }
            }
        }
        columns
    }

    /// The line of a row, without its end.
    pub(super) fn line(&self, row: &Row, paint: Paint) -> String {
        let dots = self.name.saturating_sub(row.name_width()) + DOTS_MIN;
        let dots = paint.faint_white(&format!("{}:", ".".repeat(dots)));
        format!("{}{}{dots} {}", row.lead, row.name, self.cells(row, paint))
    }

    fn cells(&self, row: &Row, paint: Paint) -> String {
        let Some((value, extras)) = row.plain() else {
            return self.stats(row, paint);
        };
        let mut out = padded(value, self.value, |text| paint.cyan(text));
        for (at, extra) in extras.iter().enumerate() {
            out.push(' ');
            // A lone remark ends its line.
            let width = if extras.len() > 1 { self.extras[at] } else { 0 };
            out.push_str(&padded(extra, width, |text| paint.faint_cyan(text)));
        }
        out
    }

    fn stats(&self, row: &Row, paint: Paint) -> String {
        let Cells::Trend(stats) = &row.cells else {
            return String::new();
        };
        let cell = |((name, value), width): (&(String, String), &usize)| {
            format!("{name}={}", padded(value, *width, |text| paint.cyan(text)))
        };
        stats
            .iter()
            .zip(&self.stats)
            .map(cell)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn widen(width: &mut usize, text: &str) {
    *width = (*width).max(text.chars().count());
}

fn widen_all<'a>(widths: &mut Vec<usize>, texts: impl Iterator<Item = &'a str>) {
    for (at, text) in texts.enumerate() {
        if at == widths.len() {
            widths.push(0);
        }
        widen(&mut widths[at], text);
    }
}

/// Painted text, and the spaces that fill its column unpainted.
fn padded(text: &str, width: usize, paint: impl Fn(&str) -> String) -> String {
    let spaces = pad_right(text, width)[text.len()..].to_owned();
    format!("{}{spaces}", paint(text))
}
