//! The page of a dashboard: APDEX, statistics and errors in tables, and what happened over time.
//!
//! Must not know how rows are counted. Invariant: no text of a results file is interpreted as markup, and the
//! page is self-contained.

use std::collections::HashMap;
use std::fmt::Write as _;

use loadline_model::civil::Civil;
use loadline_model::markup::escaped;
use serde_json::Value;

use super::{Apdex, Dashboard, OfLabel};

const STYLE: &str = include_str!("../../compare/page.css");
/// Tables of up to fourteen columns: they take the width of a usual window, and their words are broken where they must.
const TABLES: &str = "@media (min-width: 641px) {
  main { max-width: 1280px; }
  thead th { white-space: normal; vertical-align: bottom; }
  th, td { padding-right: 9px; }
  tbody th { min-width: 12ch; overflow-wrap: anywhere; }
  td.words { min-width: 9ch; }
}
";
/// Rows of a table at most: a page with more is not read.
const ROWS_MAX: usize = 2_000;
/// Maximum errors shown per label.
const ERRORS_TOLD: usize = 5;
/// Figures of the statistics, with their columns.
const FIGURES: [(&str, &str); 13] = [
    ("sampleCount", "#Samples"),
    ("errorCount", "FAIL"),
    ("errorPct", "Error %"),
    ("meanResTime", "Average"),
    ("minResTime", "Min"),
    ("maxResTime", "Max"),
    ("medianResTime", "Median"),
    ("pct1ResTime", "90th pct"),
    ("pct2ResTime", "95th pct"),
    ("pct3ResTime", "99th pct"),
    ("throughput", "Transactions/s"),
    ("receivedKBytesPerSec", "Received KB/s"),
    ("sentKBytesPerSec", "Sent KB/s"),
];

/// The whole page.
pub(super) fn write(of: &Dashboard) -> String {
    let title = escaped(&of.settings.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{TABLES}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    about(&mut out, of);
    if of.is_empty() {
        out.push_str("<p class=\"caution\">The file has no samples.</p>\n");
    }
    apdex(&mut out, of);
    requests(&mut out, of);
    statistics(&mut out, of);
    errors(&mut out, of);
    errors_by_label(&mut out, of);
    charts(&mut out, of);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn about(out: &mut String, of: &Dashboard) {
    let mut rows = vec![[
        Cell::Words("Source file"),
        Cell::Text(of.settings.source.clone()),
    ]];
    if let Some((first_ms, last_ms)) = of.timeline.span_ms() {
        rows.push([Cell::Words("Start time"), Cell::Text(instant(first_ms))]);
        rows.push([Cell::Words("End time"), Cell::Text(instant(last_ms))]);
    }
    table(out, "Test and report information", &["", ""], &rows);
}

/// A date and time, in UTC.
fn instant(unix_ms: i64) -> String {
    let unix_s = u64::try_from(unix_ms.div_euclid(1000)).unwrap_or(0);
    Civil::of_unix_s(unix_s).to_string()
}

fn apdex(out: &mut String, of: &Dashboard) {
    let row = |name: &str, apdex: &Apdex| {
        let Apdex { thresholds, .. } = apdex;
        [
            Cell::Text(name.to_owned()),
            Cell::number(apdex.value(), 3),
            Cell::Count(thresholds.satisfied_ms),
            Cell::Count(thresholds.tolerated_ms),
        ]
    };
    let whole = (of.whole.all > 0).then(|| row("Total", &of.whole));
    let labels = of.labels.iter().map(|label| row(&label.name, &label.apdex));
    let rows: Vec<_> = whole.into_iter().chain(labels).collect();
    let columns = [
        "Label",
        "Apdex",
        "T: satisfied up to, ms",
        "F: tolerated up to, ms",
    ];
    table(
        out,
        "APDEX (Application Performance Index)",
        &columns,
        &rows,
    );
}

fn requests(out: &mut String, of: &Dashboard) {
    if of.samples == 0 {
        return;
    }
    let share = |count: u64| Cell::number(count as f64 / of.samples as f64 * 100.0, 2);
    let good = of.samples - of.failed;
    let rows = [
        [Cell::Words("OK"), Cell::Count(good), share(good)],
        [Cell::Words("KO"), Cell::Count(of.failed), share(of.failed)],
    ];
    table(out, "Requests summary", &["", "#Samples", "%"], &rows);
}

fn statistics(out: &mut String, of: &Dashboard) {
    let mut rows: Vec<Vec<Cell>> = of
        .statistics
        .figures()
        .map(|(name, figures)| {
            let mut row = vec![Cell::Text(name.to_owned())];
            row.extend(FIGURES.map(|(key, _)| {
                let found = figures.iter().find(|(name, _)| *name == key);
                found.map_or(Cell::Words(""), |(_, value)| Cell::figure(value))
            }));
            row
        })
        .collect();
    if of.is_empty() {
        rows.clear();
    }
    // The total comes first, as on JMeter's page.
    if !rows.is_empty() {
        rows.rotate_right(1);
    }
    let title = |(figure, title): &(&str, &str)| match of.statistics.percent_of(figure) {
        Some(percent) => format!("{percent}th pct"),
        None => (*title).to_owned(),
    };
    let titles: Vec<String> = FIGURES.iter().map(title).collect();
    let columns: Vec<&str> = std::iter::once("Label")
        .chain(titles.iter().map(String::as_str))
        .collect();
    table(out, "Statistics", &columns, &rows);
}

pub(super) fn sorted(errors: &HashMap<String, u64>) -> Vec<(&str, u64)> {
    let mut all: Vec<(&str, u64)> = errors
        .iter()
        .map(|(kind, count)| (kind.as_str(), *count))
        .collect();
    all.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
    all
}

fn errors(out: &mut String, of: &Dashboard) {
    let rows: Vec<[Cell; 4]> = sorted(&of.errors)
        .into_iter()
        .map(|(kind, count)| {
            let share = |all: u64| Cell::number(count as f64 / all as f64 * 100.0, 2);
            [
                Cell::Text(kind.to_owned()),
                Cell::Count(count),
                share(of.failed),
                share(of.samples),
            ]
        })
        .collect();
    let columns = [
        "Type of error",
        "Number of errors",
        "% in errors",
        "% in all samples",
    ];
    table(out, "Errors", &columns, &rows);
}

fn errors_by_label(out: &mut String, of: &Dashboard) {
    let failed = of.labels.iter();
    let failed = failed.filter(|label| label.failed > 0 && !label.is_transaction);
    let row = |name: &str, samples: u64, failed: u64, errors: &HashMap<String, u64>| {
        let mut row = vec![
            Cell::Text(name.to_owned()),
            Cell::Count(samples),
            Cell::Count(failed),
        ];
        let told = sorted(errors).into_iter().take(ERRORS_TOLD);
        row.extend(
            told.flat_map(|(kind, count)| [Cell::Text(kind.to_owned()), Cell::Count(count)]),
        );
        row.resize(3 + 2 * ERRORS_TOLD, Cell::Words(""));
        row
    };
    let whole = (of.failed > 0).then(|| row("Total", of.samples, of.failed, &of.errors));
    let labels =
        failed.map(|label: &OfLabel| row(&label.name, label.samples, label.failed, &label.errors));
    let rows: Vec<Vec<Cell>> = whole.into_iter().chain(labels).collect();
    let mut columns = vec!["Sample", "#Samples", "#Errors"];
    columns.extend(["Error", "#Errors"].repeat(ERRORS_TOLD));
    table(out, "Top 5 errors by sampler", &columns, &rows);
}

fn charts(out: &mut String, of: &Dashboard) {
    let charts = of.timeline.charts();
    if charts.is_empty() {
        return;
    }
    let width_s = of.timeline.width_s();
    write_to(
        out,
        format_args!(
            "<section class=\"charts\">\n<h2>Over time</h2>\n<p class=\"note\">Each point covers {width_s} s.</p>\n"
        ),
    );
    for drawing in charts {
        let name = drawing.name;
        write_to(
            out,
            format_args!(
                "<figure tabindex=\"0\" role=\"group\" aria-labelledby=\"{name}-title\">\n{}</figure>\n",
                drawing.svg
            ),
        );
    }
    out.push_str("</section>\n");
}

/// The content of a cell.
#[derive(Clone)]
enum Cell {
    Words(&'static str),
    Text(String),
    Number(String),
    Count(u64),
}

impl Cell {
    /// A number with this many decimals; nothing if it is not a number.
    fn number(value: f64, digits: usize) -> Cell {
        match value.is_finite() {
            true => Cell::Number(format!("{value:.digits$}")),
            false => Cell::Words("–"),
        }
    }

    /// A figure of the statistics: whole numbers as they are.
    fn figure(value: &Value) -> Cell {
        match (value.as_u64(), value.as_f64()) {
            (Some(count), _) => Cell::Count(count),
            (None, Some(number)) => Cell::number(number, 2),
            (None, None) => Cell::Words("–"),
        }
    }
}

/// A table under its heading; nothing without rows.
fn table<R: AsRef<[Cell]>>(out: &mut String, title: &str, columns: &[&str], rows: &[R]) {
    if rows.is_empty() {
        return;
    }
    write_to(
        out,
        format_args!(
            "<section>\n<h2>{title}</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\"><table>"
        ),
    );
    if columns.iter().any(|column| !column.is_empty()) {
        out.push_str("<thead><tr>");
        for column in columns {
            match column.is_empty() {
                true => out.push_str("<td></td>"),
                false => write_to(
                    out,
                    format_args!("<th scope=\"col\">{}</th>", escaped(column)),
                ),
            }
        }
        out.push_str("</tr></thead>");
    }
    out.push_str("<tbody>\n");
    for row in rows.iter().take(ROWS_MAX) {
        out.push_str("<tr>");
        for (position, cell) in row.as_ref().iter().enumerate() {
            write_cell(out, cell, position == 0);
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    if rows.len() > ROWS_MAX {
        let more = rows.len() - ROWS_MAX;
        write_to(
            out,
            format_args!("<p class=\"note\">{more} more rows are in statistics.json.</p>\n"),
        );
    }
    out.push_str("</section>\n");
}

fn write_cell(out: &mut String, cell: &Cell, is_first: bool) {
    let (text, is_number) = match cell {
        Cell::Words(text) => ((*text).to_owned(), false),
        Cell::Text(text) => (escaped(text), false),
        Cell::Number(text) => (text.clone(), true),
        Cell::Count(count) => (count.to_string(), true),
    };
    let what = match (is_first, is_number) {
        (true, _) => format!("<th scope=\"row\">{text}</th>"),
        (false, true) => format!("<td class=\"number\">{text}</td>"),
        (false, false) => format!("<td class=\"words\">{text}</td>"),
    };
    out.push_str(&what);
}

fn write_to(out: &mut String, what: std::fmt::Arguments<'_>) {
    out.write_fmt(what)
        .expect("a text takes all that is written to it");
}
