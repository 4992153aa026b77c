//! Marks on the time axis, in one list for all charts and the table.
//!
//! Besides the run's own marks these are starts of stages and scenarios, the first failure, and notes of
//! observers. Must not know how marks are drawn. Invariants: marks are in chronological order, and few, however
//! long the run.

use std::time::Duration;

use loadline_model::event::{CROSSED_MARK, Mark};
use loadline_model::observation::{self, EVICTION_NOTE, OOM_NOTE, ObserverNote, RESTART_NOTE};
use loadline_model::result::Row;
use loadline_model::units::duration_ns;
use loadline_model::{Executor, RunResult, Scenario};

use crate::units::{count, planned, rate};

/// Marks shown; of more, the last ones.
const MARKS_MAX: usize = 64;
/// Letters of a mark's words on a chart.
const LABEL_MAX: usize = 40;

/// A mark, and its words on a chart.
pub(crate) struct Shown {
    pub(crate) mark: Mark,
    pub(crate) label: String,
}

/// All marks of a run, including future ones of a running test; marks beyond the charts are not drawn.
pub(crate) fn of(result: &RunResult) -> Vec<Shown> {
    let told = result.events.iter().map(told);
    let begun = result.plan.scenarios.iter().flat_map(begun);
    let notes = result.observations.notes.iter().filter_map(noted);
    let mut all: Vec<Shown> = told.chain(begun).chain(notes).collect();
    all.extend(failures_begin(&result.series));
    all.sort_by_key(|shown| shown.mark.at_ns);
    all.split_off(all.len().saturating_sub(MARKS_MAX))
}

fn shown(at_ns: u64, kind: &str, label: &str, text: String) -> Shown {
    let is_long = label.chars().count() > LABEL_MAX;
    let short: String = label.chars().take(LABEL_MAX - 1).collect();
    Shown {
        mark: Mark {
            at_ns,
            kind: kind.to_owned(),
            text,
        },
        label: if is_long {
            short + "…"
        } else {
            label.to_owned()
        },
    }
}

fn told(mark: &Mark) -> Shown {
    let label = match mark.kind.as_str() {
        CROSSED_MARK => format!("crossed: {}", mark.text),
        kind => kind.replace('-', " "),
    };
    shown(mark.at_ns, &mark.kind, &label, mark.text.clone())
}

/// A scenario that starts later than the run, and each stage of its ramp except the first.
fn begun(scenario: &Scenario) -> Vec<Shown> {
    let mut at = scenario.start_time;
    let mut all = Vec::new();
    if !at.is_zero() {
        let label = format!("{} begins", scenario.name);
        let text = format!("scenario {} begins", scenario.name);
        all.push(shown(duration_ns(at), "scenario", &label, text));
    }
    for (place, (length, target)) in stages(&scenario.executor).into_iter().enumerate() {
        if place > 0 {
            let label = format!("→ {target}");
            let how = match length.is_zero() {
                true => "at once".to_owned(),
                false => format!("in {}", planned(length)),
            };
            let text = format!(
                "stage {} of {}: to {target} {how}",
                place + 1,
                scenario.name
            );
            all.push(shown(duration_ns(at), "stage", &label, text));
        }
        at += length;
    }
    all
}

/// The legs of a ramp: how long, and to what.
fn stages(executor: &Executor) -> Vec<(Duration, String)> {
    match executor {
        Executor::RampingVus { stages, .. } => stages
            .iter()
            .map(|stage| {
                let users = format!("{} users", count(u64::from(stage.target)));
                (stage.duration, users)
            })
            .collect(),
        Executor::RampingArrivalRate { stages, .. } => stages
            .iter()
            .map(|stage| (stage.duration, rate(stage.target.starts_per_second())))
            .collect(),
        _ => Vec::new(),
    }
}

/// The first failed request or wrong response.
fn failures_begin(rows: &[Row]) -> Option<Shown> {
    let first = rows
        .iter()
        .find(|row| row.failed > 0 || row.completed > row.good)?;
    let what = match first.failures.keys().next() {
        Some(class) => format!("the first failure: {}", class.name()),
        None if first.failed > 0 => "the first failure".to_owned(),
        None => "the first wrong response".to_owned(),
    };
    let begin = match first.failed > 0 {
        true => "failures begin",
        false => "wrong responses begin",
    };
    Some(shown(first.at_ns, "failures", begin, what))
}

/// What happened to a part of the service, according to an observer.
fn noted(note: &ObserverNote) -> Option<Shown> {
    let what = match note.kind.as_str() {
        RESTART_NOTE => "restarted",
        OOM_NOTE => "out of memory",
        EVICTION_NOTE => "evicted",
        _ => return None,
    };
    let at_ns = u64::try_from(note.at_ns).ok()?;
    let who = observation::title(&note.observer, &note.component);
    let text = format!("{who}: {}", note.text);
    Some(shown(at_ns, &note.kind, &format!("{who} {what}"), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_marked_where_it_begins() {
        let executor = Executor::RampingVus {
            start_vus: 0,
            stages: [(10, 20), (30, 20), (0, 5)]
                .map(|(seconds, target)| loadline_model::executor::VuStage {
                    duration: Duration::from_secs(seconds),
                    target,
                })
                .to_vec(),
            graceful_ramp_down: Duration::ZERO,
        };
        let told: Vec<(Duration, String)> = stages(&executor);
        assert_eq!(told[2], (Duration::ZERO, "5 users".to_owned()));
    }

    #[test]
    fn failures_begin_once() {
        let row = |at_ns, completed, good, failed| Row {
            at_ns,
            completed,
            good,
            failed,
            ..Row::default()
        };
        let rows = [row(0, 5, 5, 0), row(1, 5, 4, 0), row(2, 0, 0, 5)];
        let first = failures_begin(&rows).expect("a wrong response");
        assert_eq!(
            (first.mark.at_ns, first.mark.text.as_str()),
            (1, "the first wrong response")
        );
        assert!(failures_begin(&rows[..1]).is_none());
    }

    #[test]
    fn long_words_are_cut_on_a_chart_alone() {
        let long = "x".repeat(100);
        let mark = Mark {
            at_ns: 1,
            kind: CROSSED_MARK.to_owned(),
            text: long.clone(),
        };
        let shown = told(&mark);
        assert_eq!(shown.label.chars().count(), LABEL_MAX);
        assert_eq!(shown.mark.text, long);
    }
}
