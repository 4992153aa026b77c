//! Signs that the generator or the network affects the figures, each as a finding with its numbers. Connection
//! setup is one of them.
//!
//! Must not weigh one side against another; `limits` does that. Invariant: a sign reports what was measured,
//! whoever the limit is.

use std::time::Duration;

use loadline_model::error_class::{ErrorClass, Fault};
use loadline_model::event::{AGENT_LOST_MARK, AGENT_NOT_REPLACED_MARK, AGENT_REPLACED_MARK};
use loadline_model::units;
use loadline_model::verdict::{Finding, Gravity};

use super::absences;
use super::code::Code;
use super::computing::{self, Computing};
use super::facts::{Facts, share};
use super::link;
use super::losses;
use super::path::{self, NEW_CONNECTIONS, SYN_TIMEOUT_NS};
use super::stops;
use super::weights;
use super::wording::{count, counted, duration, percent, some_of};

/// Share of the workers' time spent waiting for a CPU from which it is visible.
const STARVED: f64 = 0.1;
/// Throttled share of the run from which the quota is visible in the numbers.
const THROTTLED: f64 = 0.05;
/// Share of the workers' time that sinks delayed them from which it is visible.
const HELD_UP: f64 = 0.01;
/// Lateness beyond the start window that is visible.
const LAG_NS: u64 = 1_000_000;
/// Share of the median service time from which lateness is visible in comparison.
const LAG_BESIDE: f64 = 0.25;
/// Lateness that is reported however long responses take.
const LAG_LONG_NS: u64 = 10_000_000;
/// Share of the requests that failed because the generator ran out of a resource from which it is the limit.
const RESOURCE_FAILURES: f64 = 0.01;
/// Retransmitted segments per response from which they are reported.
const RETRANSMITS: f64 = 0.01;
/// Share of the time for connection setup, or for name lookups, from which it is reported.
const HANDSHAKES: f64 = 0.3;
const NAMES: f64 = 0.3;
/// How long the kernel delays acknowledgements, and the share of the time from which waiting for them is
/// reported.
const DELAYED_ACK_S: std::ops::Range<f64> = 0.036..0.06;
const DELAYED_ACK: f64 = 0.3;
/// Share of the requests that timed out from which their acknowledgements are checked.
const GIVEN_UP: f64 = 0.01;
/// Share of the requests that failed on the network path from which these failures are reported.
const FAILURES_ON_THE_WAY: f64 = 0.1;

/// All signs.
pub(super) fn findings(facts: &Facts<'_>) -> Vec<Finding> {
    let signs = [
        lost(facts),
        resource(
            facts,
            ErrorClass::FdLimit,
            Code::FdLimit,
            "because the process ran out of file descriptors",
        ),
        resource(
            facts,
            ErrorClass::PortsExhausted,
            Code::PortsExhausted,
            "because the machine ran out of local ports",
        ),
        busy(facts),
        throttled(facts),
        starved(facts),
        stops::finding(facts),
        late(facts),
        held_up(facts),
        distance(facts),
        link(facts),
        retransmits(facts),
        gaps(facts),
        lost_on_the_way(facts),
        delayed_ack(facts),
        slow_connects(facts),
        handshakes(facts),
        slow_names(facts),
        network_failures(facts),
    ];
    signs.into_iter().flatten().collect()
}

/// Whether part of the load cannot have been offered at all, whatever the target does.
pub(super) fn generator_is_broken(facts: &Facts<'_>) -> bool {
    let was_lost = !facts.said_by_marks(AGENT_LOST_MARK).is_empty();
    let is_missed = facts.has_lost_agents() || was_lost && facts.missed().is_some();
    is_missed && absences::explain_missed(facts)
        || is_short_of(facts, ErrorClass::FdLimit)
        || is_short_of(facts, ErrorClass::PortsExhausted)
}

fn is_short_of(facts: &Facts<'_>, class: ErrorClass) -> bool {
    share(facts.failed(class), facts.counts.started) >= RESOURCE_FAILURES
}

/// Whether a finding tells how late starts were although a virtual user was free.
pub(super) fn tells_lateness(facts: &Facts<'_>) -> bool {
    late(facts).is_some()
}

/// Whether starts were late although a virtual user was free.
pub(super) fn is_late(facts: &Facts<'_>) -> bool {
    lateness_ns(facts).is_some()
}

/// A lost part of the generator explains missing load, whatever other causes there are.
fn lost(facts: &Facts<'_>) -> Option<Finding> {
    let kinds = [
        AGENT_LOST_MARK,
        AGENT_REPLACED_MARK,
        AGENT_NOT_REPLACED_MARK,
    ];
    let told = kinds.map(|kind| some_of(&facts.said_by_marks(kind)));
    let told: Vec<String> = told.into_iter().filter(|said| !said.is_empty()).collect();
    let who = match facts.said_by_marks(AGENT_LOST_MARK).len() {
        0 => return None,
        1 => "it",
        _ => "they",
    };
    let begun = match facts.all.lost {
        0 => String::new(),
        lost => format!(
            "; the outcome of {} that {who} had started is unknown",
            counted(lost, "request")
        ),
    };
    let gravity = match facts.has_lost_agents() {
        true => Gravity::Alarm,
        false => Gravity::Caution,
    };
    Some(Code::AgentLost.finding(
        gravity,
        format!("{}{begun}", told.join("; ")),
        "find out why it ended (its log, dmesg, kubectl describe pod), then run again",
    ))
}

fn resource(facts: &Facts<'_>, class: ErrorClass, code: Code, why: &str) -> Option<Finding> {
    let failed = facts.failed(class);
    if failed == 0 {
        return None;
    }
    let gravity = if is_short_of(facts, class) {
        Gravity::Alarm
    } else {
        Gravity::Caution
    };
    let text = format!(
        "{} requests failed {why}: the generator's limit, not the target's",
        count(failed)
    );
    Some(code.finding(gravity, text, class.hint()))
}

fn busy(facts: &Facts<'_>) -> Option<Finding> {
    let busy = weights::exhausted(facts).map(|busy| match facts.rows.is_empty() {
        true => format!("the generator used {} of its CPUs", percent(busy)),
        false => format!(
            "a worker of the generator used over 90 % of the CPU time it could get in {} of the seconds",
            percent(busy)
        ),
    });
    let computing = computing::of_script(facts);
    let own = computing.map(|Computing { each_s, part, of_users }| {
        format!(
            "{} took {} of the workers' CPU time, {} for each iteration, and {} of the virtual users' time",
            match facts.is_script() {
                true => "the script itself",
                false => facts.own_work_words(),
            },
            percent(part),
            duration(each_s),
            percent(of_users)
        )
    });
    let text: Vec<String> = busy.into_iter().chain(own).collect();
    let advice = match computing {
        Some(_) if !facts.is_script() => {
            "let its scripts, extractors and assertions compute less in each iteration, or give the generator more cores"
        }
        Some(_) => {
            "let the script compute less in each iteration (parsing, hashing, loops), or give the generator more cores"
        }
        None => {
            "give the generator more cores, or its own machine: service times include its delay"
        }
    };
    (!text.is_empty())
        .then(|| Code::GeneratorBusy.finding(Gravity::Caution, text.join("; "), advice))
}

/// Whether the generator itself stood still, or was throttled.
pub(super) fn was_stopped(facts: &Facts<'_>) -> bool {
    throttled(facts).is_some() || stops::finding(facts).is_some()
}

pub(super) fn throttled(facts: &Facts<'_>) -> Option<Finding> {
    let elapsed = facts.elapsed_seconds();
    // The kernel sums the times of all CPUs.
    let throttled = (facts.evidence.totals.throttled_ns? as f64 / 1e9).min(elapsed);
    (elapsed > 0.0 && throttled / elapsed >= THROTTLED).then(|| {
        Code::GeneratorThrottled.finding(
            Gravity::Caution,
            format!(
                "the CPU quota throttled the generator for {} of {}",
                duration(throttled),
                duration(elapsed)
            ),
            "raise the CPU limit of the generator's container, or lower the load",
        )
    })
}

/// Whether it is reported that the generator had no CPU when it wanted to run.
pub(super) fn lacks_cpu(facts: &Facts<'_>) -> bool {
    starved(facts).is_some() || throttled(facts).is_some()
}

fn starved(facts: &Facts<'_>) -> Option<Finding> {
    // A quota that stops the workers also keeps them waiting for CPUs; it is reported separately.
    let starved = weights::starved(facts)? - weights::stopped(facts);
    (starved >= STARVED).then(|| {
        Code::GeneratorStarved.finding(
            Gravity::Caution,
            format!(
                "the generator's workers spent {} of their time waiting for a CPU",
                percent(starved)
            ),
            "stop other processes on the generator's machine, or move the target to another machine",
        )
    })
}

/// How late the latest hundredth of the starts was, in nanoseconds, if more than the plan allows.
fn lateness_ns(facts: &Facts<'_>) -> Option<u64> {
    let lag = facts.metric("schedule_lag_ns")?.p99?;
    let window = units::duration_ns(facts.evidence.plan.start_window);
    let allowed = window.saturating_mul(2).saturating_add(LAG_NS);
    (lag > allowed).then_some(lag)
}

fn late(facts: &Facts<'_>) -> Option<Finding> {
    let lag = lateness_ns(facts)?;
    let window: Duration = facts.evidence.plan.start_window;
    let median = facts.service().and_then(|time| time.p50).unwrap_or(0);
    let shows = lag >= LAG_LONG_NS || lag as f64 >= LAG_BESIDE * median as f64;
    shows.then(|| {
        Code::ScheduleLag.finding(
            Gravity::Caution,
            format!(
                "1 % of the requests started at least {} late, although a VU was free (start window {})",
                duration(lag as f64 / 1e9),
                duration(window.as_secs_f64())
            ),
            match stops::was_stopped_for(facts, lag) {
                true => "find out what stopped the generator: that caused this delay",
                false => "give the generator more cores, or lower the rate: the generator caused this delay",
            },
        )
    })
}

fn held_up(facts: &Facts<'_>) -> Option<Finding> {
    let held_up = weights::held_up(facts);
    (held_up >= HELD_UP).then(|| {
        Code::SinkSlow.finding(
            Gravity::Caution,
            format!(
                "writing samples and log lines held up the workers for {} of their time",
                percent(held_up.min(1.0))
            ),
            "write to a faster disk, log less, or leave samples out: percentiles do not need them",
        )
    })
}

fn distance(facts: &Facts<'_>) -> Option<Finding> {
    let round_trip = path::round_trip(facts)?;
    let mean = facts.mean_service()?;
    // If the path changed, the round trip at the end is longer than the average.
    if round_trip > mean {
        return longer_way(facts, round_trip);
    }
    let is_most = mean <= 2.0 * round_trip;
    is_most.then(|| {
        Code::NetworkBound.finding(
            Gravity::Note,
            format!(
                "of the mean service time of {}, the round trip takes {}",
                duration(mean),
                duration(round_trip)
            ),
            match facts.open && facts.missed().is_none()
                || weights::exhausted(facts).is_some()
                || weights::uses_quota_up(facts)
                || link::link(facts).is_some()
            {
                true => "run the generator nearer to the target to measure the target",
                false => "run the generator nearer to the target to measure the target; use more connections to load it from here",
            },
        )
    })
}

/// A round trip that is much longer at the end of connections than the shortest one.
fn longer_way(facts: &Facts<'_>, round_trip: f64) -> Option<Finding> {
    const LONGER: f64 = 2.0;
    let shortest = facts.seen.connections.min_rtt.mean()? / 1e9;
    (round_trip >= LONGER * shortest).then(|| {
        Code::NetworkBound.finding(
            Gravity::Note,
            format!(
                "the round trip grew from {} to {}",
                duration(shortest),
                duration(round_trip)
            ),
            "look for a full link where packets queue, or for another route",
        )
    })
}

fn link(facts: &Facts<'_>) -> Option<Finding> {
    let link = link::link(facts)?;
    Some(Code::LinkFull.finding(
        Gravity::Caution,
        format!(
            "{:.2} MB/s were transferred, which took {} of the time of a request",
            link.bytes_per_second / 1e6,
            percent(link.moving)
        ),
        "look for a full link or a bandwidth limit between here and the target; to load the target, transfer less per request",
    ))
}

/// Whether there were many TCP retransmits.
pub(super) fn loses_segments(facts: &Facts<'_>) -> bool {
    retransmits(facts).is_some() || gaps(facts).is_some()
}

fn retransmits(facts: &Facts<'_>) -> Option<Finding> {
    let again = losses::lost_segments(facts);
    let lost = share(again, facts.counts.completed);
    let about = match losses::connections_per_sample(facts) > 1.0 {
        true => "about ",
        false => "",
    };
    (again > 10 && lost > RETRANSMITS).then(|| {
        Code::Retransmits.finding(
            Gravity::Caution,
            format!(
                "{about}{} TCP retransmits ({})",
                count(again),
                match lost > 1.0 {
                    true => format!("{lost:.1} per response"),
                    false => format!("{} of the responses", percent(lost)),
                }
            ),
            "look for a lossy or full link: each loss costs 200 ms or more",
        )
    })
}

/// Responses of which parts were lost, and retransmitted by the target.
fn gaps(facts: &Facts<'_>) -> Option<Finding> {
    const SHARE: f64 = 0.1;
    let is_told = lost_on_the_way(facts).is_some();
    let each = losses::gaps_each(facts).filter(|_| !is_told)?;
    let receiving = facts.seen.phases.receiving.mean()? / 1e9;
    let part = receiving / weights::mean_time(facts)?;
    let (what, advice) = match losses::are_overtaken(facts, each) {
        true => (
            "parts of responses overtook others",
            "look for a path that reorders packets: several links, or a queue for each of several CPUs",
        ),
        false => (
            "parts of responses were lost and retransmitted, or overtaken",
            "look for a lossy or full link, or a bandwidth limit that drops packets, between the target and here",
        ),
    };
    (part >= SHARE).then(|| {
        Code::AnswersLost.finding(
            Gravity::Caution,
            format!(
                "{what} ({each:.1} TCP segments per response came out of order): receiving took {} of the time",
                percent(part.min(1.0))
            ),
            advice,
        )
    })
}

/// How connections look whose end the other side did not acknowledge.
const UNACKNOWLEDGED: &str = "were still retransmitting when they ended";

/// Whether requests that timed out or got stuck were lost on the network path.
pub(super) fn are_lost_on_the_way(facts: &Facts<'_>) -> bool {
    lost_on_the_way(facts).is_some()
}

/// Timed-out or stuck requests that did not get through: nobody received the request, not even the kernel,
/// which acknowledges even for a process that hangs; or part of the response is missing.
fn lost_on_the_way(facts: &Facts<'_>) -> Option<Finding> {
    let timeouts = facts.failed(ErrorClass::Timeout);
    let stuck = facts.stuck().map_or(0, |stuck| stuck.requests);
    let given_up = timeouts + stuck;
    let are_many = stuck > 0 || share(timeouts, facts.counts.started) >= GIVEN_UP;
    if !are_many {
        return None;
    }
    let connections = &facts.seen.connections;
    let (code, seen, what, advice) = if facts.are_unacknowledged(given_up) {
        (
            Code::Unacknowledged,
            connections.unacknowledged.max(connections.untaken),
            UNACKNOWLEDGED,
            "look for a firewall, a broken link or a machine that is down: a process that hangs still acknowledges",
        )
    } else if facts.are_untaken(given_up) {
        (
            Code::Unacknowledged,
            connections.untaken,
            UNACKNOWLEDGED,
            "look for a full accept queue on the target, or for a link that drops large packets (MTU) or all of them",
        )
    } else if facts.are_gapped(given_up) {
        (
            Code::AnswersLost,
            connections.gapped,
            "had received later parts of a response but not an earlier one",
            "look for a link that drops large packets (MTU) or many of them",
        )
    } else {
        return None;
    };
    let looked_at = counted(connections.min_rtt.count(), "connection");
    let text = format!("of {looked_at} sampled, {} {what}", count(seen));
    Some(code.finding(Gravity::Caution, text, advice))
}

/// Small responses in two pieces: the second is only sent when the first is acknowledged, which Linux delays by
/// 40 ms.
fn delayed_ack(facts: &Facts<'_>) -> Option<Finding> {
    let receiving = facts.seen.phases.receiving.mean()? / 1e9;
    let body = facts.mean_body();
    let is_such = DELAYED_ACK_S.contains(&receiving) && body < path::SEGMENT;
    let part = receiving / facts.mean_service()?;
    (is_such && part >= DELAYED_ACK).then(|| {
        Code::DelayedAck.finding(
            Gravity::Caution,
            format!(
                "responses came in two parts {} apart, although the mean response has only {}: {} of the request time",
                duration(receiving),
                counted(body.round() as u64, "byte"),
                percent(part.min(1.0))
            ),
            "let the target write head and body at once, or set TCP_NODELAY on its sockets: Nagle's algorithm \
             waits for an acknowledgment that is delayed by 40 ms",
        )
    })
}

/// Whether connections waited for the target to accept them, on a short path.
pub(super) fn waits_to_be_accepted(facts: &Facts<'_>) -> bool {
    let is_told = slow_connects(facts).is_some() && path::round_trip(facts).is_none();
    is_told && path::connections_made(facts) >= NEW_CONNECTIONS
}

/// Whether most of the time goes into connecting, SYNs are lost on a short path, and the target is mostly idle:
/// its accept queue cannot be full for long, or something on the path only lets few connections pass.
pub(super) fn is_let_in_late(facts: &Facts<'_>) -> bool {
    const MOSTLY: f64 = 0.5;
    const WAITED_S: f64 = 0.005;
    let (answered, failed) = (&facts.seen.answered_time, &facts.seen.failed_time);
    let all = (answered.sum() + failed.sum()) as f64;
    let waiting = &facts.seen.phases.waiting;
    let in_target = waiting.sum() as f64 / 1e9 / facts.elapsed_seconds();
    // A request that comes out of a queue waited for others there.
    let waited = waiting
        .mean()
        .zip(waiting.min())
        .is_some_and(|(mean, least)| {
            mean >= losses::WAITS * least as f64 && mean / 1e9 >= WAITED_S
        });
    waits_to_be_accepted(facts)
        && facts.seen.connections.connect.sum() as f64 >= MOSTLY * all
        && in_target < 1.0
        && !waited
}

fn slow_connects(facts: &Facts<'_>) -> Option<Finding> {
    let connect = &facts.seen.connections.connect;
    let (fastest, slowest) = (connect.min()?, connect.max()?);
    // The kernel knows whether it retransmitted; a slow connect without retransmits waited for the generator.
    let is_known = facts.seen.connections.min_rtt.count() > 0;
    if is_known && facts.seen.connections.retransmits == 0 {
        return None;
    }
    let is_of_path = path::round_trip(facts).is_some() || link::link(facts).is_some();
    (slowest >= SYN_TIMEOUT_NS && fastest < SYN_TIMEOUT_NS / 3).then(|| {
        Code::SlowConnects.finding(
            Gravity::Caution,
            format!(
                "connects took up to {}, the fastest {}: a SYN was lost and retransmitted",
                duration(slowest as f64 / 1e9),
                duration(fastest as f64 / 1e9)
            ),
            match is_of_path {
                true => "look for a full or lossy link, or for a full accept queue on the target (somaxconn, backlog)",
                false => "look for a full accept queue on the target (somaxconn, backlog) or a lossy link",
            },
        )
    })
}

/// Name lookups that take long.
fn slow_names(facts: &Facts<'_>) -> Option<Finding> {
    let part = weights::names_s(facts) / weights::mean_time(facts)?;
    let each = facts.seen.connections.dns.mean()? / 1e9;
    (part >= NAMES).then(|| {
        Code::SlowNames.finding(
            Gravity::Caution,
            format!(
                "DNS lookups took {} of the requests' time, {} each",
                percent(part.min(1.0)),
                duration(each)
            ),
            "check the resolver, keep connections alive, or use the target's IP address",
        )
    })
}

/// Connections that are only used for a request or two and whose setup takes much of its time.
fn handshakes(facts: &Facts<'_>) -> Option<Finding> {
    let connections = &facts.seen.connections;
    let each = path::connections_made(facts);
    let tried = each + share(connections.failed, facts.all.started);
    let seconds = |ns: u128| ns as f64 / 1e9;
    let (connect, tls) = (
        seconds(connections.connect.sum()),
        seconds(connections.tls.sum()),
    );
    let all = seconds(facts.seen.answered_time.sum() + facts.seen.failed_time.sum());
    let part = (connect + tls) / all.max(f64::MIN_POSITIVE);
    let opened = connections.opened.max(1) as f64;
    if connections.opened <= facts.vus {
        // Each virtual user opened its first one: none was closed too early.
        return None;
    }
    let is_of_distance = weights::handshake_s(facts) >= (connect + tls) / opened / 2.0;
    (each >= NEW_CONNECTIONS && part >= HANDSHAKES && all > 0.0).then(|| {
        let of_tls = match tls > 0.0 {
            true => format!(", {} of it for TLS", duration(tls / opened)),
            false => String::new(),
        };
        Code::Handshakes.finding(
            Gravity::Caution,
            format!(
                "a new connection was made for {} of the requests: handshakes took {} of their time, {} each{of_tls}",
                percent(tried.min(1.0)),
                percent(part.min(1.0)),
                duration((connect + tls) / opened)
            ),
            match tls > 0.0 {
                _ if is_of_distance => "keep connections alive: the round trips of each handshake take most of that time",
                true => "keep connections alive, resume TLS sessions, or use a cheaper key if the target's is RSA (ECDSA)",
                false => "keep connections alive",
            },
        )
    })
}

fn network_failures(facts: &Facts<'_>) -> Option<Finding> {
    let lost: u64 = (ErrorClass::ALL.iter())
        .filter(|class| class.fault() == Fault::Network)
        .map(|class| facts.failed(*class))
        .sum();
    let worst = facts
        .worst_class()
        .filter(|class| class.fault() == Fault::Network)?;
    (share(lost, facts.counts.started) >= FAILURES_ON_THE_WAY).then(|| {
        Code::NetworkFailures.finding(
            Gravity::Alarm,
            format!(
                "{} requests failed between here and the target, most of them: {}",
                count(lost),
                worst.name()
            ),
            worst.hint(),
        )
    })
}
