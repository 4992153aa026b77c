//! Thresholds and verdicts of the sides side by side, in words.
//!
//! Must not judge; the runs did. Invariant: if repetitions have different outcomes, each outcome is listed.

use loadline_model::result::RunResult;
use loadline_model::test_summary::MetricSummary;
use loadline_model::verdict::{Delivery, Limit};

use super::{Cells, Row, Section, Side};
use crate::amounts::observed;
use crate::text::generator::written;

/// Most thresholds of a comparison.
const ROWS_MAX: usize = 64;

pub(super) fn sections(sides: &[Side<'_>]) -> [Section; 2] {
    [
        Section {
            title: "Thresholds",
            rows: thresholds(sides),
        },
        Section {
            title: "Verdict",
            rows: vec![
                words("verdict.delivery", "Load", sides, |run| {
                    delivery(run.verdict.delivery).into()
                }),
                words("verdict.limit", "Limited by", sides, |run| {
                    limit(run.verdict.limit).into()
                }),
                words("verdict.headline", "Headline", sides, |run| {
                    run.verdict.headline.clone()
                }),
                words("verdict.findings", "Findings", sides, findings),
            ],
        },
    ]
}

/// What each side's runs say, each different word once.
fn words(id: &str, label: &str, sides: &[Side<'_>], of: impl Fn(&RunResult) -> String) -> Row {
    let told = sides.iter().map(|side| {
        let mut distinct: Vec<String> = Vec::new();
        for word in side.runs.iter().map(|run| of(run)) {
            if !distinct.contains(&word) {
                distinct.push(word);
            }
        }
        distinct.join(" / ")
    });
    Row {
        id: id.to_owned(),
        label: label.to_owned(),
        cells: Cells::Words(told.collect()),
    }
}

fn delivery(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::Delivered => "delivered",
        Delivery::FellShort => "fell short",
        Delivery::AsFastAsPossible => "as fast as possible",
        Delivery::Unfinished => "not finished",
    }
}

fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Target => "the target",
        Limit::Network => "the network",
        Limit::Generator => "the generator",
        Limit::Plan => "the plan",
        Limit::Nobody => "nobody",
        Limit::Unknown => "not known",
    }
}

fn findings(run: &RunResult) -> String {
    let codes: Vec<&str> = run
        .verdict
        .findings
        .iter()
        .map(|finding| finding.code.as_str())
        .collect();
    match codes.is_empty() {
        true => "none".to_owned(),
        false => codes.join(", "),
    }
}

fn thresholds(sides: &[Side<'_>]) -> Vec<Row> {
    let mut names: Vec<String> = Vec::new();
    for (name, ..) in sides
        .iter()
        .flat_map(|side| &side.runs)
        .flat_map(|run| outcomes(run))
    {
        if !names.contains(&name) && names.len() < ROWS_MAX {
            names.push(name);
        }
    }
    let row = |name: &String| {
        words(&format!("threshold.{name}"), name, sides, |run| {
            let outcome = outcomes(run).into_iter().find(|(one, ..)| one == name);
            match outcome {
                None => "not asked".to_owned(),
                Some((_, true, value)) => format!("held{value}"),
                Some((_, false, value)) => format!("crossed{value}"),
            }
        })
    };
    names.iter().map(row).collect()
}

/// The thresholds of a run: as written, whether they held, and the value as text.
fn outcomes(run: &RunResult) -> Vec<(String, bool, String)> {
    let Some(summary) = &run.summary else {
        let own = run.thresholds.iter().map(|outcome| {
            let value = outcome.value;
            let value = value.map(|value| written(value, &outcome.threshold));
            (outcome.threshold.clone(), outcome.passed, suffix(value))
        });
        return own.collect();
    };
    let of_metric = |metric: &MetricSummary| {
        let each = metric.thresholds.iter().map(|threshold| {
            let name = format!("{}: {}", metric.key(), threshold.source);
            let value = threshold.observed;
            let value = value.map(|value| observed(value, &metric.definition, &threshold.source));
            (name, threshold.passed, suffix(value))
        });
        each.collect::<Vec<_>>()
    };
    summary.root.metrics.iter().flat_map(of_metric).collect()
}

fn suffix(value: Option<String>) -> String {
    value.map_or_else(String::new, |value| format!(", {value}"))
}
