//! The statistics and errors of a dashboard as lines of text.
//!
//! Must not know how rows are counted. Invariant: a label is one line, cut to its column.

use std::fmt::Write as _;

use super::Dashboard;
use super::page::sorted;

/// Columns of a label.
const LABEL: usize = 40;
/// Maximum errors shown.
const ERRORS_TOLD: usize = 10;
/// Figures, their columns, and digits behind the point.
const FIGURES: [(&str, &str, usize); 9] = [
    ("sampleCount", "samples", 0),
    ("errorPct", "error %", 2),
    ("meanResTime", "average", 0),
    ("medianResTime", "median", 0),
    ("pct1ResTime", "90 %", 0),
    ("pct2ResTime", "95 %", 0),
    ("pct3ResTime", "99 %", 0),
    ("maxResTime", "max", 0),
    ("throughput", "per s", 1),
];

/// All lines.
pub(super) fn write(of: &Dashboard) -> String {
    let mut out = format!("{:<LABEL$}", "label (times in ms)");
    for (figure, title, _) in FIGURES {
        let percent = of.statistics.percent_of(figure);
        let title = percent.map_or_else(|| title.to_owned(), |percent| format!("{percent} %"));
        write_to(&mut out, format_args!(" {title:>9}"));
    }
    out.push('\n');
    for (name, figures) in of.statistics.figures() {
        write_to(&mut out, format_args!("{:<LABEL$}", cut(name)));
        for (key, _, digits) in FIGURES {
            let found = figures.iter().find(|(name, _)| *name == key);
            let value = found.and_then(|(_, value)| value.as_f64());
            let told = value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"));
            write_to(&mut out, format_args!(" {told:>9}"));
        }
        out.push('\n');
    }
    if of.failed > 0 {
        out.push_str("\nerrors\n");
    }
    for (kind, count) in sorted(&of.errors).into_iter().take(ERRORS_TOLD) {
        write_to(&mut out, format_args!("{count:>9}  {}\n", one_line(kind)));
    }
    out
}

fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

fn cut(name: &str) -> String {
    let name = one_line(name);
    match name.char_indices().nth(LABEL) {
        None => name,
        Some(_) => name.chars().take(LABEL - 1).chain(['…']).collect(),
    }
}

fn write_to(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what)
        .expect("a text takes all that is written to it");
}
