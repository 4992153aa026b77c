//! May the numbers be believed: length, spread, number of samples, and the ruler itself.
//!
//! Must not ask what the target did. Invariant: a long, even run gets one note at most from here.

use loadline_model::event::{AGENT_RETURNED_MARK, COORDINATOR_REPLACED_MARK};
use loadline_model::result::StopReason;
use loadline_model::verdict::{Finding, Gravity};

use super::code::Code;
use super::facts::{Facts, row_seconds};
use super::names;
use super::stats;
use super::wording::{count, counted, duration, percent, rate};

/// Runs shorter than this measure connecting, caches and the scheduler as much as the target.
const SECONDS_MIN: f64 = 3.0;
/// A margin above this makes the rate a guess.
const RATE_ERROR_MAX: f64 = 0.1;
/// A p99 rests on a hundredth of the samples: below the first number on fewer than ten, below the
/// second on not even one.
const SAMPLES_NOTE: u64 = 1_000;
const SAMPLES_CAUTION: u64 = 100;
/// A spike is this many times the median, in at least 1 % of the answers,
const SPIKE_FACTOR: f64 = 10.0;
/// while nine of ten answers stay within this many,
const BODY_FACTOR: f64 = 3.0;
/// and it is this much above.
const SPIKE_NS: f64 = 1_000_000.0;

/// Half width of the 95 % confidence interval of the mean rate, as a share of it.
pub(super) fn rate_error(facts: &Facts<'_>) -> Option<f64> {
    if !facts.load_is_constant() {
        return None;
    }
    let rates: Vec<f64> = facts
        .rows
        .iter()
        .map(|row| row.completed as f64 / row_seconds(row))
        .collect();
    stats::relative_half_width(&rates)
}

pub(super) fn findings(facts: &Facts<'_>, rate_error: Option<f64>) -> Vec<Finding> {
    let findings = [
        not_conserved(facts),
        coordinator_replaced(facts),
        agents_returned(facts),
        too_short(facts),
        uncertain(facts, rate_error),
        few_samples(facts),
        spikes(facts),
        lag_exceeds_latency(facts),
    ];
    findings.into_iter().flatten().collect()
}

/// The note that every run deserves, unless there is already something to read in that tone.
pub(super) fn add_one_run(facts: &Facts<'_>, rate_error: Option<f64>, findings: &mut Vec<Finding>) {
    let has_note = findings
        .iter()
        .any(|finding| finding.gravity == Gravity::Note);
    if has_note || facts.counts.completed == 0 || Code::TooShort.is_among(findings) {
        return;
    }
    let margin = rate_error.map_or_else(String::new, |error| {
        format!(" (the rate is good to ±{} within it)", percent(error))
    });
    findings.push(Code::OneRun.finding(
        Gravity::Note,
        format!("this is one run{margin}: it says nothing about how runs differ"),
        "repeat it three times or more before comparing",
    ));
}

fn coordinator_replaced(facts: &Facts<'_>) -> Option<Finding> {
    let said = facts.said_of_agents(COORDINATOR_REPLACED_MARK);
    (!said.is_empty()).then(|| {
        Code::CoordinatorReplaced.finding(
            Gravity::Caution,
            said.join("; "),
            "look why the first one ended (its log, dmesg, kubectl describe pod)",
        )
    })
}

fn agents_returned(facts: &Facts<'_>) -> Option<Finding> {
    let said = facts.said_of_agents(AGENT_RETURNED_MARK);
    (!said.is_empty()).then(|| {
        Code::AgentReturned.finding(
            Gravity::Note,
            format!("{}, and all of it is counted", said.join("; ")),
            "look at the network between coordinator and agents",
        )
    })
}

fn not_conserved(facts: &Facts<'_>) -> Option<Finding> {
    (!facts.all.is_conserved()).then(|| {
        let fates = facts.all.completed + facts.all.failed_total() + facts.all.interrupted;
        Code::NotConserved.finding(
            Gravity::Alarm,
            format!(
                "{} requests were started and {} met a fate",
                count(facts.all.started),
                count(fates)
            ),
            "this is a defect of loadline: please report it with the JSON result",
        )
    })
}

fn too_short(facts: &Facts<'_>) -> Option<Finding> {
    let ended = facts.evidence.totals.stop == StopReason::Finished;
    let short = facts.seconds < SECONDS_MIN && facts.counts.completed > 0;
    (ended && short).then(|| {
        Code::TooShort.finding(
            Gravity::Caution,
            format!(
                "{} in {} {} too short a run: {} may be off by any factor, and no margin can be \
                     given",
                counted(facts.counts.completed, "request"),
                duration(facts.seconds),
                are(facts.counts.completed),
                rate(facts.per_second(facts.counts.completed))
            ),
            "run for 30 s or more: {duration} 30s",
        )
    })
}

fn uncertain(facts: &Facts<'_>, rate_error: Option<f64>) -> Option<Finding> {
    let error = rate_error.filter(|error| *error > RATE_ERROR_MAX)?;
    Some(Code::RateUncertain.finding(
        Gravity::Caution,
        format!(
            "the rate of {} is known to ±{} only (95 %): it varied much from second to second",
            rate(facts.per_second(facts.counts.completed)),
            percent(error)
        ),
        "look at the throughput over time, and run longer",
    ))
}

fn few_samples(facts: &Facts<'_>) -> Option<Finding> {
    let samples = facts.service().map(|metric| metric.count)?;
    let gravity = match samples {
        few if few < SAMPLES_CAUTION => Gravity::Caution,
        few if few < SAMPLES_NOTE => Gravity::Note,
        _ => return None,
    };
    let text = match samples / 100 {
        0 => format!(
            "{} {} too few for a 99th percentile: it is the slowest one",
            counted(samples, "sample"),
            are(samples)
        ),
        beyond => format!(
            "of {} only {beyond} {} beyond the 99th percentile",
            counted(samples, "sample"),
            if beyond == 1 { "lies" } else { "lie" }
        ),
    };
    Some(Code::FewSamples.finding(
        gravity,
        text,
        "gather 1,000 samples or more, or quote the median",
    ))
}

fn are(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

fn spikes(facts: &Facts<'_>) -> Option<Finding> {
    let time = facts.answered_time();
    if time.count() < SAMPLES_NOTE {
        return None;
    }
    let [p50, p90, p99] = time.quantiles(&[0.5, 0.9, 0.99])?.try_into().ok()?;
    let spiked = p90 <= BODY_FACTOR * p50 && p99 >= SPIKE_FACTOR * p50 && p99 - p50 > SPIKE_NS;
    (spiked && !names::usually_take(facts, p99 / 1e9 / 2.0)).then(|| {
        Code::Spikes.finding(
            Gravity::Note,
            format!(
                "two kinds of answers: nine of ten within {}, but one of a hundred took {} or more",
                duration(p90 / 1e9),
                duration(p99 / 1e9)
            ),
            "look for pauses, timers (200 ms, 1 s: a lost packet) or a slow path; a mean hides \
                 them",
        )
    })
}

fn lag_exceeds_latency(facts: &Facts<'_>) -> Option<Finding> {
    let lag = facts.metric("schedule_lag_ns")?.p99?;
    let median = facts.service()?.p50?;
    let window = loadline_model::units::duration_ns(facts.evidence.plan.start_window);
    (lag >= median).then(|| {
        let planned = lag <= window.saturating_mul(2);
        let gravity = if planned {
            Gravity::Note
        } else {
            Gravity::Caution
        };
        Code::LagExceedsLatency.finding(
            gravity,
            format!(
                "starts were late by up to {} (p99), as much as half of the answers took ({}): \
                     response times hold the generator's own delay",
                duration(lag as f64 / 1e9),
                duration(median as f64 / 1e9)
            ),
            if planned {
                "[set a smaller {start-window}, or ]quote service times"
            } else {
                "relieve \
                 the generator, or quote service times"
            },
        )
    })
}
