//! The verdict on a page, first and large, and the thresholds.
//!
//! Must not judge; that is done before. Invariant: the page of a run with a severe finding never looks like a
//! good one, and no severity is shown by colour alone.

use loadline_model::RunResult;
use loadline_model::result::StopReason;
use loadline_model::verdict::{Delivery, Finding, Gravity, Limit};

use super::markup::Html;
use crate::amounts::observed;
use crate::conservation;
use crate::text::generator::written;
use crate::text::how_ended;
use crate::units::count;

/// The outcome of a run, at a glance.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grade {
    Good,
    Neutral,
    Caution,
    Alarm,
}

fn grade(result: &RunResult) -> Grade {
    let gravest = result.verdict.findings.iter().map(|f| f.gravity).max();
    let stop = result.totals.stop;
    let crossed = thresholds_of(result).iter().any(|held| !held.passed);
    let crashed = matches!(
        stop,
        StopReason::Crashed | StopReason::Defect | StopReason::Script
    );
    match (gravest, result.verdict.delivery) {
        _ if crossed || crashed => Grade::Alarm,
        (Some(Gravity::Alarm), _) => Grade::Alarm,
        (Some(Gravity::Caution), _) | (_, Delivery::FellShort) => Grade::Caution,
        _ if how_ended(stop).is_some() => Grade::Caution,
        (_, Delivery::Unfinished) => Grade::Neutral,
        (_, Delivery::Delivered | Delivery::AsFastAsPossible) => Grade::Good,
    }
}

/// The block at the top.
pub(super) fn write(html: &mut Html, result: &RunResult) {
    let (open, mark) = match grade(result) {
        Grade::Good => ("<div class=\"verdict good\">", "✓"),
        Grade::Neutral => ("<div class=\"verdict\">", "·"),
        Grade::Caution => ("<div class=\"verdict caution\">", "!"),
        Grade::Alarm => ("<div class=\"verdict alarm\">", "✗"),
    };
    let verdict = &result.verdict;
    html.raw(open).raw("<p class=\"kind\">");
    html.between(
        "<span class=\"mark\" aria-hidden=\"true\">",
        mark,
        "</span>",
    );
    if thresholds_of(result).iter().any(|held| !held.passed) {
        html.raw("Thresholds crossed · ");
    }
    match is_going_on(result) {
        true => html.raw("Running"),
        false => html.text(&words(verdict.delivery, verdict.limit)),
    };
    html.raw("</p>");
    html.between(
        "<p class=\"headline\">",
        &sentence(&verdict.headline),
        "</p>",
    );
    if let Some(how) = how_ended(result.totals.stop) {
        html.between("<p class=\"ended\">", &sentence(how), "</p>");
    }
    crossed(html, result);
    if !verdict.findings.is_empty() {
        html.raw("<ul class=\"findings\">");
        verdict
            .findings
            .iter()
            .for_each(|found| finding(html, found, &verdict.headline));
        html.raw("</ul>");
    }
    let requests = match is_going_on(result) {
        true => conservation::line_so_far(result),
        false => conservation::line(result),
    };
    let requests = requests.replace('\u{a0}', " ");
    html.between("<p class=\"requests\">", &requests, "</p></div>");
}

/// Whether this is the state of a run in progress.
pub(super) fn is_going_on(result: &RunResult) -> bool {
    result.verdict.delivery == Delivery::Unfinished && result.totals.stop == StopReason::Finished
}

fn words(delivery: Delivery, limit: Limit) -> String {
    let delivered = match delivery {
        Delivery::Delivered => "Load delivered",
        Delivery::FellShort => "Load not fully delivered",
        Delivery::AsFastAsPossible => "As fast as possible",
        Delivery::Unfinished => "Unfinished",
    };
    let limited = match limit {
        Limit::Target => "limited by the target",
        Limit::Network => "limited by the network",
        Limit::Generator => "limited by the generator",
        Limit::Plan => "limited by the plan",
        Limit::Nobody => "with room to spare",
        Limit::Unknown => return delivered.to_owned(),
    };
    format!("{delivered} · {limited}")
}

/// With a capital at the beginning; headlines are written to be part of a line.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

fn crossed(html: &mut Html, result: &RunResult) {
    let all = thresholds_of(result);
    let crossed = all.iter().filter(|held| !held.passed).count();
    if crossed > 0 {
        let text = match all.len() {
            1 => "The threshold was crossed.".to_owned(),
            all => format!(
                "{} of {} thresholds {} crossed.",
                count(crossed as u64),
                count(all as u64),
                if crossed == 1 { "was" } else { "were" }
            ),
        };
        html.between("<p class=\"ended\">", &text, "");
        html.raw(match is_going_on(result) {
            true => " Later requests may still change that.</p>",
            false => "</p>",
        });
    }
}

/// A finding; what the headline already says is not repeated.
fn finding(html: &mut Html, finding: &Finding, headline: &str) {
    let (open, name) = match finding.gravity {
        Gravity::Note => ("<li class=\"note\">", "Note"),
        Gravity::Caution => ("<li class=\"caution\">", "Caution"),
        Gravity::Alarm => ("<li class=\"alarm\">", "Alarm"),
    };
    html.raw(open).between("<b>", name, "</b> ");
    let advice = finding.advice.as_deref().map(sentence);
    match advice {
        // The headline says it already, right above.
        Some(advice) if finding.text == headline => {
            html.text(&advice);
        }
        Some(advice) => {
            html.text(&sentence(&finding.text));
            html.between("<span class=\"advice\">", &advice, "</span>");
        }
        None => {
            html.text(&sentence(&finding.text));
        }
    }
    html.raw("</li>");
}

/// A threshold as a page shows it.
struct Held {
    text: String,
    value: String,
    passed: bool,
}

fn thresholds_of(result: &RunResult) -> Vec<Held> {
    let of_metrics = result
        .summary
        .iter()
        .flat_map(|summary| &summary.root.metrics);
    let of_script: Vec<Held> = of_metrics
        .flat_map(|metric| {
            let key = metric.key();
            metric.thresholds.iter().map(move |threshold| Held {
                text: format!("{key}: {}", threshold.source),
                value: threshold.observed.map_or_else(nothing, |value| {
                    observed(value, &metric.definition, &threshold.source)
                }),
                passed: threshold.passed,
            })
        })
        .collect();
    if !of_script.is_empty() {
        return of_script;
    }
    let plain = result.thresholds.iter().map(|outcome| Held {
        text: outcome.threshold.clone(),
        value: outcome
            .value
            .map_or_else(nothing, |value| written(value, &outcome.threshold)),
        passed: outcome.passed,
    });
    plain.collect()
}

fn nothing() -> String {
    "no data".to_owned()
}

/// The thresholds and their results.
pub(super) fn thresholds(html: &mut Html, result: &RunResult) {
    let all = thresholds_of(result);
    if all.is_empty() {
        return;
    }
    html.heading("Thresholds", "");
    html.wide();
    html.raw("<table class=\"outcomes\"><thead><tr><th scope=\"col\">outcome</th>");
    html.raw("<th scope=\"col\">condition</th><th scope=\"col\" class=\"n\">value</th></tr></thead><tbody>");
    for held in all {
        html.raw(match held.passed {
            true => "<tr class=\"good\"><td>✓ held</td>",
            false => "<tr class=\"alarm\"><td>✗ crossed</td>",
        });
        html.between("<th scope=\"row\"><code>", &held.text, "</code></th>");
        html.between("<td class=\"n\">", &held.value, "</td></tr>");
    }
    html.raw("</tbody></table></div>");
}
