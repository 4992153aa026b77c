//! Whether the generator's process was stopped, or hardly ran: for long at once, or again and again.
//!
//! Must not ask what the target did meanwhile. Invariant: waiting for outputs, and for a CPU, is no stop.

use loadline_model::result::Row;
use loadline_model::verdict::{Finding, Gravity};

use super::code::Code;
use super::facts::Facts;
use super::signs;
use super::weights;
use super::wording::{duration, percent};

/// Nanoseconds from which a stop is reported.
const FROZEN_NS: u64 = 500_000_000;
const ADVICE: &str = "look for what stopped it: a machine or container that was paused or had no CPU free, a signal, a debugger; run again";

/// Whether the generator stalled, or hardly got a CPU, for so long that one start in a hundred was late by it, and by more
/// than a response takes, although a virtual user was free.
pub(super) fn was_frozen(facts: &Facts<'_>) -> bool {
    /// Share of the time in which something stopped the workers, and how late that makes starts.
    const MOSTLY_STOPPED: f64 = 0.4;
    const LATE_NS: u64 = 20_000_000;
    let lag = facts.metric("schedule_lag_ns").and_then(|lag| lag.p99);
    let mean = facts.mean_service().unwrap_or(0.0);
    let stopped = weights::stopped(facts).max(facts.stalled_share());
    let hardly_ran = weights::hardly_has_a_cpu(facts) || stopped >= MOSTLY_STOPPED;
    let least = if hardly_ran { LATE_NS } else { FROZEN_NS };
    lag.is_some_and(|lag| lag >= least && lag as f64 / 1e9 >= mean)
}

/// Whether it did not run for about so many nanoseconds at once.
pub(super) fn was_stopped_for(facts: &Facts<'_>, ns: u64) -> bool {
    const ABOUT: f64 = 0.8;
    let stops = facts.evidence.series.iter();
    let longest = stops.map(|row| row.generator.stalled_ns).max();
    ns >= FROZEN_NS && longest.is_some_and(|longest| longest as f64 >= ABOUT * ns as f64)
}

/// Stops that are long, or that take much of the time.
pub(super) fn finding(facts: &Facts<'_>) -> Option<Finding> {
    long_stops(facts).or_else(|| short_stops(facts))
}

/// The process was due to run and did not for a long time: it, or its machine, was stopped.
fn long_stops(facts: &Facts<'_>) -> Option<Finding> {
    // What waits for its own outputs was stopped by nobody.
    let outputs = facts.seen.back_pressure_ns;
    let stops = facts.evidence.series.iter().filter(|row| {
        let stalled = row.generator.stalled_ns;
        stalled >= FROZEN_NS && stalled > outputs
    });
    let stops: Vec<&Row> = stops.collect();
    let longest = stops.iter().max_by_key(|row| row.generator.stalled_ns)?;
    let seconds = |ns: u64| duration(ns as f64 / 1e9);
    let at = match longest.at_ns {
        0 => "the start".to_owned(),
        ns => format!("about {}", seconds(ns)),
    };
    let all: u64 = stops.iter().map(|row| row.generator.stalled_ns).sum();
    let among = match stops.len() {
        1 => String::new(),
        many => format!(", the longest of {many} stops ({} in all)", seconds(all)),
    };
    Some(Code::GeneratorStopped.finding(
        Gravity::Caution,
        format!(
            "the generator did not run for {} at {at}{among}: ignore the figures of that time, the target did not cause them",
            seconds(longest.generator.stalled_ns)
        ),
        ADVICE,
    ))
}

/// Many short stops, as by a tool that limits a process's CPU use with signals.
fn short_stops(facts: &Facts<'_>) -> Option<Finding> {
    let part = took_much(facts)?;
    let rows = facts.rows.iter();
    let longest = rows.map(|row| row.generator.stalled_ns).max()?;
    Some(Code::GeneratorStopped.finding(
        Gravity::Caution,
        format!(
            "the generator did not run for {} of the time, at most {} at once: something stopped it again and again",
            percent(part),
            duration(longest as f64 / 1e9)
        ),
        ADVICE,
    ))
}

/// The share of the time that stops took, if it is large; `None` for those of a quota, which are reported as such.
pub(super) fn took_much(facts: &Facts<'_>) -> Option<f64> {
    const MUCH: f64 = 0.2;
    let all: u64 = facts.rows.iter().map(|row| row.generator.stalls_ns).sum();
    let part = all as f64 / 1e9 / facts.elapsed_seconds();
    (part >= MUCH && signs::throttled(facts).is_none()).then_some(part)
}
