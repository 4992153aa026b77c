//! What observers saw of the system under test: a table of all series, and their notes.
//!
//! Must not judge. Invariant: a missing value is a dash.

use loadline_model::RunResult;
use loadline_model::observation;

use super::markup::{Html, Side};
use crate::observed::{amount, metric_title, quantities, title, told};
use crate::units::span;

/// Rows of the tables; the JSON result has all.
const ROWS_MAX: usize = 300;

pub(super) fn write(html: &mut Html, result: &RunResult) {
    let observations = &result.observations;
    if observations.is_empty() {
        return;
    }
    html.heading("Observed", "the service under test during the load");
    let columns = [
        ("who", Side::Words),
        ("what", Side::Words),
        ("before", Side::Numbers),
        ("mean", Side::Numbers),
        ("p95", Side::Numbers),
        ("maximum", Side::Numbers),
        ("last", Side::Numbers),
        ("afterwards", Side::Numbers),
    ];
    let all = quantities(observations);
    let series = all
        .iter()
        .flat_map(|quantity| quantity.series.iter().chain(&quantity.limits));
    let rows: Vec<Vec<String>> = series
        .take(ROWS_MAX)
        .map(|series| {
            let figures = told(series, observations);
            let number = |value: Option<f64>| {
                value.map_or_else(|| "–".to_owned(), |value| amount(&series.metric, value))
            };
            let mut row = vec![title(series), metric_title(&series.metric)];
            let all = [
                figures.before,
                figures.mean,
                figures.p95,
                figures.most,
                figures.last,
                figures.after,
            ];
            row.extend(all.map(number));
            row
        })
        .collect();
    html.table(&columns, &rows);
    notes(html, result);
}

fn notes(html: &mut Html, result: &RunResult) {
    let notes = &result.observations.notes;
    if notes.is_empty() {
        return;
    }
    html.heading("Observer notes", "");
    let columns = [
        ("at", Side::Numbers),
        ("who", Side::Words),
        ("kind", Side::Words),
        ("what", Side::Words),
    ];
    let rows: Vec<Vec<String>> = notes
        .iter()
        .take(ROWS_MAX)
        .map(|note| {
            let sign = if note.at_ns < 0 { "−" } else { "" };
            let at = format!("{sign}{}", span(note.at_ns.unsigned_abs() as f64));
            let who = observation::title(&note.observer, &note.component);
            vec![at, who, note.kind.clone(), note.text.clone()]
        })
        .collect();
    html.table(&columns, &rows);
}
