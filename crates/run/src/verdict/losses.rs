//! What lost packets cost: segments and handshakes that one side had to send again, and how long requests waited for
//! them.
//!
//! Must not weigh this against other causes. Invariant: what a full accept queue or a target that hangs explains as well
//! is not a loss.

use loadline_metric::TimeTrend;
use loadline_model::ErrorClass;

use super::facts::{Facts, share};
use super::names;
use super::path::{
    NEW_CONNECTIONS, RETRANSMIT_NS, SEGMENT, SYN_TIMEOUT_NS, connections_made, round_trip,
};
use super::stats::longer_than;

/// Linux's minimum retransmission timeout, with some tolerance for what comes after it.
const TIMEOUT_NS: std::ops::Range<u64> = 195_000_000..260_000_000;
/// Fewer retransmits are chance.
const RETRANSMITS_MIN: u64 = 10;
/// A target that lets connections wait in the accept queue lets their requests wait too: at least this many
/// times as long as the fastest.
pub(super) const WAITS: f64 = 2.0;

/// Time that lost packets add to a request, in seconds.
pub(super) fn waited_s(facts: &Facts<'_>) -> f64 {
    let again = match lost_segments(facts) {
        few if few <= RETRANSMITS_MIN => 0.0,
        // A lost segment delays all streams of its connection.
        many => {
            let each = share(many, facts.counts.completed) * streams_at_once(facts);
            each * RETRANSMIT_NS as f64 / 1e9
        }
    };
    let again = again.max(timeouts_s(facts)).max(resent_s(facts));
    again.max(lost_connects_s(facts)) + gaps_s(facts)
}

/// Upper bound of the concurrent streams per connection: one without HTTP/2, and one if a connection is only
/// used for one request.
fn streams_at_once(facts: &Facts<'_>) -> f64 {
    let connections = &facts.seen.connections;
    let most = f64::from(facts.evidence.plan.client.protocol.streams());
    let each = 1.0 / connections_made(facts).clamp(f64::MIN_POSITIVE, 1.0);
    let shared = most.min(facts.vus.max(1) as f64).min(each) - 1.0;
    1.0 + shared * share(connections.http2, connections.opened).min(1.0)
}

/// Segments per response that arrived before an earlier one; `None` if there are few.
pub(super) fn gaps_each(facts: &Facts<'_>) -> Option<f64> {
    const MANY: f64 = 0.1;
    /// As a share of the segments of a response: fewer delay nobody.
    const MANY_OF_SEGMENTS: f64 = 0.001;
    /// Per response that took at least as long as a retransmission timeout.
    const OF_LATE: f64 = 0.25;
    let connections = &facts.seen.connections;
    let answers = share(facts.all.completed, connections.opened.max(1));
    let each = share(connections.out_of_order, connections.min_rtt.count()) / answers;
    let time = facts.answered_time();
    let late = longer_than(time, RETRANSMIT_NS);
    let of_late = late > 0 && connections.out_of_order as f64 >= OF_LATE * late as f64;
    let are_many = connections.out_of_order > RETRANSMITS_MIN && (each >= MANY || of_late);
    let are_lost = each >= MANY_OF_SEGMENTS * facts.mean_body() / SEGMENT;
    (answers > 0.0 && are_many && are_lost).then_some(each)
}

/// Whether so many segments of each response come out of order that losses, which stop a sender, do not explain them: later
/// ones overtake them. `each`: out of order, per response.
pub(super) fn are_overtaken(facts: &Facts<'_>, each: f64) -> bool {
    /// Of a response's segments.
    const MOST: f64 = 0.6;
    let of_response = facts.mean_body() / SEGMENT;
    let are_most = (MOST * of_response..=of_response).contains(&each);
    are_most && facts.counts.failed_total() == 0 && facts.seen.connections.retransmits == 0
}

/// How long responses wait for lost parts, in seconds: from the first byte to the last, and before it for those of other
/// responses on the same connection.
fn gaps_s(facts: &Facts<'_>) -> f64 {
    if gaps_each(facts).is_none() {
        return 0.0;
    }
    let phases = &facts.seen.phases;
    let receiving = phases.receiving.mean().unwrap_or(0.0);
    let waiting = &phases.waiting;
    let behind_others = match streams_at_once(facts) > 1.0 {
        true => waiting.mean().unwrap_or(0.0) - waiting.min().unwrap_or(0) as f64,
        false => 0.0,
    };
    (receiving + behind_others.max(0.0)) / 1e9
}

/// Time that lost SYNs add to a request, in seconds. A full accept queue also drops SYNs; but then the path is short, or
/// accepted requests wait in the target; and no queue loses parts of responses.
fn lost_connects_s(facts: &Facts<'_>) -> f64 {
    let connect = &facts.seen.connections.connect;
    let round_trip = round_trip(facts);
    let is_of_path = round_trip.is_some() && waits_hardly(facts) || loses_parts(facts);
    match connect.mean() {
        Some(mean) if connect.max() >= Some(SYN_TIMEOUT_NS) && is_of_path => {
            let beyond = mean / 1e9 - round_trip.unwrap_or(0.0);
            beyond.max(0.0) * connections_made(facts) + never_made_s(facts)
        }
        _ => 0.0,
    }
}

/// Whether accepted requests hardly wait in the target: less than twice as long as the fastest, or for a small share of the
/// connect time.
fn waits_hardly(facts: &Facts<'_>) -> bool {
    /// As a share of the connect time.
    const HARDLY: f64 = 0.05;
    let waiting = &facts.seen.phases.waiting;
    let connect = facts.seen.connections.connect.mean().unwrap_or(0.0);
    let both = waiting.mean().zip(waiting.min());
    both.is_some_and(|(waits, at_least)| {
        waits < WAITS * at_least as f64 || waits < HARDLY * connect
    })
}

/// Whether requests spend most of their time on connections whose SYN was lost, and hardly any in the target.
pub(super) fn mostly_connects(facts: &Facts<'_>) -> bool {
    const MOST: f64 = 0.5;
    let connect = &facts.seen.connections.connect;
    let each = connect.mean().unwrap_or(0.0) / 1e9 * connections_made(facts);
    let is_most = each >= MOST * facts.mean_service().unwrap_or(f64::INFINITY);
    connect.max() >= Some(SYN_TIMEOUT_NS) && is_most && waits_hardly(facts)
}

/// Whether parts of responses are missing often, although others behind them arrive.
fn loses_parts(facts: &Facts<'_>) -> bool {
    /// Per connection.
    const OFTEN: f64 = 0.02;
    let connections = &facts.seen.connections;
    let gaps = connections.out_of_order;
    gaps > RETRANSMITS_MIN && share(gaps, connections.min_rtt.count()) >= OFTEN
}

/// Time that connections which timed out before they were made add to a request, in seconds.
fn never_made_s(facts: &Facts<'_>) -> f64 {
    let (answered, failed) = (&facts.seen.answered_time, &facts.seen.failed_time);
    let never_made = facts.failed(ErrorClass::ConnectTimeout);
    let part = share(never_made, facts.counts.failed_total());
    part * failed.sum() as f64 / 1e9 / (answered.count() + failed.count()).max(1) as f64
}

/// Retransmits of this side on all connections: the kernel was asked about some of them. A few are chance, which is
/// not multiplied.
pub(super) fn retransmits(facts: &Facts<'_>) -> u64 {
    of_all(facts, facts.seen.connections.retransmits)
}

fn of_all(facts: &Facts<'_>, of_sampled: u64) -> u64 {
    match of_sampled {
        few if few <= RETRANSMITS_MIN => few,
        many => (many as f64 * connections_per_sample(facts)) as u64,
    }
}

/// Connections made for each that the kernel was asked about; at least one, and so many at most that a few do not speak
/// for thousands.
pub(super) fn connections_per_sample(facts: &Facts<'_>) -> f64 {
    const MOST: f64 = 32.0;
    let connections = &facts.seen.connections;
    let sampled = connections.min_rtt.count().max(1);
    share(connections.opened, sampled).clamp(1.0, MOST)
}

/// Segments that the network lost. Zero on a short path if connects sometimes take seconds and new connections
/// are frequent: then the cause is a full accept queue.
pub(super) fn lost_segments(facts: &Facts<'_>) -> u64 {
    /// Maximum number of lost segments per response.
    const EACH: u64 = 4;
    let connections = &facts.seen.connections;
    if round_trip(facts).is_some() {
        return retransmits(facts).max(sent_again_by_target(facts));
    }
    let has_slow = connections.connect.max() >= Some(SYN_TIMEOUT_NS);
    if has_slow && connections_made(facts) >= NEW_CONNECTIONS {
        return 0;
    }
    // Unnecessary retransmits delayed nobody.
    let late = [&facts.seen.answered_time, &facts.seen.failed_time];
    let late = late.map(|time| longer_than(time, RETRANSMIT_NS));
    let most = late.iter().sum::<u64>().saturating_mul(EACH);
    retransmits(facts)
        .min(most)
        .max(sent_again_by_target(facts))
}

/// Responses that were later than usual by one retransmission timeout, which Linux makes longer than its minimum by a
/// round trip, provided that this side retransmitted as well: most of the lost segments are retransmitted by the
/// target. Zero if many responses are late by other amounts.
fn sent_again_by_target(facts: &Facts<'_>) -> u64 {
    /// Share of the late responses.
    const MOST: f64 = 0.5;
    const OURS: f64 = 0.1;
    let time = names::of_most_time(facts);
    let Some(usual) = time.quantile(0.5).map(|ns| ns as u64) else {
        return 0;
    };
    let later_than = |ns: u64| longer_than(time, usual.saturating_add(ns));
    let late = later_than(TIMEOUT_NS.start);
    let round_trip = (round_trip(facts).unwrap_or(0.0) * 1e9) as u64;
    let by_timeout = late - later_than(TIMEOUT_NS.end.saturating_add(round_trip));
    let connections = &facts.seen.connections;
    // An unnecessary retransmit shows that the acknowledgement, sent with a response, was lost.
    let ours = of_all(facts, connections.retransmits + connections.needless);
    let is_so =
        ours > RETRANSMITS_MIN && share(ours, late) >= OURS && share(by_timeout, late) >= MOST;
    if is_so { by_timeout } else { 0 }
}

/// Responses that were later than usual by a retransmission timeout or more.
struct Late<'f> {
    time: &'f TimeTrend,
    /// The median in nanoseconds.
    usual: f64,
    count: u64,
}

impl<'f> Late<'f> {
    fn of(facts: &Facts<'f>) -> Late<'f> {
        let time = names::of_most_time(facts);
        let usual = time.quantile(0.5).unwrap_or(0.0);
        let count = longer_than(time, usual as u64 + TIMEOUT_NS.start);
        Late { time, usual, count }
    }

    /// Time by which responses exceed the usual one, per request in nanoseconds.
    fn beyond_ns(&self) -> f64 {
        (self.time.mean().unwrap_or(0.0) - self.usual).max(0.0)
    }
}

/// Time by which late responses exceed the usual one, per request in seconds, if this side sent something again for each
/// of them: a target that hangs acknowledges what it does not answer.
fn resent_s(facts: &Facts<'_>) -> f64 {
    /// Share of all responses; if more are late, the median is no usual time.
    const FEW: f64 = 0.3;
    /// Share of the timeouts that explain the delay.
    const MOST: f64 = 0.5;
    let late = Late::of(facts);
    let are_few = late.count > RETRANSMITS_MIN && share(late.count, late.time.count()) <= FEW;
    // On a short path connects take long because of a full accept queue.
    let is_full =
        round_trip(facts).is_none() && facts.seen.connections.connect.max() >= Some(SYN_TIMEOUT_NS);
    // Each timeout of a segment is twice as long as the one before.
    let by_each = late.beyond_ns() * late.time.count() as f64 / late.count.max(1) as f64;
    let timeouts = (by_each / TIMEOUT_NS.start as f64 + 1.0).log2().max(1.0);
    let sent_again = lost_segments(facts).min(retransmits(facts)) as f64;
    match are_few && !is_full && sent_again >= MOST * timeouts * late.count as f64 {
        true => late.beyond_ns() / 1e9,
        false => 0.0,
    }
}

/// Time by which late responses exceed the usual one, per request in seconds, if they are late by retransmission
/// timeouts: one after another for a segment that is lost again, and none is late by less than one.
fn timeouts_s(facts: &Facts<'_>) -> f64 {
    /// Share of the late responses.
    const LESS: f64 = 0.15;
    const LATER: u64 = 3;
    let late = Late::of(facts);
    let less = longer_than(late.time, late.usual as u64 * LATER).saturating_sub(late.count);
    match sent_again_by_target(facts) > 0 && share(less, late.count) <= LESS {
        true => late.beyond_ns() / 1e9,
        false => 0.0,
    }
}

/// Whether requests waited for what was lost so often that most of their time is that: a target that is slow for some of
/// them gets no segment twice.
pub(super) fn slow_down(facts: &Facts<'_>) -> bool {
    /// Retransmits per response.
    const MANY: f64 = 0.05;
    /// Ratio of the mean response, and of the slowest tenth, to the fastest.
    const TIMES: f64 = 5.0;
    const BEYOND_NS: f64 = 50e6;
    let time = facts.answered_time();
    let (Some(fastest), Some(mean), Some(slow)) = (time.min(), time.mean(), time.quantile(0.9))
    else {
        return false;
    };
    let fastest = fastest as f64;
    let is_slow = mean.min(slow) >= TIMES * fastest && mean - fastest >= BEYOND_NS;
    let are_many = share(lost_segments(facts), facts.counts.completed) >= MANY;
    is_slow && (are_many || gaps_each(facts).is_some())
}
