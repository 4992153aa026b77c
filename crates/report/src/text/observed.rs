//! What observers saw of the system under test, a line per important series.
//!
//! Must not judge; the verdict does. Invariant: a missing value is a dash.

use loadline_model::RunResult;
use loadline_model::observation::{BUSIEST_PROCESS_METRIC, PROCESSES_METRIC, WORKERS_METRIC};

use crate::observed::{amount, metric_title, quantities, title, told};
use crate::page::{Page, pad_left, pad_right};

/// Lines of the table; the JSON result and the HTML report have all.
const LINES_MAX: usize = 30;
/// Notes of observers that are shown.
const NOTES_MAX: usize = 5;
/// Less important metrics of a process or machine; the JSON result and the HTML report show them.
const MINOR: [&str; 11] = [
    BUSIEST_PROCESS_METRIC,
    PROCESSES_METRIC,
    WORKERS_METRIC,
    "threads",
    "open_files",
    "restarts",
    "run_queue",
    "load_1m",
    "cores",
    "memory_available_bytes",
    "memory_peak_bytes",
];
/// Columns of the table's words and numbers.
const WHO: usize = 26;
const WHAT: usize = 14;
const NUMBER: usize = 12;

pub(super) fn write(page: &mut Page, result: &RunResult) {
    let observations = &result.observations;
    if observations.is_empty() {
        return;
    }
    page.section(
        "Observed",
        "before, and mean, maximum and last value under load",
    );
    let mut left_out = 0;
    let mut lines = 0;
    let all = quantities(observations);
    for quantity in all.iter().filter(|one| !MINOR.contains(&one.metric)) {
        for series in quantity.series.iter().chain(&quantity.limits) {
            let figures = told(series, observations);
            if figures.mean.is_none() && figures.after.is_none() {
                continue;
            }
            if lines == LINES_MAX {
                left_out += 1;
                continue;
            }
            lines += 1;
            let number = |value: Option<f64>| {
                let text =
                    value.map_or_else(|| "–".to_owned(), |value| amount(&series.metric, value));
                pad_left(&text, NUMBER)
            };
            let all = [
                figures.before,
                figures.mean,
                figures.most,
                figures.last.or(figures.after),
            ];
            let who = pad_right(&title(series), WHO);
            let what = pad_right(&metric_title(&series.metric), WHAT);
            let line = all.into_iter().map(number).collect::<Vec<_>>().join(" ");
            page.line(&format!("  {who} {what} {line}"));
        }
    }
    if left_out > 0 {
        page.line(&format!("  and {left_out} more in the JSON result"));
    }
    for note in observations.notes.iter().take(NOTES_MAX) {
        let at = crate::units::span(note.at_ns.unsigned_abs() as f64);
        let before = if note.at_ns < 0 {
            "before the load"
        } else {
            "in"
        };
        let text = format!(
            "{} {}: {} ({at} {before})",
            note.observer, note.kind, note.text
        );
        page.paragraph("  ", 4, &text);
    }
    if observations.notes.len() > NOTES_MAX {
        let more = observations.notes.len() - NOTES_MAX;
        page.line(&format!("  and {more} more observer notes"));
    }
}
