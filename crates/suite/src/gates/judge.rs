//! Each gate as a function of results.
//!
//! Must not know rows. Invariant: every judgement contains the numbers that it is based on.

use std::sync::Arc;

use loadline_metric::Aggregated;
use loadline_model::RunResult;
use loadline_model::audit::AuditedOutput;
use loadline_model::observation::{EVICTION_NOTE, OOM_NOTE, RESTART_NOTE};
use loadline_model::rates::steady_rows;
use loadline_model::verdict::{Delivery, Limit};

use super::shapes::{Comparison, compare};
use super::{Finding, Gate, GateOutcome, GateSetting, Gates};
use crate::statistics;

/// Minimum seconds of steady load for a variation.
const SECONDS_MIN: usize = 10;

/// The data for judging a run.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// Its result.
    pub result: &'a RunResult,
    /// Results of the row's earlier repetitions.
    pub others: &'a [Arc<RunResult>],
    /// Number of repetitions that the row asks for.
    pub repeat: u32,
    /// What the receivers of its outputs have of it, as far as they were audited.
    pub audits: &'a [AuditedOutput],
}

/// Judges a run by its gates.
#[must_use]
pub fn judge(gates: &Gates, evidence: Evidence) -> Vec<GateOutcome> {
    let one = |setting: &GateSetting| {
        let judged = judge_one(setting, evidence);
        let (finding, text) = match judged {
            Judged::Passed(text) => (Finding::Passed, text),
            Judged::Failed(text) => (Finding::Failed, text),
            Judged::Cannot(text) if setting.asked => (Finding::NotJudged, text),
            Judged::Cannot(text) | Judged::Later(text) => (Finding::Note, text),
        };
        GateOutcome {
            gate: setting.gate,
            finding,
            text,
        }
    };
    gates.0.iter().map(one).collect()
}

enum Judged {
    Passed(String),
    Failed(String),
    Cannot(String),
    /// Later repetitions are judged against this one.
    Later(String),
}

impl Judged {
    fn by(passed: bool, text: String) -> Judged {
        if passed {
            Judged::Passed(text)
        } else {
            Judged::Failed(text)
        }
    }
}

fn judge_one(setting: &GateSetting, evidence: Evidence) -> Judged {
    let limit = setting.limit;
    let result = evidence.result;
    match setting.gate {
        Gate::Checks => checks(limit, result),
        Gate::Thresholds => thresholds(result),
        Gate::Goodput => goodput(limit, result),
        Gate::Shapes => shapes(limit, evidence),
        Gate::Delivered => delivered(result),
        Gate::Restarts => restarted(limit, result),
        Gate::Generator => generator(result),
        Gate::Outputs => outputs(evidence),
        Gate::Steady => steady(limit, result),
    }
}

fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    let short = text.trim_end_matches('0').trim_end_matches('.');
    // What is not all must not be rounded to all.
    if short == "100" && share < 1.0 {
        return "99.99…%".to_owned();
    }
    format!("{short}%")
}

/// Samples of a plan that failed, according to its assertions.
#[must_use]
pub fn failed_samples(result: &RunResult) -> u64 {
    let summary = result.summary.iter();
    let metrics = summary.flat_map(|summary| &summary.root.metrics);
    let failed = metrics
        .filter(|metric| !metric.is_sub_metric())
        .filter(|metric| {
            matches!(
                &*metric.definition.name,
                "http_req_failed" | "sample_failed"
            )
        });
    failed
        .map(|metric| match &metric.values {
            Aggregated::Rate(rate) => rate.nonzero(),
            _ => 0,
        })
        .sum()
}

fn checks(limit: f64, result: &RunResult) -> Judged {
    let Some((held, all)) = result.checks_passed() else {
        return Judged::Cannot("the run made no checks".to_owned());
    };
    let share = held as f64 / all as f64;
    let text = format!(
        "{} of {all} checks passed ({}, required {})",
        held,
        percent(share),
        percent(limit)
    );
    Judged::by(share >= limit, text)
}

fn thresholds(result: &RunResult) -> Judged {
    let crossed = crossed(result);
    let all = result.thresholds.len();
    match (all, crossed.first()) {
        (0, _) => Judged::Cannot("the run has no thresholds".to_owned()),
        (all, None) => Judged::Passed(format!("all {all} thresholds passed")),
        (_, Some(first)) if crossed.len() == 1 => Judged::Failed(format!("{first} was crossed")),
        (all, Some(_)) => Judged::Failed(format!(
            "{} of {all} were crossed: {}",
            crossed.len(),
            crossed.join("; ")
        )),
    }
}

fn crossed(result: &RunResult) -> Vec<String> {
    let crossed = result.thresholds.iter().filter(|outcome| !outcome.passed);
    crossed.map(|outcome| outcome.threshold.clone()).collect()
}

fn goodput(limit: f64, result: &RunResult) -> Judged {
    let counts = &result.totals.seen.counts;
    let all = counts.outcomes().done();
    if counts.started == 0 && result.summary.is_some() {
        return Judged::Cannot("the script or plan sent no request".to_owned());
    }
    if all == 0 {
        return Judged::Failed("no request was answered".to_owned());
    }
    let share = counts.good as f64 / all as f64;
    let (good, wanted) = (counts.good, percent(limit));
    let text = format!(
        "{good} of {all} requests got a good response ({}, required {wanted})",
        percent(share)
    );
    Judged::by(share >= limit, text)
}

fn shapes(limit: f64, evidence: Evidence) -> Judged {
    let Evidence {
        result,
        others,
        repeat,
        ..
    } = evidence;
    let mut worst: Option<Comparison> = None;
    for other in others {
        let found = compare(result, other);
        if worst.as_ref().is_none_or(|worst| worst.share < found.share) {
            worst = Some(found);
        }
    }
    let Some(Comparison { share, example }) = worst else {
        if repeat > 1 {
            return Judged::Later("later repetitions are compared with this one".to_owned());
        }
        return Judged::Cannot("there is no other repetition to compare responses with".to_owned());
    };
    let others = others.len();
    let text = match example {
        Some(example) => format!(
            "{} of the responses look unlike those of the {others} repetitions before ({example}; allowed {})",
            percent(share),
            percent(limit)
        ),
        None => format!("responses look like those of the {others} repetitions before"),
    };
    Judged::by(share <= limit, text)
}

fn delivered(result: &RunResult) -> Judged {
    let headline = result.verdict.headline.clone();
    match result.verdict.delivery {
        Delivery::Delivered => Judged::Passed(headline),
        Delivery::AsFastAsPossible => Judged::Passed("no particular load was offered".to_owned()),
        Delivery::FellShort => Judged::Failed(headline),
        Delivery::Unfinished => Judged::Cannot("the run ended before it could be said".to_owned()),
    }
}

/// Restarts, OOM kills and evictions observed during the load; `None` without observers.
#[must_use]
pub fn restarts(result: &RunResult) -> Option<Vec<&str>> {
    if result.observations.is_empty() {
        return None;
    }
    let kinds = [RESTART_NOTE, OOM_NOTE, EVICTION_NOTE];
    let notes = result.observations.notes.iter();
    let during = notes.filter(|note| note.at_ns >= 0 && kinds.contains(&note.kind.as_str()));
    Some(during.map(|note| note.text.as_str()).collect())
}

fn restarted(limit: f64, result: &RunResult) -> Judged {
    let Some(seen) = restarts(result) else {
        return Judged::Cannot("nothing observed the target".to_owned());
    };
    let text = match seen.first() {
        None => "observers saw no restart".to_owned(),
        Some(first) => format!("observers saw {} restarts or kills: {first}", seen.len()),
    };
    Judged::by(seen.len() as f64 <= limit, text)
}

fn generator(result: &RunResult) -> Judged {
    match result.verdict.limit {
        Limit::Generator => Judged::Failed(format!(
            "the generator limited the run: {}",
            result.verdict.headline
        )),
        Limit::Unknown => Judged::Cannot("what limited the run is not known".to_owned()),
        _ => Judged::Passed("the generator did not limit the run".to_owned()),
    }
}

fn outputs(evidence: Evidence) -> Judged {
    let mut audits = evidence.audits.iter();
    let wrong = audits.clone().find(|audited| !audited.audit.agrees());
    match wrong.or_else(|| audits.next()) {
        None => Judged::Cannot("no output was audited".to_owned()),
        Some(AuditedOutput { output, audit }) => {
            Judged::by(audit.agrees(), format!("{output}: {audit}"))
        }
    }
}

/// Standard deviation of completed requests per second, relative to the mean, in the steady state; `None` if that has
/// fewer than ten whole seconds.
#[must_use]
pub fn throughput_variation(result: &RunResult) -> Option<f64> {
    let rows = steady_rows(&result.plan, &result.series);
    let rates: Vec<f64> = rows
        .iter()
        .filter_map(|row| row.per_second(row.completed))
        .collect();
    if rates.len() < SECONDS_MIN {
        return None;
    }
    let mean = statistics::mean(&rates);
    let variance = statistics::variance_of(&rates)?;
    (mean > 0.0).then(|| variance.sqrt() / mean)
}

fn steady(limit: f64, result: &RunResult) -> Judged {
    let Some(variation) = throughput_variation(result) else {
        return Judged::Cannot(
            "the load was not held for long enough to tell how steady it was".to_owned(),
        );
    };
    let text = format!(
        "throughput varied by {} from second to second (allowed {})",
        percent(variation),
        percent(limit)
    );
    Judged::by(variation <= limit, text)
}
