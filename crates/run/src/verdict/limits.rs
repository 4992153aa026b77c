//! Who was in the way: the target, the network, the generator or the plan.
//!
//! Must not ask whether the load was delivered beyond what `Facts` says. Invariant: the generator
//! is suspected first, since its limits look like those of the target.

use std::time::Duration;

use loadline_model::error_class::{ErrorClass, Fault};
use loadline_model::event::{AGENT_LOST_MARK, AGENT_NOT_REPLACED_MARK, AGENT_REPLACED_MARK};
use loadline_model::result::StopReason;
use loadline_model::verdict::{Finding, Gravity, Limit};

use super::code::Code;
use super::facts::{Facts, share};
use super::resources::Seen;
use super::saturation::Knee;
use super::wording::{count, counted, duration, percent, rate};

/// Share of a core from which a worker has nothing left: the rest goes to the kernel's accounting.
const BUSY: f64 = 0.9;
/// Share of the run in which a worker must be that busy.
const BUSY_ROWS: f64 = 0.5;
/// Throttled share of the run from which the quota shows in the numbers.
const THROTTLED: f64 = 0.05;
/// Share of the workers' time spent waiting for a processor: visible, and decisive.
const STARVED: f64 = 0.1;
const STARVED_BADLY: f64 = 0.2;
/// Seconds below which a run is mostly its own beginning, in which workers read certificates, shake hands and
/// wait for each other: shares of their time say nothing of the load.
const BEGINNING_S: f64 = 0.1;
/// Share of the workers' time that sinks held them up: visible, and decisive.
const HELD_UP: f64 = 0.01;
const HELD_UP_BADLY: f64 = 0.1;
/// Lateness beyond the start window that is visible, and decisive.
const LAG_NS: u64 = 1_000_000;
const LAG_BAD_NS: u64 = 10_000_000;
/// Share of failures for want of a resource from which the generator is the limit.
const RESOURCE_FAILURES: f64 = 0.01;
/// Share of failures from which their class says who is in the way.
const FAILURES: f64 = 0.5;
/// The same where all of an open model's load was sent: nothing but failures can be missing then.
const FAILURES_OF_OFFERED: f64 = 0.1;
/// Service time within this factor of the round trip is the network's.
const ROUND_TRIPS: f64 = 2.0;
/// Round trips below this are a local network's, where no one is kept waiting by distance.
const ROUND_TRIP_MIN_S: f64 = 0.001;
/// Segments sent again per answer.
const RETRANSMITS: f64 = 0.01;
/// Linux sends a lost SYN again after one second.
const SYN_TIMEOUT_NS: u64 = 1_000_000_000;
/// Share of the virtual users' time on requests from which they are all busy.
const ALL_BUSY: f64 = 0.8;
/// An answer that takes this long on average is slow, whatever the load.
const SLOW_S: f64 = 0.5;
/// A median this far above the fastest answer, with a narrow spread, is queueing in the target: in
/// a closed loop on a saturated server all answers take about (virtual users / capacity).
const QUEUEING_FACTOR: f64 = 8.0;
const QUEUEING_SPREAD_MAX: f64 = 8.0;

/// Who it was, and what says so.
pub(super) struct Blame {
    pub(super) limit: Limit,
    pub(super) findings: Vec<Finding>,
}

/// A finding, and whether it explains a limit by itself.
struct Sign {
    decisive: bool,
    finding: Finding,
}

pub(super) fn judge(facts: &Facts<'_>, knee: Option<&Knee>, seen: &Seen) -> Blame {
    let generator = generator_signs(facts);
    let network = network_signs(facts);
    let limit = limit_of(facts, knee, seen, &generator, &network);
    let mut findings: Vec<Finding> = generator
        .into_iter()
        .chain(network)
        .map(|sign| sign.finding)
        .collect();
    findings.extend(ceiling(facts, limit));
    Blame { limit, findings }
}

fn limit_of(
    facts: &Facts<'_>,
    knee: Option<&Knee>,
    seen: &Seen,
    generator: &[Sign],
    network: &[Sign],
) -> Limit {
    let decisive = |signs: &[Sign]| signs.iter().any(|sign| sign.decisive);
    if facts.evidence.totals.stop == StopReason::Crashed || facts.all.started == 0 {
        return Limit::Unknown;
    }
    let failures = failing_side(facts);
    let delivered = facts.open && facts.missed().is_none() && knee.is_none();
    if delivered && failures.is_none() {
        // A queue takes everything in, and a target may answer that it will not; whether it is dealt with is another
        // matter.
        return if seen.decides || refused_share(facts) >= FAILURES_OF_OFFERED {
            Limit::Target
        } else {
            Limit::Nobody
        };
    }
    // A generator without the time to read answers sees timeouts, and no other failure.
    let is_of_time = facts.worst_class() == Some(ErrorClass::Timeout);
    match failures {
        Some(side) if !is_of_time => return side,
        _ if decisive(generator) => return Limit::Generator,
        Some(side) => return side,
        None => {}
    }
    if decisive(network) {
        return Limit::Network;
    }
    let limit = if facts.open {
        open_limit(facts, knee)
    } else {
        closed_limit(facts)
    };
    // Answers alone do not always tell the target from the plan; a resource that is used up does.
    match limit {
        Limit::Plan | Limit::Unknown | Limit::Target if seen.is_between => Limit::Network,
        Limit::Plan | Limit::Unknown if seen.culprit.is_some() => Limit::Target,
        limit => limit,
    }
}

/// Whose failures explain the run; `None` when too few requests failed for that.
fn failing_side(facts: &Facts<'_>) -> Option<Limit> {
    let failed = facts.counts.failed_total();
    let needed = if facts.open && facts.missed().is_none() {
        FAILURES_OF_OFFERED
    } else {
        FAILURES
    };
    if share(failed, facts.counts.started) < needed {
        return None;
    }
    facts.worst_class().map(|class| match class.fault() {
        Fault::Target => Limit::Target,
        Fault::Network => Limit::Network,
        Fault::Generator => Limit::Generator,
        Fault::Plan => Limit::Plan,
    })
}

fn open_limit(facts: &Facts<'_>, knee: Option<&Knee>) -> Limit {
    let all_in_use = facts.evidence.totals.active_vus_max >= facts.vus;
    match knee {
        Some(knee) if all_in_use && !knee.slowed => Limit::Plan,
        Some(_) => Limit::Target,
        None if !all_in_use && facts.busy_share() < ALL_BUSY => Limit::Unknown,
        None if target_is_slow(facts) => Limit::Target,
        None => Limit::Plan,
    }
}

fn closed_limit(facts: &Facts<'_>) -> Limit {
    let paced = facts
        .evidence
        .plan
        .scenarios
        .iter()
        .any(|scenario| scenario.pacing.is_some());
    match facts.busy_share() {
        busy if busy >= ALL_BUSY => Limit::Target,
        _ if paced => Limit::Nobody,
        // A ramp has fewer virtual users most of the time than at its top.
        _ if !facts.load_is_constant() => Limit::Target,
        _ => Limit::Unknown,
    }
}

/// Whether more virtual users would only lengthen the target's queue.
fn target_is_slow(facts: &Facts<'_>) -> bool {
    let time = facts.answered_time();
    let queues = time
        .quantiles(&[0.1, 0.5, 0.9])
        .zip(time.min())
        .is_some_and(|(at, min)| {
            at[1] >= QUEUEING_FACTOR * min as f64 && at[2] <= QUEUEING_SPREAD_MAX * at[0]
        });
    facts.mean_service().is_some_and(|mean| mean >= SLOW_S)
        || queues
        || refused_share(facts) > 0.01
        || share(facts.counts.failed_total(), facts.counts.started) > 0.1
}

/// The share of answers by which the target says that it cannot, or that it is asked too often.
fn refused_share(facts: &Facts<'_>) -> f64 {
    const TOO_MANY_REQUESTS: u16 = 429;
    let rows = facts.seen.statuses.rows();
    let refusals = rows.filter(|(status, _)| **status >= 500 || **status == TOO_MANY_REQUESTS);
    share(refusals.map(|(_, n)| n).sum(), facts.counts.completed)
}

/// Little's law in numbers, where it explains a shortfall.
fn ceiling(facts: &Facts<'_>, limit: Limit) -> Option<Finding> {
    facts.missed()?;
    let (asked, mean) = (facts.asked_rate()?, facts.mean_service()?);
    let most = facts.vus as f64 / mean;
    let needed = (asked * mean).ceil() as u64;
    let achieved = facts.per_second(facts.counts.completed);
    let law = format!(
        "{} / {} mean service time = {}, and {} was reached",
        counted(facts.vus, "virtual user"),
        duration(mean),
        rate(most),
        rate(achieved)
    );
    match limit {
        Limit::Target | Limit::Network => Some(Code::TargetCeiling.finding(
            Gravity::Caution,
            format!("{law}: the service time is the ceiling"),
            format!(
                "{} would need {} connections that are answered as fast, or answers {} times as \
                     fast",
                rate(asked),
                count(needed),
                count((asked / most).round() as u64)
            ),
        )),
        Limit::Plan => Some(Code::TooFewVus.finding(
            Gravity::Caution,
            format!(
                "all virtual users were busy: {law}; {} needs {}",
                rate(asked),
                count(needed)
            ),
            format!(
                "allow more virtual users ({{max-vus}} {}) and run again; if the service time grows \
                     with them, the target is the limit",
                needed + needed / 5
            ),
        )),
        _ => None,
    }
}

fn generator_signs(facts: &Facts<'_>) -> Vec<Sign> {
    let signs = [
        lost(facts),
        resource(
            facts,
            ErrorClass::FdLimit,
            Code::FdLimit,
            "for want of a file descriptor",
        ),
        resource(
            facts,
            ErrorClass::PortsExhausted,
            Code::PortsExhausted,
            "for want of a local port",
        ),
        busy(facts),
        throttled(facts),
        starved(facts),
        late(facts),
        held_up(facts),
    ];
    signs.into_iter().flatten().collect()
}

/// A part of the generator that is gone explains what was not offered, whatever else there is.
fn lost(facts: &Facts<'_>) -> Option<Sign> {
    let mut told = facts.said_of_agents(AGENT_LOST_MARK);
    if told.is_empty() {
        return None;
    }
    for kind in [AGENT_REPLACED_MARK, AGENT_NOT_REPLACED_MARK] {
        told.extend(facts.said_of_agents(kind));
    }
    let is_gone = facts.has_lost_agents();
    let begun = match facts.all.lost {
        0 => String::new(),
        lost => format!(
            "; of {} that it had begun nobody knows what became",
            counted(lost, "request")
        ),
    };
    let gravity = match is_gone {
        true => Gravity::Alarm,
        false => Gravity::Caution,
    };
    Some(Sign {
        decisive: is_gone || facts.missed().is_some(),
        finding: Code::AgentLost.finding(
            gravity,
            format!("{}{begun}", told.join("; ")),
            "look why it ended (its log, dmesg, kubectl describe pod), then run again",
        ),
    })
}

fn resource(facts: &Facts<'_>, class: ErrorClass, code: Code, why: &str) -> Option<Sign> {
    let failed = facts.failed(class);
    if failed == 0 {
        return None;
    }
    let decisive = share(failed, facts.counts.started) >= RESOURCE_FAILURES;
    let gravity = if decisive {
        Gravity::Alarm
    } else {
        Gravity::Caution
    };
    let text = format!(
        "{} requests failed {why}: the generator's limit, not the target's",
        count(failed)
    );
    Some(Sign {
        decisive,
        finding: code.finding(gravity, text, class.hint()),
    })
}

fn busy(facts: &Facts<'_>) -> Option<Sign> {
    if facts.elapsed_seconds() < BEGINNING_S {
        return None;
    }
    let busy = facts
        .rows
        .iter()
        .filter(|row| row.generator.busiest_worker >= BUSY)
        .count();
    let busy_rows = share(busy as u64, facts.rows.len() as u64);
    let available = facts.elapsed_seconds() * 1e9 * facts.workers();
    let used = if available > 0.0 {
        facts.evidence.totals.cpu_ns as f64 / available
    } else {
        0.0
    };
    // A run of less than a second has no row.
    let is_busy = if facts.rows.is_empty() {
        used >= BUSY
    } else {
        busy_rows >= BUSY_ROWS
    };
    is_busy.then(|| Sign {
        decisive: true,
        finding: Code::GeneratorBusy.finding(
            Gravity::Caution,
            match facts.rows.is_empty() {
                true => format!("the generator used {} of its processors", percent(used)),
                false => format!(
                    "a worker of the generator used over 90 % of its core in {} of \
                     the seconds",
                    percent(busy_rows)
                ),
            },
            "give the generator more cores, or a machine of its own: service times include its \
                 own delay",
        ),
    })
}

fn throttled(facts: &Facts<'_>) -> Option<Sign> {
    let throttled = facts.evidence.totals.throttled_ns? as f64 / 1e9;
    let elapsed = facts.elapsed_seconds();
    (elapsed > 0.0 && throttled / elapsed >= THROTTLED).then(|| Sign {
        decisive: true,
        finding: Code::GeneratorThrottled.finding(
            Gravity::Caution,
            format!(
                "the processor quota stopped the generator for {} of {}",
                duration(throttled),
                duration(elapsed)
            ),
            "raise the processor limit of the generator's container, or lower the load",
        ),
    })
}

fn starved(facts: &Facts<'_>) -> Option<Sign> {
    let waited: f64 = facts
        .rows
        .iter()
        .map(|row| row.generator.run_queue_ns as f64)
        .sum();
    let span: f64 = facts.rows.iter().map(|row| row.span_ns as f64).sum();
    if span < BEGINNING_S * 1e9 {
        return None;
    }
    let starved = waited / (span * facts.workers());
    (starved >= STARVED).then(|| Sign {
        decisive: starved >= STARVED_BADLY,
        finding: Code::GeneratorStarved.finding(
            Gravity::Caution,
            format!(
                "the generator's workers spent {} of their time ready but without a processor",
                percent(starved)
            ),
            "stop what else runs on the generator's machine, or move the target away from it",
        ),
    })
}

fn late(facts: &Facts<'_>) -> Option<Sign> {
    let lag = facts.metric("schedule_lag_ns")?.p99?;
    let window: Duration = facts.evidence.plan.start_window;
    let allowed = loadline_model::units::duration_ns(window)
        .saturating_mul(2)
        .saturating_add(LAG_NS);
    (lag > allowed).then(|| Sign {
        decisive: lag > allowed.max(LAG_BAD_NS),
        finding: Code::ScheduleLag.finding(
            Gravity::Caution,
            format!(
                "1 % of the starts were late by {} or more with a virtual user free (start window \
                     {})",
                duration(lag as f64 / 1e9),
                duration(window.as_secs_f64())
            ),
            "give the generator more cores or lower the rate: the lateness is its own",
        ),
    })
}

fn held_up(facts: &Facts<'_>) -> Option<Sign> {
    let available = facts.elapsed_seconds() * 1e9 * facts.workers();
    if available <= 0.0 {
        return None;
    }
    let held_up = facts.seen.back_pressure_ns as f64 / available;
    (held_up >= HELD_UP).then(|| Sign {
        decisive: held_up >= HELD_UP_BADLY,
        finding: Code::SinkSlow.finding(
            Gravity::Caution,
            format!(
                "writing samples held up the workers for {} of their time",
                percent(held_up)
            ),
            "write samples to a faster disk, or leave them out: percentiles do not need them",
        ),
    })
}

fn network_signs(facts: &Facts<'_>) -> Vec<Sign> {
    [
        distance(facts),
        retransmits(facts),
        slow_connects(facts),
        network_failures(facts),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn distance(facts: &Facts<'_>) -> Option<Sign> {
    let connections = &facts.seen.connections;
    // The fastest TCP handshake took one round trip, so it stands in where the kernel says nothing.
    let round_trip = connections
        .min_rtt
        .mean()
        .or(connections.connect.min().map(|ns| ns as f64))?
        / 1e9;
    let mean = facts.mean_service()?;
    (round_trip >= ROUND_TRIP_MIN_S && mean <= ROUND_TRIPS * round_trip).then(|| Sign {
        decisive: true,
        finding: Code::NetworkBound.finding(
            Gravity::Note,
            format!(
                "the mean service time of {} is little more than the round trip of \
                 {}",
                duration(mean),
                duration(round_trip)
            ),
            "run the generator nearer to the target to measure the target; use more connections \
                 to load it from here",
        ),
    })
}

fn retransmits(facts: &Facts<'_>) -> Option<Sign> {
    let again = facts.seen.connections.retransmits;
    let lost = share(again, facts.counts.completed);
    (again > 10 && lost > RETRANSMITS).then(|| Sign {
        decisive: lost > 10.0 * RETRANSMITS,
        finding: Code::Retransmits.finding(
            Gravity::Caution,
            format!(
                "{} segments were sent again ({} of the answers)",
                count(again),
                percent(lost)
            ),
            "look for a lossy or full link: each loss costs 200 ms or more",
        ),
    })
}

fn slow_connects(facts: &Facts<'_>) -> Option<Sign> {
    let connect = &facts.seen.connections.connect;
    let (fastest, slowest) = (connect.min()?, connect.max()?);
    (slowest >= SYN_TIMEOUT_NS && fastest < SYN_TIMEOUT_NS / 3).then(|| Sign {
        decisive: false,
        finding: Code::SlowConnects.finding(
            Gravity::Caution,
            format!(
                "connecting took up to {}, at best {}: a SYN was lost and sent again",
                duration(slowest as f64 / 1e9),
                duration(fastest as f64 / 1e9)
            ),
            "look for a full accept queue on the target (somaxconn, backlog) or a lossy link",
        ),
    })
}

fn network_failures(facts: &Facts<'_>) -> Option<Sign> {
    let lost: u64 = (ErrorClass::ALL.iter())
        .filter(|class| class.fault() == Fault::Network)
        .map(|class| facts.failed(*class))
        .sum();
    let worst = facts
        .worst_class()
        .filter(|class| class.fault() == Fault::Network)?;
    (share(lost, facts.counts.started) >= 0.1).then(|| Sign {
        decisive: true,
        finding: Code::NetworkFailures.finding(
            Gravity::Alarm,
            format!(
                "{} requests failed between here and the target, most of them: {}",
                count(lost),
                worst.name()
            ),
            worst.hint(),
        ),
    })
}
