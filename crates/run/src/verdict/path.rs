//! What connections tell about the network path: how long it is, whether packets queue on it, how often it is entered
//! anew.
//!
//! Must not know what requests spent their time on. Invariant: a path on this machine or in its rack has no length.

use std::net::{IpAddr, SocketAddr};

use loadline_model::snapshot::{Connections, ErrorKey};
use loadline_model::url::split_host_port;

use super::facts::{Facts, share};

/// Shorter round trips are those of a local network, where distance does not matter.
pub(super) const ROUND_TRIP_MIN_S: f64 = 0.001;
/// Linux's minimum retransmission timeout.
pub(super) const RETRANSMIT_NS: u64 = 200_000_000;
/// Linux retransmits a lost SYN after one second.
pub(super) const SYN_TIMEOUT_NS: u64 = 1_000_000_000;
/// Connections made per request from which connections count as made all the time.
pub(super) const NEW_CONNECTIONS: f64 = 0.3;
/// Bytes of a TCP segment on Ethernet.
pub(super) const SEGMENT: f64 = 1_448.0;
/// Linux's initial window on a new connection: ten segments, doubled in each round trip.
pub(super) const FIRST_FLIGHT: f64 = 10.0 * SEGMENT;
/// Minimum ratio and minimum difference of the smoothed round trip to the smallest one from which packets queue
/// on the path: Linux delays acknowledgements by 40 ms.
pub(super) const QUEUED_TIMES: f64 = 3.0;
const QUEUED_MIN_NS: f64 = 45e6;

/// Minimum ratio of the shortest to the longest smoothed round trip of all connections from which they are the same.
const ALIKE: f64 = 0.8;

/// The round trip in seconds, if it is long enough to matter. The fastest TCP handshake took one round trip, so
/// it is used if the kernel provides no value.
pub(super) fn round_trip(facts: &Facts<'_>) -> Option<f64> {
    let round_trip = queued_ns(facts).or_else(|| usual_ns(facts))? / 1e9;
    (round_trip >= ROUND_TRIP_MIN_S).then_some(round_trip)
}

/// The usual round trip of connection setup, in nanoseconds, if no SYN was lost: on a path with varying delay
/// it is longer than the smallest. The kernel's smoothed value is an upper bound, as it includes the time of
/// some responses.
fn usual_ns(facts: &Facts<'_>) -> Option<f64> {
    const VARIES: f64 = 1.5;
    /// Anything faster never left the machine or the rack: then the worker was late to notice the connection.
    const NEAR_NS: f64 = 100_000.0;
    let connections = &facts.seen.connections;
    let smallest = smallest_ns(facts)?;
    let is_far = |ns: &u64| *ns as f64 / 1e9 >= ROUND_TRIP_MIN_S;
    let is_sure = smallest >= NEAR_NS
        && connections.connect.min().as_ref().is_some_and(is_far)
        && connections.connect.max() < Some(SYN_TIMEOUT_NS);
    let at_most = connections.rtt.mean().unwrap_or(smallest);
    let usual = connections.connect.mean().map(|usual| usual.min(at_most));
    let varies = usual.filter(|usual| is_sure && *usual >= VARIES * smallest);
    Some(varies.unwrap_or(smallest))
}

/// The smallest round trip in nanoseconds.
fn smallest_ns(facts: &Facts<'_>) -> Option<f64> {
    let connections = &facts.seen.connections;
    let of_connect = || connections.connect.min().map(|ns| ns as f64);
    connections.min_rtt.mean().or_else(of_connect)
}

/// The smoothed round trip in nanoseconds if packets queue on the path; `None`: they do not.
pub(super) fn queued_ns(facts: &Facts<'_>) -> Option<f64> {
    let at_least = smallest_ns(facts)? + Connections::QUEUED_NS as f64;
    let queued = facts.seen.connections.rtt.mean();
    let queued = queued.filter(|rtt| *rtt >= at_least);
    queued
        .or_else(|| standing_queue_ns(facts))
        .or_else(|| moved_ns(facts))
}

/// The smoothed round trip in nanoseconds if it is the same on all connections, far longer than any of their smallest ones by
/// more than a kernel delays an acknowledgment, and the usual response takes as long at the end: the path became longer.
/// `None`: it did not.
pub(super) fn moved_ns(facts: &Facts<'_>) -> Option<f64> {
    /// More than enough for a busy kernel.
    const LONGER_NS: f64 = 60e6;
    let connections = &facts.seen.connections;
    let before = connections.min_rtt.max()? as f64;
    let shortest = shared_ns(facts)?;
    let usual = facts.rows.last()?.service_time_ns?.p50 as f64;
    let is_longer = shortest >= (QUEUED_TIMES * before).max(before + LONGER_NS);
    let stays = usual >= ALIKE * shortest;
    (is_longer && stays && !leads_to_loopback(facts)).then_some(shortest)
}

/// The shortest of the smoothed round trips of all connections, in nanoseconds, if they are all alike.
fn shared_ns(facts: &Facts<'_>) -> Option<f64> {
    let rtt = &facts.seen.connections.rtt;
    let (shortest, longest) = (rtt.min()? as f64, rtt.max()? as f64);
    (shortest >= ALIKE * longest).then_some(shortest)
}

/// Whether packets may queue on a path that is not short: the smoothed round trip of all connections is as long as a response
/// takes, and far longer than the smallest. It is as long too if the target responds before its kernel sends the delayed
/// acknowledgment, which then comes with the response. A time that even the fastest response took is no queue.
pub(super) fn may_queue(facts: &Facts<'_>) -> bool {
    const LONGER: f64 = 2.0;
    /// Minimum ratio of the round trip to the mean response.
    const AS_LONG: f64 = 0.85;
    /// Maximum ratio of the fastest response to the mean one.
    const FASTEST: f64 = 0.6;
    let connections = &facts.seen.connections;
    let smallest = [connections.min_rtt.min(), connections.connect.min()];
    let smallest = smallest.into_iter().flatten().min().unwrap_or(0) as f64;
    let both = shared_ns(facts).zip(facts.answered_time().mean());
    // Without the time for the connection.
    let waiting = &facts.seen.phases.waiting;
    let varies = waiting.min().unwrap_or(0) as f64 <= FASTEST * waiting.mean().unwrap_or(0.0);
    smallest / 1e9 >= ROUND_TRIP_MIN_S
        && varies
        && both.is_some_and(|(rtt, mean)| rtt >= LONGER * smallest && rtt >= AS_LONG * mean)
        && !leads_to_loopback(facts)
}

/// Whether every peer that responded is on this machine, or every one that was asked in vain if none responded.
pub(super) fn leads_to_loopback(facts: &Facts<'_>) -> bool {
    let is_loopback = |peer: &String| {
        let address: Option<SocketAddr> = peer.parse().ok();
        address.is_some_and(|address| address.ip().is_loopback())
    };
    let mut peers = facts.seen.peers.rows().map(|(peer, _)| peer).peekable();
    match peers.peek() {
        Some(_) => peers.all(is_loopback),
        None => fails_on_loopback(facts),
    }
}

/// Whether requests failed, all of them to a loopback address.
fn fails_on_loopback(facts: &Facts<'_>) -> bool {
    let mut failed = facts.seen.errors.rows().map(|(key, _)| key).peekable();
    let is_near = |key: &ErrorKey| {
        let host = host_of(&key.request);
        let address: Option<IpAddr> = host.and_then(|host| host.parse().ok());
        host == Some("localhost") || address.is_some_and(|address| address.is_loopback())
    };
    facts.evidence.plan.client.proxy.is_none() && failed.peek().is_some() && failed.all(is_near)
}

/// The host in a request's method and URL.
fn host_of(request: &str) -> Option<&str> {
    let (_, rest) = request.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (host, _) = split_host_port(authority).ok()?;
    Some(host)
}

/// Connections made per request.
pub(super) fn connections_made(facts: &Facts<'_>) -> f64 {
    share(facts.seen.connections.opened, facts.all.started)
}

/// The smoothed round trip in nanoseconds if it is many times the smallest one ever seen, and either the path
/// is long enough to be measured or the difference exceeds anything possible nearby: packets wait for others,
/// which nothing in the target can cause. `None`: they do not.
pub(super) fn standing_queue_ns(facts: &Facts<'_>) -> Option<f64> {
    let connections = &facts.seen.connections;
    let smallest = [connections.min_rtt.min(), connections.connect.min()];
    let smallest = smallest.into_iter().flatten().min()? as f64;
    let smoothed = connections.rtt.mean()?;
    let is_far =
        smallest / 1e9 >= ROUND_TRIP_MIN_S || smoothed - smallest >= Connections::QUEUED_NS as f64;
    let is_queue =
        is_far && smoothed >= QUEUED_TIMES * smallest && smoothed - smallest >= QUEUED_MIN_NS;
    is_queue.then_some(smoothed)
}
