//! The report of hey 0.1.5, to the column, with its CSV and template outputs.
//!
//! Layout and rules were observed from hey 0.1.5; `docs/dialects.md` lists intended differences. Must not know
//! how the run was done. Invariant: text and templates show the same figures.

mod csv;
mod figures;
mod template;

use std::fmt::Write as _;

use loadline_model::RunResult;

pub use csv::{csv_header, csv_row};
pub use figures::SIZE_OF_HEAD;
use figures::{Figures, Span};
pub use template::ReportTemplate;

/// The cell that histogram bars are made of.
const BAR: &str = "■";
/// Cells of the longest bar.
const BAR_CELLS: u64 = 40;

/// The report as hey prints it, with an empty line before and after.
#[must_use]
pub fn render(result: &RunResult) -> String {
    let figures = Figures::of(result);
    let mut out = String::new();
    write_report(&figures, &mut out).expect("writing to a string cannot fail");
    out
}

fn write_report(figures: &Figures, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\nSummary:")?;
    writeln!(out, "  Total:\t{} secs", number(figures.total_seconds))?;
    writeln!(out, "  Slowest:\t{} secs", number(figures.slowest))?;
    writeln!(out, "  Fastest:\t{} secs", number(figures.fastest))?;
    writeln!(out, "  Average:\t{} secs", number(figures.average))?;
    writeln!(
        out,
        "  Requests/sec:\t{}",
        number(figures.requests_per_second)
    )?;
    // The line of two spaces is hey's: its template has a condition on a separate line.
    writeln!(out, "  ")?;
    if figures.bytes > 0 {
        writeln!(out, "  Total data:\t{} bytes", figures.bytes)?;
        writeln!(out, "  Size/request:\t{} bytes", figures.bytes_per_answer)?;
    }
    writeln!(out, "\nResponse time histogram:\n{}", histogram(figures))?;
    write!(out, "\nLatency distribution:")?;
    for (percentage, seconds) in &figures.distribution {
        write!(out, "\n  {percentage}% in {} secs", number(*seconds))?;
    }
    writeln!(out, "\n\nDetails (average, fastest, slowest):")?;
    for (name, span) in figures.details() {
        writeln!(out, "  {name}:\t{}", details(span))?;
    }
    write!(out, "\nStatus code distribution:")?;
    for (status, count) in &figures.statuses {
        write!(out, "\n  [{status}]\t{count} responses")?;
    }
    if figures.other_statuses > 0 {
        write!(out, "\n  [other]\t{} responses", figures.other_statuses)?;
    }
    write!(out, "\n\n")?;
    if !figures.errors.is_empty() {
        write!(out, "Error distribution:")?;
        for (text, count) in &figures.errors {
            write!(out, "\n  [{count}]\t{text}")?;
        }
    }
    write!(out, "\n\n")
}

fn details(span: &Span) -> String {
    let [average, fastest, slowest] = [span.average, span.fastest, span.slowest].map(number);
    format!("{average} secs, {fastest} secs, {slowest} secs")
}

/// A number with four decimals, at least four wide: Go's `%4.4f`.
fn number(value: f64) -> String {
    if value.is_nan() {
        return " NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    format!("{value:.4}")
}

fn histogram(figures: &Figures) -> String {
    let most = figures
        .histogram
        .iter()
        .map(|row| row.count)
        .max()
        .unwrap_or(0);
    let mut out = String::new();
    for row in &figures.histogram {
        let cells = (row.count * BAR_CELLS + most / 2)
            .checked_div(most)
            .unwrap_or(0);
        let bar = BAR.repeat(cells as usize);
        writeln!(out, "  {:.3} [{}]\t|{bar}", row.mark, row.count)
            .expect("writing to a string cannot fail");
    }
    out
}
