//! Failures, refusals and wrong responses: who causes them, and how many are too many.
//!
//! Must not know durations. Invariant: a class of failures belongs to one side, unless measurements of the
//! connections contradict.

use loadline_model::error_class::{ErrorClass, Fault};
use loadline_model::result::{Row, StopReason};
use loadline_model::verdict::Limit;

use super::answers;
use super::downtime;
use super::facts::{Facts, share};
use super::{losses, names, path, shapes};

/// Share of failures from which their class decides who is in the way.
pub(super) const FAILURES: f64 = 0.5;
/// The same if nobody is delayed: then only failures and refusals can be in the way.
pub(super) const FAILURES_OF_OFFERED: f64 = 0.02;
/// Share of the responses that reject the request as wrong, or lack the required content, from which they are
/// too many if nobody is delayed: a few are expected.
const WRONG_OF_OFFERED: f64 = 0.1;
/// Minimum number of unmade connections, so that it is not chance.
const KEPT_OUT_MIN: u64 = 10;

/// The side whose failures explain the run; `None` if too few requests failed for that.
pub(super) fn failing_side(facts: &Facts<'_>) -> Option<Limit> {
    let needed = match facts.open && facts.missed().is_none() {
        true => FAILURES_OF_OFFERED,
        false => FAILURES,
    };
    let is_kept_out = || is_unconnected(facts) && keeps_out(facts);
    failing_from(facts, needed).or_else(|| is_kept_out().then_some(Limit::Unknown))
}

/// Whether most of the users' time went into connections that were never made: the target does not accept them,
/// or something in between blocks them.
pub(super) fn keeps_out(facts: &Facts<'_>) -> bool {
    let (answered, failed) = (&facts.seen.answered_time, &facts.seen.failed_time);
    let is_most = failed.sum() >= answered.sum() && failed.count() >= KEPT_OUT_MIN;
    let is_never_made =
        is_unconnected(facts) || facts.worst_class() == Some(ErrorClass::ConnectTimeout);
    !facts.open && is_most && is_never_made && !is_on_loopback(facts)
}

/// Whether every peer that responded, or that was asked in vain if none did, is on this machine and close: nothing in between
/// could block anything.
pub(super) fn is_on_loopback(facts: &Facts<'_>) -> bool {
    path::leads_to_loopback(facts) && path::round_trip(facts).is_none()
}

/// Whether most failures are requests that timed out before they had a connection.
pub(super) fn is_unconnected(facts: &Facts<'_>) -> bool {
    let given_up = facts.failed(ErrorClass::Timeout);
    facts.worst_class() == Some(ErrorClass::Timeout)
        && facts.seen.connections.failed.saturating_mul(2) >= given_up
}

/// Whether bytes that belong to no response kept arriving while each request waited for its response to start:
/// the sender keeps the receiver busy.
pub(super) fn is_flooded(facts: &Facts<'_>) -> bool {
    /// Far more than the head of a response has.
    const BYTES_A_REQUEST: u64 = 1 << 20;
    let errors = facts.seen.errors.rows();
    let given_up: u64 = errors
        .filter(|(key, _)| key.awaited_headers())
        .map(|(_, times)| times)
        .sum();
    let least = facts.counts.started.saturating_mul(BYTES_A_REQUEST);
    facts.counts.completed == 0
        && given_up.saturating_mul(2) >= facts.failed(ErrorClass::Timeout)
        && given_up > 0
        && facts.counts.bytes_received >= least
}

/// Whether, over a long network path, the requests of one name never get a complete response while those of
/// others do: the target hangs in them, or a link drops packets as large as theirs.
pub(super) fn may_be_too_large(facts: &Facts<'_>) -> bool {
    let is_far = path::round_trip(facts).is_some();
    is_far && facts.counts.completed > 0 && names::always_fails(facts)
}

/// Whether the responses to that name were sent, and lost.
pub(super) fn are_too_large(facts: &Facts<'_>) -> bool {
    may_be_too_large(facts)
        && facts.are_lost_with_acknowledgments(facts.failed(ErrorClass::Timeout))
}

/// Whose failures, refusals and wrong responses are in the way if nobody is delayed.
pub(super) fn spoils(facts: &Facts<'_>) -> Option<Limit> {
    let failing = failing_from(facts, FAILURES_OF_OFFERED);
    match facts.counts.good {
        _ if failing.is_some() => failing,
        _ if facts.left_waiting().is_some() => Some(side_of_silence(facts)),
        _ if facts.refused_share() >= FAILURES_OF_OFFERED => Some(Limit::Target),
        _ if facts.mistaken_share() >= WRONG_OF_OFFERED => Some(plan_unless_same(facts)),
        1.. if facts.wrong_content_share() >= WRONG_OF_OFFERED => Some(Limit::Target),
        1.. if shapes::wrong_by_checks(facts).is_some() => Some(Limit::Target),
        // A check that no response fulfils may be a mistake in the plan.
        0 if facts.wrong_content_share() >= WRONG_OF_OFFERED => Some(Limit::Unknown),
        1.. if shapes::mostly_fails_checks(facts).is_some() => Some(Limit::Unknown),
        _ if downtime::breaks_off(facts)
            || completes_no_iteration(facts)
            || ran_out_of_data(facts) =>
        {
            Some(Limit::Plan)
        }
        _ => None,
    }
}

/// Who prevented the responses to requests that were in flight when the run ended, or that timed out.
pub(super) fn side_of_silence(facts: &Facts<'_>) -> Limit {
    let given_up = facts.counts.interrupted + facts.failed(ErrorClass::Timeout);
    let fail_on_the_way = facts.worst_class().map(ErrorClass::fault) == Some(Fault::Network);
    let severed = side_of_severed(facts);
    match facts.wait_for_connections() {
        _ if is_on_loopback(facts) => Limit::Target,
        _ if severed == Some(Limit::Network) => Limit::Network,
        // Every request that got a connection got a response.
        Some(all) if all >= given_up && fail_on_the_way => Limit::Network,
        None if given_up == 0 && fail_on_the_way => Limit::Network,
        Some(_) => Limit::Unknown,
        None if facts.are_unacknowledged(given_up) => Limit::Network,
        None if finds_no_connection(facts) => Limit::Unknown,
        None if severed.is_some() => Limit::Unknown,
        None if waits_on_the_way(facts) => Limit::Network,
        // A slow sender and a slow network path look the same.
        None if facts.still_receives() && path::round_trip(facts).is_some() => Limit::Unknown,
        None => Limit::Target,
    }
}

/// Whether most of the requests without a response found no connection: a path that drops SYNs and a target that accepts
/// none look the same.
pub(super) fn finds_no_connection(facts: &Facts<'_>) -> bool {
    let given_up = facts.counts.interrupted + facts.failed(ErrorClass::Timeout);
    given_up > 0 && facts.seen.connections.failed.saturating_mul(2) >= given_up
}

/// Whether packets queue on the path, or every connection had to send again what was late: no target can cause that.
fn waits_on_the_way(facts: &Facts<'_>) -> bool {
    let sends_again = || losses::retransmits(facts) >= facts.seen.connections.opened;
    path::standing_queue_ns(facts).is_some() && (facts.still_receives() || sends_again())
}

/// Who cut all connections at once: of a target that hangs, the kernel still accepts as many as its queue has places; `None`
/// if that many were accepted.
fn side_of_severed(facts: &Facts<'_>) -> Option<Limit> {
    /// A short queue, as a share of the requests that timed out.
    const FEW: f64 = 0.05;
    let given_up = facts.failed(ErrorClass::Timeout);
    let connections = &facts.seen.connections;
    let cut_off = connections.failed + connections.unacknowledged;
    let are_all_failures = given_up > 0 && given_up == facts.counts.failed_total();
    let stopped = || !is_on_loopback(facts) && downtime::downtime(facts).is_some();
    match given_up.saturating_sub(cut_off) {
        _ if !are_all_failures || !stopped() => None,
        0 => Some(Limit::Network),
        few if share(few, given_up) <= FEW => Some(Limit::Unknown),
        _ => None,
    }
}

/// Whether all threads of a plan ended because they ran out of data.
fn ran_out_of_data(facts: &Facts<'_>) -> bool {
    let ended = facts.seen.ended_threads.out_of_data;
    ended > 0 && ended >= facts.vus
}

/// The share of the time of all requests that went to those that failed.
pub(super) fn time_of_failures(facts: &Facts<'_>) -> f64 {
    let (answered, failed) = (&facts.seen.answered_time, &facts.seen.failed_time);
    match answered.sum() + failed.sum() {
        0 => 0.0,
        all => failed.sum() as f64 / all as f64,
    }
}

/// Whether failed requests took more of the virtual users' time than responses.
pub(super) fn fails_mostly(facts: &Facts<'_>) -> bool {
    time_of_failures(facts) > 0.5
}

/// Whose the failures are, however few; `None` if there are none.
pub(super) fn side_of_failures(facts: &Facts<'_>) -> Option<Limit> {
    failing_from(facts, 0.0)
}

/// Whose the failures are, if their share is at least `needed`.
pub(super) fn failing_from(facts: &Facts<'_>, needed: f64) -> Option<Limit> {
    let failed = facts.counts.failed_total();
    if share(failed, facts.counts.started) < needed {
        return None;
    }
    let is_near = is_on_loopback(facts);
    facts.worst_class().map(|class| match class.fault() {
        Fault::Target if is_reset(class) && fail_on_the_way(facts) => Limit::Network,
        // A server that resets many connections is overloaded; a few may be reset by anything in between.
        Fault::Target if is_reset(class) && !is_near && (are_few(facts) || fail_sooner(facts)) => {
            Limit::Unknown
        }
        Fault::Plan => plan_or_other(facts, class),
        Fault::Target if class == ErrorClass::Timeout && facts.are_unacknowledged(failed) => {
            Limit::Network
        }
        Fault::Target if class == ErrorClass::Timeout && facts.are_gapped(failed) => Limit::Network,
        Fault::Target if side_of_severed(facts) == Some(Limit::Network) => Limit::Network,
        // What waits in a queue on the path is late whatever the target does.
        Fault::Target
            if class == ErrorClass::Timeout && path::standing_queue_ns(facts).is_some() =>
        {
            Limit::Network
        }
        Fault::Target if class == ErrorClass::Timeout && are_silent_far_away(facts) => {
            Limit::Unknown
        }
        Fault::Target if class == ErrorClass::Timeout && facts.are_untaken(failed) => {
            Limit::Unknown
        }
        Fault::Target if is_unconnected(facts) && !is_near => Limit::Unknown,
        Fault::Target if class == ErrorClass::Timeout && are_too_large(facts) => Limit::Network,
        Fault::Target if class == ErrorClass::Timeout && may_be_too_large(facts) => Limit::Unknown,
        Fault::Target => Limit::Target,
        Fault::Network if class == ErrorClass::ConnectTimeout && is_near => Limit::Target,
        Fault::Network => Limit::Network,
        Fault::Generator => Limit::Generator,
    })
}

/// Whether no byte ever came back over a long path: the target hangs, or a link drops every packet of its size.
fn are_silent_far_away(facts: &Facts<'_>) -> bool {
    facts.all.bytes_received == 0 && path::round_trip(facts).is_some()
}

/// The cause of failures of a class that a mistake in the plan can produce; such a mistake fails always.
fn plan_or_other(facts: &Facts<'_>, class: ErrorClass) -> Limit {
    match class {
        ErrorClass::Dns | ErrorClass::Proxy if facts.counts.completed > 0 => Limit::Network,
        ErrorClass::Dns if looks_up_in_vain(facts) => Limit::Network,
        _ if is_handshake_at_times(facts, class) || breaks_handshakes_off(facts, class) => {
            Limit::Target
        }
        _ => Limit::Plan,
    }
}

/// Whether lookups fail so late that nobody answered them; that a name does not exist is answered at once.
fn looks_up_in_vain(facts: &Facts<'_>) -> bool {
    const LATE_NS: f64 = 1e9;
    let usual = facts.seen.failed_time.quantile(0.5);
    usual.is_some_and(|ns| ns >= LATE_NS)
}

/// Whether most handshakes that failed were broken off by the target, which did not refuse what it was offered.
pub(super) fn breaks_handshakes_off(facts: &Facts<'_>, class: ErrorClass) -> bool {
    let errors = facts.seen.errors.rows();
    let broken_off: u64 = errors
        .filter(|(key, _)| key.is_broken_off())
        .map(|(_, times)| times)
        .sum();
    class == ErrorClass::Tls
        && broken_off > 0
        && broken_off.saturating_mul(2) >= facts.failed(class)
}

/// Whether some handshakes fail while others succeed: an overloaded target, or different servers behind one
/// address.
pub(super) fn is_handshake_at_times(facts: &Facts<'_>, class: ErrorClass) -> bool {
    matches!(class, ErrorClass::Tls | ErrorClass::Certificate)
        && facts.counts.completed > 0
        && facts.seen.connections.tls.count() > 0
        && !names::always_fails(facts)
}

fn is_reset(class: ErrorClass) -> bool {
    matches!(class, ErrorClass::ResetReading | ErrorClass::ResetSending)
}

/// Whether fewer requests failed than with a target that does not keep up.
fn are_few(facts: &Facts<'_>) -> bool {
    const FEW: f64 = 0.1;
    share(facts.counts.failed_total(), facts.counts.started) < FEW
}

/// Whether, on a short network path, failures among many responses came sooner than any response: nobody had
/// looked at the request, or it had not arrived.
fn fail_sooner(facts: &Facts<'_>) -> bool {
    let are_most = share(facts.counts.failed_total(), facts.counts.started) >= FAILURES;
    if are_most || path::round_trip(facts).is_some() {
        return false;
    }
    let failed = facts.seen.failed_time.quantile(0.5);
    let fastest = facts.answered_time().min();
    failed
        .zip(fastest)
        .is_some_and(|(failed, fastest)| failed < fastest as f64)
}

/// Whether most failures came sooner than anything from the target can.
fn fail_on_the_way(facts: &Facts<'_>) -> bool {
    let failed = facts.seen.failed_time.quantile(0.5);
    let round_trip = path::round_trip(facts);
    failed.zip(round_trip).is_some_and(|(ns, round_trip)| {
        ns / 1e9 < round_trip * (0.5 + round_trips_to_connect(facts))
    })
}

/// Round trips that a failed request spent on its connection: one if each request has a new connection. This
/// also holds if the failed requests had new ones because those on kept connections were resent.
fn round_trips_to_connect(facts: &Facts<'_>) -> f64 {
    const ALL: f64 = 0.9;
    let is_resent = facts.counts.retried.saturating_mul(2) >= facts.counts.failed_total();
    match is_resent || path::connections_made(facts) >= ALL {
        true => 1.0,
        false => 0.0,
    }
}

/// Whether the target closed the connections of a considerable part of the requests: some were resent, some
/// failed.
pub(super) fn cuts_off(facts: &Facts<'_>) -> bool {
    const CUT_OFF: f64 = 0.25;
    const FAILED: f64 = 0.05;
    /// The same if hardly any failed, as they were resent.
    const RESENT: f64 = 0.4;
    let (started, again) = (facts.counts.started, facts.counts.retried);
    let failed = facts.counts.failed_total();
    let is_its_fault = facts.worst_class().map(ErrorClass::fault) == Some(Fault::Target);
    let cut_off = share(failed + again, started + again);
    let failed = share(failed, started);
    is_its_fault && (failed >= FAILED && cut_off >= CUT_OFF || cut_off >= RESENT)
}

/// Whose mistake it is that most responses reject the request as wrong, or all responses to one request; `None` if they are
/// fewer.
pub(super) fn side_of_mistakes(facts: &Facts<'_>) -> Option<Limit> {
    const MOSTLY: f64 = 0.5;
    match facts.mistaken_share() >= MOSTLY {
        true => Some(plan_unless_same(facts)),
        false => (facts.has_mistakes() && names::always_fails(facts)).then_some(Limit::Plan),
    }
}

/// A request that the target rejects is the plan's mistake, unless the target accepts the very same one to the end, or no
/// longer has what it had.
fn plan_unless_same(facts: &Facts<'_>) -> Limit {
    const ACCEPTED: f64 = 0.1;
    /// Not Found and Gone.
    const VANISHED: [u16; 2] = [404, 410];
    let last = &facts.rows[facts.rows.len() * 2 / 3..];
    let sum = |of: fn(&Row) -> u64| last.iter().map(|row| of(row)).sum();
    let at_the_end = share(sum(|row| row.good), sum(|row| row.completed));
    let status = facts.worst_status().map_or(0, |(status, _)| status);
    let accepted = match VANISHED.contains(&status) {
        true => facts.good_share(),
        false => at_the_end.min(facts.good_share()),
    };
    match accepted >= ACCEPTED && !answers::requests_vary(facts) {
        true => Limit::Target,
        false => Limit::Plan,
    }
}

/// Whether a script sent requests and none of its iterations completed.
pub(super) fn completes_no_iteration(facts: &Facts<'_>) -> bool {
    let was_sent = facts.is_script() && facts.counts.completed > 0;
    let is_cut = facts.evidence.totals.stop == StopReason::Finished;
    let (_, ended) = facts.thrown();
    was_sent && is_cut && ended == 0 && !facts.seen.scenarios.is_empty()
}
