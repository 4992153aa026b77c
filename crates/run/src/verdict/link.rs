//! Whether a link between generator and target is full: throughput per second, and how long packets wait for
//! others.
//!
//! Must not know what else takes time. Invariant: a link is not called full because of a target that sends at
//! its own pace, a load that was delivered, or a worker that reads without pause.

use loadline_metric::{Summary, TimeTrend};
use loadline_model::result::Row;
use loadline_model::snapshot::Connections;

use super::facts::{Facts, row_seconds, share};
use super::{backlog, downtime, losses, path, stats, weights};

/// Body size in bytes from which its transfer may be the limit.
const BODY_MIN: f64 = 32.0 * 1024.0;
/// Maximum variation of the bytes per second on a full link: standard deviation over mean.
const FLAT: f64 = 0.1;
/// Ratio of the slowest body to the fastest from which they share something.
const UNEVEN: f64 = 1.5;
/// Minimum number of seconds to be called flat.
const FLAT_ROWS: usize = 3;
/// Length in seconds from which a row counts as whole.
const WHOLE_SECOND: f64 = 0.95;
/// Share of a request's time from which the transfer of its body is most of it.
const HALF: f64 = 0.5;
/// Size of a body that takes several packets, in bytes.
const QUEUED_BODY_MIN: f64 = 2.0 * path::SEGMENT;
/// Retransmitted segments per response from which the uplink has no room.
const LOST_UPWARDS: f64 = 0.1;
/// How long Linux delays an acknowledgement.
const PUT_OFF_NS: u64 = 40_000_000;
/// Maximum size of a TLS record in bytes.
const TLS_RECORD: f64 = 16.0 * 1_024.0;

/// A link that is full.
pub(super) struct Link {
    pub(super) bytes_per_second: f64,
    /// Share of a request's time spent receiving.
    pub(super) share: f64,
    /// The same, including the time that packets waited for others.
    pub(super) moving: f64,
}

/// A link is full if large bodies take most of a request's time to arrive, some much longer than others, and
/// the same number of bytes passes each second. It is also full if they take most of the time to leave, and
/// packets queue; loss without a queue means that there is room. Excluded are a target that sends at its own
/// pace (each body takes equally long, and no packet waits), a load that was delivered, and a worker that reads without pause (it
/// always finds more bytes).
pub(super) fn link(facts: &Facts<'_>) -> Option<Link> {
    let is_sent = facts.open && facts.missed().is_none() && facts.load_is_constant();
    let is_carried = is_sent && !facts.lacks_answers() && backlog::falls_behind(facts).is_none();
    if is_carried || facts.rows.len() < FLAT_ROWS || weights::uses_slices_up(facts) {
        return None;
    }
    let full = full_down(facts).or_else(|| shared_down(facts));
    let full = full.or_else(|| full_up(facts));
    full.or_else(|| queues(facts))
}

/// Mean number of requests in flight.
fn under_way(facts: &Facts<'_>) -> f64 {
    facts.seen.answered_time.sum() as f64 / 1e9 / facts.elapsed_seconds()
}

/// The same per connection; at least one.
fn at_once(facts: &Facts<'_>) -> f64 {
    let connections = facts.seen.connections.min_rtt.count();
    (under_way(facts) / connections.max(1) as f64).max(1.0)
}

/// A link that is full of the responses on connections shared by several requests: each waits for the bytes of
/// others, and the waiting time beyond the fastest response belongs to the network path.
fn shared_down(facts: &Facts<'_>) -> Option<Link> {
    const SHARED: f64 = 1.5;
    let crowds = || {
        let waits = round_trips(&facts.seen.connections).is_some_and(|both| both.waits());
        let queues = waits && losses::gaps_each(facts).is_some();
        queues || path::standing_queue_ns(facts).is_some()
    };
    if at_once(facts) < SHARED || facts.mean_body() < QUEUED_BODY_MIN || !crowds() {
        return None;
    }
    let time = &facts.seen.answered_time;
    let share = 1.0 - time.min()? as f64 / time.mean()?;
    Some(Link {
        bytes_per_second: flat(facts, |row| row.bytes_received)?,
        share,
        moving: share,
    })
}

fn full_down(facts: &Facts<'_>) -> Option<Link> {
    /// Ratio of the usual round trip to the smallest from which packets queue rather than jitter.
    const QUEUE: f64 = 1.15;
    const FEW: f64 = 4.0;
    let receiving = &facts.seen.phases.receiving;
    let (fastest, slowest) = (receiving.min()? as f64, receiving.max()? as f64);
    let body = facts.mean_body();
    let round_trips = round_trips(&facts.seen.connections);
    // Packets of a slow sender do not queue, and few responses share a link evenly.
    let queue = round_trips.is_some_and(|both| both.waits() && both.are_longer(QUEUE));
    let is_paced = slowest < UNEVEN * fastest && !(queue && under_way(facts) < FEW);
    let share = share_of_receiving(facts)?;
    // Parts that were lost show that even smaller bodies did not fit.
    let least = match losses::gaps_each(facts) {
        Some(_) => QUEUED_BODY_MIN,
        None => BODY_MIN,
    };
    if share < HALF || body < least || is_paced || has_room(&facts.seen.connections) {
        return None;
    }
    Some(Link {
        bytes_per_second: flat(facts, |row| row.bytes_received)?,
        share,
        moving: share,
    })
}

/// Whether responses of several flights take most of their time to arrive, each at least a round trip, over a
/// long path: they arrive one window at a time, or the target sends them slowly.
pub(super) fn may_wait_for_windows(facts: &Facts<'_>) -> bool {
    let fastest = facts.seen.phases.receiving.min().unwrap_or(0) as f64 / 1e9;
    let is_most = share_of_receiving(facts).is_some_and(|share| share >= HALF);
    let round_trip = path::round_trip(facts);
    let is_long = round_trip.is_some_and(|round_trip| fastest >= round_trip);
    is_most && is_long && facts.mean_body() > path::FIRST_FLIGHT && !sends_slowly(facts)
}

/// Whether far fewer bytes arrive per round trip than a target may send at once, at the same pace on several
/// connections and without queueing: the window is not the limit.
fn sends_slowly(facts: &Facts<'_>) -> bool {
    /// Number of connections whose packets would queue behind each other if the path were full.
    const SEVERAL: f64 = 4.0;
    /// Share of the initial window.
    const LITTLE: f64 = 0.5;
    let phase = &facts.seen.phases.receiving;
    let receiving = phase.mean().unwrap_or(0.0) / 1e9;
    let round_trip = path::round_trip(facts).unwrap_or(0.0);
    let each = facts.mean_body() * round_trip / receiving.max(f64::MIN_POSITIVE);
    let at_once = at_once(facts);
    let are_several = under_way(facts) / at_once >= SEVERAL;
    let fastest = phase.min().unwrap_or(0) as f64 / 1e9;
    let are_alike = receiving < UNEVEN * fastest;
    let is_little = each * at_once < LITTLE * path::FIRST_FLIGHT;
    are_several && are_alike && is_little && has_room(&facts.seen.connections)
}

/// Whether sent data was unacknowledged for most of the time that responses took beyond the delay of
/// acknowledgements in a kernel: no process can prevent a kernel from acknowledging, so the path or the
/// target's machine stalled. On new connections, a full accept queue can also cause it.
pub(super) fn stood_still(facts: &Facts<'_>) -> bool {
    let connections = &facts.seen.connections;
    let sent = share(facts.all.bytes_sent, facts.all.started);
    let is_short =
        path::round_trip(facts).is_none_or(|round_trip| round_trip * 1e9 < PUT_OFF_NS as f64);
    let is_kept = path::connections_made(facts) < path::NEW_CONNECTIONS;
    // Over a long path connections were taken before and after an outage: their queue was not full by itself.
    let was_there = || path::round_trip(facts).is_some() && downtime::comes_back(facts);
    let in_flight = share(connections.in_flight_ns, connections.min_rtt.count());
    let in_flight = in_flight * connections.opened as f64;
    let Times { all, short } = times(&facts.seen.answered_time);
    let connected = all - connections.connect.sum() as f64;
    let is_long = stats::longer_than(&facts.seen.answered_time, path::RETRANSMIT_NS) > 0;
    let lies = in_flight - short >= HALF * (connected - short);
    is_short && sent < path::FIRST_FLIGHT && is_long && lies && (is_kept || was_there())
}

/// Whether that was most of the requests' time.
pub(super) fn mostly_stood_still(facts: &Facts<'_>) -> bool {
    let Times { all, short } = times(&facts.seen.answered_time);
    stood_still(facts) && all - short >= HALF * all
}

/// Sums of times, in nanoseconds.
struct Times {
    all: f64,
    /// The part within the delay of acknowledgements.
    short: f64,
}

fn times(of: &TimeTrend) -> Times {
    /// Steps of the summation.
    const STEPS: u64 = 20;
    const STEP_NS: u64 = PUT_OFF_NS / STEPS;
    let longer = |step: u64| stats::longer_than(of, step * STEP_NS);
    let steps: u64 = (0..STEPS).map(|step| longer(step) + longer(step + 1)).sum();
    let all = of.sum() as f64;
    Times {
        all,
        short: (steps as f64 * STEP_NS as f64 / 2.0).min(all),
    }
}

/// Whether no packet was lost or queued on the path: a slow sender, or one that waits for acknowledgements,
/// does not fill a link.
fn has_room(connections: &Connections) -> bool {
    let lost = connections.gapped + connections.out_of_order + connections.retransmits;
    lost == 0 && round_trips(connections).is_some_and(|both| !both.waits())
}

/// Round trips of connections, in nanoseconds.
struct RoundTrips {
    smoothed: f64,
    /// Mean of the connections' smallest round trips.
    least: f64,
}

fn round_trips(connections: &Connections) -> Option<RoundTrips> {
    let (smoothed, least) = connections.rtt.mean().zip(connections.min_rtt.mean())?;
    Some(RoundTrips { smoothed, least })
}

impl RoundTrips {
    /// Whether packets queue on the path, however briefly.
    fn waits(&self) -> bool {
        /// As a share of the smallest round trip.
        const LONGER: f64 = 0.1;
        const LONGER_NS: f64 = 2e6;
        self.smoothed - self.least >= LONGER_NS.max(LONGER * self.least)
    }

    fn are_longer(&self, times: f64) -> bool {
        self.smoothed >= times * self.least
    }
}

fn full_up(facts: &Facts<'_>) -> Option<Link> {
    if path::standing_queue_ns(facts).is_none() && !queues_upwards(facts) && !queue_overflows(facts)
    {
        return None;
    }
    let sent = share(facts.counts.bytes_sent, facts.counts.started);
    let share = share_of_answers(facts, weights::upload_among_s(facts, at_once(facts)) * 1e9)?;
    (share >= HALF && sent >= QUEUED_BODY_MIN).then(|| Link {
        // What a request that failed wrote may never have left.
        bytes_per_second: sent * facts.mean_per_second(|row| row.completed),
        share,
        moving: share,
    })
}

/// Whether most of a request's time is the transfer of its body and that of its response: more requests at once
/// may share the throughput.
pub(super) fn mostly_moves(facts: &Facts<'_>) -> bool {
    let phases = &facts.seen.phases;
    let mean = |phase: &Summary| phase.mean().unwrap_or(0.0);
    let moving = mean(&phases.sending) + mean(&phases.receiving) + weights::upload_s(facts) * 1e9;
    share_of_answers(facts, moving).is_some_and(|share| share >= HALF)
}

/// A link with queued packets, whatever its throughput per second: while the load rises, there is room at
/// first.
fn queues(facts: &Facts<'_>) -> Option<Link> {
    let waited = path::standing_queue_ns(facts)?.min(facts.seen.phases.waiting.mean()?);
    let share = share_of_receiving(facts)?;
    let moving = (share + share_of_answers(facts, waited)?).min(1.0);
    (moving >= HALF && facts.mean_body() >= QUEUED_BODY_MIN).then(|| Link {
        bytes_per_second: facts.mean_per_second(|row| row.bytes_received),
        share,
        moving,
    })
}

/// Whether sent data queues behind itself on a long path: for large bodies nearly every segment is acknowledged
/// at once.
fn queues_upwards(facts: &Facts<'_>) -> bool {
    const TIMES: f64 = 2.0;
    round_trips(&facts.seen.connections)
        .is_some_and(|both| both.least / 1e9 >= path::ROUND_TRIP_MIN_S && both.are_longer(TIMES))
}

/// Whether the smoothed round trip is many times the usual smallest one and many segments are lost: a queue,
/// however short, has no room for them.
fn queue_overflows(facts: &Facts<'_>) -> bool {
    let lost = share(losses::retransmits(facts), facts.counts.completed);
    let queued = round_trips(&facts.seen.connections)
        .is_some_and(|both| both.are_longer(path::QUEUED_TIMES));
    lost >= LOST_UPWARDS && queued
}

/// The share of a request's time spent receiving its response. Over TLS, nothing is visible before the first
/// record is complete.
fn share_of_receiving(facts: &Facts<'_>) -> Option<f64> {
    let phases = &facts.seen.phases;
    let receiving = phases.receiving.mean()?;
    let is_secure = !facts.seen.connections.tls.is_empty();
    let body = facts.mean_body();
    let before = match is_secure && body > TLS_RECORD {
        true => (receiving * TLS_RECORD / (body - TLS_RECORD)).min(phases.waiting.mean()?),
        false => 0.0,
    };
    share_of_answers(facts, receiving + before)
}

fn share_of_answers(facts: &Facts<'_>, ns: f64) -> Option<f64> {
    let answered = facts.seen.answered_time.mean().filter(|ns| *ns > 0.0)?;
    Some((ns / answered).min(1.0))
}

/// Bytes per second, if they are about the same in each second.
fn flat(facts: &Facts<'_>, bytes: impl Fn(&Row) -> u64) -> Option<f64> {
    let per_second = |row: &&Row| bytes(row) as f64 / row_seconds(row);
    // The link fills during the first second, and drains in a partial last one.
    let rows = facts.rows.split_last().map(|(last, rows)| match rows {
        [_, _, _, ..] if row_seconds(last) < WHOLE_SECOND => rows,
        _ => &facts.rows[..],
    });
    let per_second: Vec<f64> = rows?.iter().skip(1).map(per_second).collect();
    let (mean, deviation) = stats::mean_and_deviation(&per_second)?;
    (mean > 0.0 && deviation <= FLAT * mean).then_some(mean)
}
