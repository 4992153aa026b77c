//! How much of a request's time each side took: the generator's own delay, the network, the target.
//!
//! The mean service time is split. Measured parts come first (round trips, retransmits, the generator's own
//! delay); what they leave is the target's. Must not say who the limit is. Invariant: the shares are finite, none is below
//! zero, and together they are one.

use loadline_metric::{Summary, TimeTrend};
use loadline_model::ErrorClass;
use loadline_model::result::Row;
use loadline_model::snapshot::Connections;
use loadline_model::units;

use super::facts::{Facts, row_seconds, share};
use super::link::{self, link};
use super::names;

/// Share of the time in which a worker had something to do from which nobody else was waited for between requests.
pub(super) const OCCUPIED: f64 = 0.75;
/// Share of a core from which a worker has nothing left: the rest goes to the kernel's accounting.
const BUSY: f64 = 0.9;
/// Share of a core below which a worker that is not given more cannot be called busy.
const AT_WORK: f64 = 0.4;
/// Share of the time from which a worker is at work or waits for a processor all the time, however little it is given.
const NEVER_RESTS: f64 = 0.97;
/// Share of a core below which nothing is said of how a worker uses its time.
const AT_WORK_MIN: f64 = 0.01;
/// Share of what it could get from which a worker uses its slices up.
const USED_UP: f64 = 0.6;
/// Share of the seconds in which a worker must be that busy.
const BUSY_ROWS: f64 = 0.5;
/// Seconds below which a run is mostly its own beginning, in which workers read certificates, shake hands and
/// wait for each other: shares of their time say nothing of the load.
const BEGINNING_S: f64 = 0.1;
/// Moments in which a request needs a worker: to be sent, and when its answer is there.
const MOMENTS: f64 = 2.0;
/// How long a thread that is ready waits on average for a processor that others want: a slice of Linux's scheduler.
const SLICE_S: f64 = 0.004;
/// How long the quota stops a group on average: half of what is left of its period of 100 ms.
const STOP_S: f64 = 0.025;
/// Reads of which the delay must be known for them to stand for all.
const READS_KNOWN: u64 = 20;
/// How long a sink holds up a worker.
const WRITE_S: f64 = 0.01;
/// Round trips below this are a local network's, where no one is kept waiting by distance.
pub(super) const ROUND_TRIP_MIN_S: f64 = 0.001;
/// The shortest time after which Linux sends a segment again.
pub(super) const RETRANSMIT_NS: u64 = 200_000_000;
/// Fewer retransmits are an accident.
const RETRANSMITS_MIN: u64 = 10;
/// Linux sends a lost SYN again after one second.
pub(super) const SYN_TIMEOUT_NS: u64 = 1_000_000_000;
/// Share of the requests for which a connection was made from which connections are made all the time.
pub(super) const NEW_CONNECTIONS: f64 = 0.3;
/// Bytes of a segment on Ethernet.
pub(super) const SEGMENT: f64 = 1_448.0;
/// What Linux sends on a new connection before it waits for an acknowledgment: ten segments, twice as much in each round trip.
pub(super) const FIRST_FLIGHT: f64 = 10.0 * SEGMENT;
/// Share of the workers' time that writing takes, from which it is what a request waits for.
pub(super) const HELD_MOSTLY: f64 = 0.4;
/// A target that lets connections wait to be accepted lets their requests wait too: so many times as long as the fastest.
pub(super) const WAITS: f64 = 2.0;
/// Share of the starts whose lateness must be known for it to stand for all.
const LAG_KNOWN: f64 = 0.2;

/// Shares of the time of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Weights {
    pub(super) generator: f64,
    pub(super) network: f64,
    pub(super) target: f64,
}

impl Weights {
    /// `None` where no request took any time. `target_is_full`: a resource of the target is known to be used up, so that
    /// a generator without processor time is not the only one that can be waited for.
    pub(super) fn of(facts: &Facts<'_>, target_is_full: bool) -> Option<Weights> {
        let time = mean_time(facts)?;
        let link = link(facts).filter(|_| !target_is_full);
        let link = link.map_or(0.0, |link| link.share * time);
        let network = (network_s(facts) + link).min(time);
        let rest = time - network;
        let own = own_delay_s(facts).min(rest);
        // Nobody waits for workers that have nothing to do: of users who go on at once, not for longer than that.
        let own = match facts.open {
            true => own,
            false => own.min((occupied(facts) + held_up(facts)).min(1.0) * time),
        };
        let is_full = exhausted(facts).is_some() || is_held_up(facts);
        let generator = match is_full {
            true if target_is_full => own.max(rest / 2.0),
            true => rest,
            false => own,
        };
        Some(Weights {
            generator: generator / time,
            network: network / time,
            target: (rest - generator) / time,
        })
    }
}

/// One side, and where it is in words.
pub(super) struct Side {
    pub(super) share: f64,
    pub(super) name: &'static str,
    pub(super) place: &'static str,
}

impl Weights {
    /// The sides, the heaviest first.
    pub(super) fn sides(self) -> [Side; 3] {
        let side = |share, name, place| Side { share, name, place };
        let mut sides = [
            side(self.target, "target", "in the target"),
            side(self.generator, "generator", "in the generator"),
            side(self.network, "network", "on the network"),
        ];
        sides.sort_by(|a, b| b.share.total_cmp(&a.share));
        sides
    }
}

/// Mean time of answered and failed requests, in seconds.
pub(super) fn mean_time(facts: &Facts<'_>) -> Option<f64> {
    let (answered, failed) = (&facts.seen.answered_time, &facts.seen.failed_time);
    let count = answered.count() + failed.count();
    let sum = answered.sum() + failed.sum();
    (count > 0 && sum > 0).then(|| sum as f64 / count as f64 / 1e9)
}

/// The share of the seconds in which a worker had used up the processor time that it could get, or the share of the
/// generator's processors where a run has no seconds; `None` where it had time left.
pub(super) fn exhausted(facts: &Facts<'_>) -> Option<f64> {
    if facts.elapsed_seconds() < BEGINNING_S {
        return None;
    }
    if facts.rows.is_empty() {
        let available = facts.elapsed_seconds() * 1e9 * facts.workers();
        let used = facts.evidence.totals.cpu_ns as f64 / available;
        return (used >= BUSY).then_some(used);
    }
    let rows = rows_at_most(facts);
    let is_busy = |row: &&&Row| {
        let busiest = row.generator.busiest_worker;
        let could_get = 1.0 - starved_in(row, facts.workers());
        let never_rests = busiest + starved_in(row, facts.workers()) >= NEVER_RESTS;
        busiest >= BUSY || busiest >= AT_WORK && busiest >= BUSY * could_get || never_rests
    };
    let busy = share(
        rows.iter().filter(is_busy).count() as u64,
        rows.len() as u64,
    );
    (busy >= BUSY_ROWS).then_some(busy)
}

/// The share of the time in which a worker had something to do: at work, waiting for a processor, or stopped.
pub(super) fn occupied(facts: &Facts<'_>) -> f64 {
    let starved = starved(facts).unwrap_or(0.0);
    let kept_off = starved.max(stopped(facts)).max(facts.stalled_share());
    (at_work(facts) + kept_off).min(1.0)
}

/// The share of a core that the busiest worker used.
fn at_work(facts: &Facts<'_>) -> f64 {
    mean_over_rows(facts, |row| row.generator.busiest_worker)
}

/// The share of the virtual users that were at work, near the highest load.
pub(super) fn engaged(facts: &Facts<'_>) -> f64 {
    mean_over_rows(facts, |row| row.active_vus as f64) / facts.vus.max(1) as f64
}

fn mean_over_rows(facts: &Facts<'_>, of: impl Fn(&Row) -> f64) -> f64 {
    let rows = rows_at_most(facts);
    rows.iter().map(|row| of(row)).sum::<f64>() / rows.len().max(1) as f64
}

/// The share of the run in which the quota stopped the generator.
pub(super) fn stopped(facts: &Facts<'_>) -> f64 {
    let stopped = facts.evidence.totals.throttled_ns.unwrap_or(0) as f64 / 1e9;
    stopped / facts.elapsed_seconds().max(f64::MIN_POSITIVE)
}

/// Whether the generator used all the processor time that the quota gives it, and was stopped for want of more.
pub(super) fn uses_quota_up(facts: &Facts<'_>) -> bool {
    const ALL: f64 = 0.97;
    const OFTEN: f64 = 0.1;
    let used = facts.evidence.totals.cpu_ns as f64 / 1e9 / facts.elapsed_seconds();
    facts.elapsed_seconds() >= BEGINNING_S
        && stopped(facts) >= OFTEN
        && used >= ALL * facts.environment_cores()
}

/// The share of the workers' time in which they were ready without a processor; `None` where the run is too short to say.
pub(super) fn starved(facts: &Facts<'_>) -> Option<f64> {
    let rows = rows_at_most(facts);
    let sum = |of: fn(&Row) -> u64| rows.iter().map(|row| of(row) as f64).sum::<f64>();
    let (waited, span) = (
        sum(|row| row.generator.run_queue_ns),
        sum(|row| row.span_ns),
    );
    (span >= BEGINNING_S * 1e9).then(|| (waited / (span * facts.workers())).min(1.0))
}

/// The share of a second in which a worker had something to do.
pub(super) fn occupied_in(facts: &Facts<'_>, row: &Row) -> f64 {
    (row.generator.busiest_worker + starved_in(row, facts.workers())).min(1.0)
}

pub(super) fn starved_in(row: &Row, workers: f64) -> f64 {
    let waited = row.generator.run_queue_ns as f64 / (row.span_ns.max(1) as f64 * workers);
    waited.min(1.0)
}

/// The share of the workers' time in which sinks held them up.
pub(super) fn held_up(facts: &Facts<'_>) -> f64 {
    let available = facts.elapsed_seconds() * 1e9 * facts.workers();
    if available > 0.0 {
        facts.seen.back_pressure_ns as f64 / available
    } else {
        0.0
    }
}

/// Whether the workers wait for sinks most of the time: the target sees hardly a request then.
pub(super) fn is_held_up(facts: &Facts<'_>) -> bool {
    held_up(facts) >= HELD_MOSTLY
}

/// Seconds near the highest load: in a ramp the others say nothing of it.
fn rows_at_most<'f>(facts: &'f Facts<'_>) -> Vec<&'f Row> {
    let load = |row: &Row| row.offered.unwrap_or(row.active_vus) as f64 / row_seconds(row);
    let most = facts.rows.iter().map(|row| load(row)).fold(0.0, f64::max);
    let all = facts.load_is_constant();
    let rows = facts.rows.iter().copied();
    rows.filter(|row| all || load(row) >= most * 2.0 / 3.0)
        .collect()
}

/// What the generator itself adds to the time of a request, in seconds.
fn own_delay_s(facts: &Facts<'_>) -> f64 {
    if facts.elapsed_seconds() < BEGINNING_S {
        return 0.0;
    }
    match read_delay_s(facts) {
        Some(delay) => moments(facts) * delay + work_s(facts),
        None => likely_delay_s(facts),
    }
}

/// How long what arrived lay in the kernel until a worker read it, in seconds; `None` where it is not known of enough reads.
fn read_delay_s(facts: &Facts<'_>) -> Option<f64> {
    let delays = &facts.seen.connections.read_delay;
    let is_known = delays.count() >= READS_KNOWN;
    delays.mean().filter(|_| is_known).map(|ns| ns / 1e9)
}

/// Moments in which a request waits until a worker takes up what arrived for it: its answer, and each round trip of a new
/// connection.
fn moments(facts: &Facts<'_>) -> f64 {
    let round_trip = round_trip(facts).unwrap_or(0.0);
    1.0 + connections_made(facts) * (1.0 + round_trips_of_tls(facts, round_trip))
}

/// What the generator adds to the time of a request where nobody looked how late it reads, in seconds: by how late it is elsewhere,
/// and how long it has no processor.
fn likely_delay_s(facts: &Facts<'_>) -> f64 {
    let unlucky = || starved(facts).unwrap_or(0.0) * turn_s(facts) + stopped(facts) * STOP_S;
    let waiting = match mean_lag_s(facts) {
        // A start that waited for a virtual user was due when one became free: it says nothing of the workers' delay.
        Some(lag) if facts.missed().is_some() => lag.max(unlucky()),
        Some(lag) => lag,
        None => unlucky(),
    };
    MOMENTS * (waiting + held_up(facts) * WRITE_S) + at_work_s(facts)
}

/// How long a worker waits for its turn: a slice of another, or, where it uses up each slice of its own, as many slices as
/// there are in between; more where the kernel counted more, as among many others.
fn turn_s(facts: &Facts<'_>) -> f64 {
    let counted = share(facts.seen.run_queue_ns, facts.seen.turns) / 1e9;
    let slices = match uses_slices_up(facts) {
        true => SLICE_S / at_work(facts),
        false => SLICE_S,
    };
    slices.max(counted)
}

/// Whether a worker is at work whenever it has a processor.
pub(super) fn uses_slices_up(facts: &Facts<'_>) -> bool {
    let at_work = at_work(facts);
    let could_get = 1.0 - mean_over_rows(facts, |row| starved_in(row, facts.workers()));
    at_work > AT_WORK_MIN && at_work >= USED_UP * could_get
}

/// Mean lateness of starts with a virtual user free beyond the start window, which is what every event of a worker meets;
/// `None` where it is not known of enough starts.
fn mean_lag_s(facts: &Facts<'_>) -> Option<f64> {
    let lag = facts.metric("schedule_lag_ns")?;
    if (lag.count as f64) < LAG_KNOWN * facts.counts.started as f64 {
        return None;
    }
    let window = units::duration_ns(facts.evidence.plan.start_window);
    Some(lag.mean?.saturating_sub(window) as f64 / 1e9)
}

/// What a request waits for a worker that is at work on others, and the work itself, as if the work came at random.
fn at_work_s(facts: &Facts<'_>) -> f64 {
    work_s(facts) / (1.0 - at_work(facts).clamp(0.0, 0.95))
}

/// Processor time that workers spent for each request, in seconds.
fn work_s(facts: &Facts<'_>) -> f64 {
    let requests = facts.seen.answered_time.count() + facts.seen.failed_time.count();
    match requests {
        0 => 0.0,
        many => facts.seen.worker_cpu_ns as f64 / 1e9 / many as f64,
    }
}

/// What looking up names adds to the time of a request, in seconds.
pub(super) fn names_s(facts: &Facts<'_>) -> f64 {
    let looked_up = facts.seen.connections.dns.sum() as f64 / 1e9;
    looked_up / facts.counts.started.max(1) as f64
}

/// What distance, loss and names add to the time of a request, in seconds.
fn network_s(facts: &Facts<'_>) -> f64 {
    let round_trip = round_trip(facts).unwrap_or(0.0);
    let handshakes = connections_made(facts) * handshake_s(facts);
    let distance = round_trip + handshakes + slow_start_s(facts, round_trip);
    let again = match lost_segments(facts) {
        few if few <= RETRANSMITS_MIN => 0.0,
        // One that is lost holds up all the streams of its connection.
        many => {
            let each = share(many, facts.counts.completed) * streams_at_once(facts);
            each * RETRANSMIT_NS as f64 / 1e9
        }
    };
    let lost = again.max(lost_connects_s(facts)) + gaps_s(facts);
    (distance + lost).max(upload_s(facts)) + names_s(facts)
}

/// Streams that share a connection at a time, at most: of one made for one request, and of one that does not speak HTTP/2, there
/// is one.
fn streams_at_once(facts: &Facts<'_>) -> f64 {
    let connections = &facts.seen.connections;
    let most = f64::from(facts.evidence.plan.client.protocol.streams());
    let each = 1.0 / connections_made(facts).clamp(f64::MIN_POSITIVE, 1.0);
    let shared = most.min(facts.vus.max(1) as f64).min(each) - 1.0;
    1.0 + shared * share(connections.http2, connections.opened).min(1.0)
}

/// How long what is sent is under way, in seconds, where that is more than the first flight.
pub(super) fn upload_s(facts: &Facts<'_>) -> f64 {
    match share(facts.all.bytes_sent, facts.all.started) < FIRST_FLIGHT {
        true => 0.0,
        false => upload_among_s(facts, 1.0),
    }
}

/// The same whatever is sent, with so many requests at once on a connection that is never without them. The last piece is
/// acknowledged some 40 ms late.
pub(super) fn upload_among_s(facts: &Facts<'_>, at_once: f64) -> f64 {
    const DELAYED_ACK_S: f64 = 0.04;
    let connections = &facts.seen.connections;
    let looked_at = connections.min_rtt.count();
    if looked_at == 0 {
        return 0.0;
    }
    let each = connections.in_flight_ns as f64 / 1e9 / looked_at as f64;
    (each * connections_made(facts) * at_once - DELAYED_ACK_S).max(0.0)
}

/// Segments of answers that came while an earlier one had not come, for each answer; `None` where they are few.
pub(super) fn gaps_each(facts: &Facts<'_>) -> Option<f64> {
    const MANY: f64 = 0.1;
    /// Of the segments of an answer: fewer hold up no one.
    const MANY_OF_SEGMENTS: f64 = 0.001;
    /// For each answer that took as long as it takes until something is sent again.
    const OF_LATE: f64 = 0.25;
    let connections = &facts.seen.connections;
    let answers = share(facts.counts.completed, connections.opened.max(1));
    let each = share(connections.out_of_order, connections.min_rtt.count()) / answers;
    let time = facts.answered_time();
    let late = longer_than(time, RETRANSMIT_NS);
    let of_late = late > 0 && connections.out_of_order as f64 >= OF_LATE * late as f64;
    let are_many = connections.out_of_order > RETRANSMITS_MIN && (each >= MANY || of_late);
    let are_lost = each >= MANY_OF_SEGMENTS * facts.mean_body() / SEGMENT;
    (answers > 0.0 && are_many && are_lost).then_some(each)
}

/// How long answers wait for parts that were lost on the way here, in seconds: from their first byte to their last.
fn gaps_s(facts: &Facts<'_>) -> f64 {
    let receiving = facts.seen.phases.receiving.mean();
    let receiving = receiving.filter(|_| gaps_each(facts).is_some());
    receiving.unwrap_or(0.0) / 1e9
}

/// What SYNs that are lost on a long way add to the time of a request, in seconds. A full accept queue drops them too; but
/// what is accepted at last waits there, twice as long as the fastest or for some of the time that it took to connect.
fn lost_connects_s(facts: &Facts<'_>) -> f64 {
    /// Of the time that it takes to connect.
    const HARDLY: f64 = 0.02;
    let connect = &facts.seen.connections.connect;
    let waiting = &facts.seen.phases.waiting;
    let (Some(round_trip), Some(mean), Some(waits), Some(at_least)) = (
        round_trip(facts),
        connect.mean(),
        waiting.mean(),
        waiting.min(),
    ) else {
        return 0.0;
    };
    let waits_hardly = waits < WAITS * at_least as f64 || waits < HARDLY * mean;
    match connect.max() >= Some(SYN_TIMEOUT_NS) && waits_hardly {
        true => (mean / 1e9 - round_trip).max(0.0) * connections_made(facts) + never_made_s(facts),
        false => 0.0,
    }
}

/// What connections that were given up before they were made add to the time of a request, in seconds.
fn never_made_s(facts: &Facts<'_>) -> f64 {
    let (answered, failed) = (&facts.seen.answered_time, &facts.seen.failed_time);
    let never_made = facts.failed(ErrorClass::ConnectTimeout);
    let part = share(never_made, facts.counts.failed_total());
    part * failed.sum() as f64 / 1e9 / (answered.count() + failed.count()).max(1) as f64
}

/// What the round trips of making a connection take, in seconds.
pub(super) fn handshake_s(facts: &Facts<'_>) -> f64 {
    let round_trip = round_trip(facts).unwrap_or(0.0);
    round_trip * (1.0 + round_trips_of_tls(facts, round_trip))
}

/// Round trips that a TLS handshake takes: one, or two before TLS 1.3.
fn round_trips_of_tls(facts: &Facts<'_>, round_trip: f64) -> f64 {
    const TWO: f64 = 1.8;
    match facts.seen.connections.tls.min() {
        None => 0.0,
        Some(ns) if ns as f64 / 1e9 >= TWO * round_trip => 2.0,
        Some(_) => 1.0,
    }
}

/// How long the rest of a request and of an answer is under way, in seconds, on a connection that is new, or on which
/// packets wait: it may not be sent at once.
fn slow_start_s(facts: &Facts<'_>, round_trip: f64) -> f64 {
    let phases = &facts.seen.phases;
    let mean = |phase: &Summary| phase.mean().unwrap_or(0.0) / 1e9;
    let further = |bytes: f64, taken: f64| {
        let flights = (bytes / FIRST_FLIGHT + 1.0).log2().ceil();
        let on = match queued_ns(facts) {
            Some(_) => 1.0,
            None => connections_made(facts),
        };
        let further = (flights - 1.0).max(0.0) * on * round_trip;
        further.min(taken)
    };
    let sent = share(facts.all.bytes_sent, facts.all.started);
    further(facts.mean_body(), mean(&phases.receiving))
        + further(sent, mean(&phases.sending) + mean(&phases.waiting))
}

/// Connections made per request.
pub(super) fn connections_made(facts: &Facts<'_>) -> f64 {
    share(facts.seen.connections.opened, facts.counts.started)
}

/// Segments that the network lost. On a short way, where connecting takes seconds now and then and segments are sent again
/// about as often as connections are made, a full accept queue drops them.
pub(super) fn lost_segments(facts: &Facts<'_>) -> u64 {
    /// Segments that one answer may have lost.
    const EACH: u64 = 4;
    let connections = &facts.seen.connections;
    if round_trip(facts).is_some() {
        return connections.retransmits.max(sent_again_by_target(facts));
    }
    let has_slow = connections.connect.max() >= Some(SYN_TIMEOUT_NS);
    if has_slow && connections_made(facts) >= NEW_CONNECTIONS {
        return 0;
    }
    // What was sent again without need held nobody up.
    let late = [&facts.seen.answered_time, &facts.seen.failed_time];
    let late = late.map(|time| longer_than(time, RETRANSMIT_NS));
    let most = late.iter().sum::<u64>().saturating_mul(EACH);
    connections
        .retransmits
        .min(most)
        .max(sent_again_by_target(facts))
}

/// Answers that came as much later than usual as it takes until a lost segment is sent again, where we sent again too: most of
/// what was lost, the target sends again. None where others come late as well.
fn sent_again_by_target(facts: &Facts<'_>) -> u64 {
    /// Time after which Linux sends again, at least, and what may come to it.
    const TIMEOUT_NS: std::ops::Range<u64> = 195_000_000..260_000_000;
    /// Of those that came late.
    const MOST: f64 = 0.5;
    const OURS: f64 = 0.1;
    let time = names::of_most_time(facts);
    let Some(usual) = time.quantile(0.5).map(|ns| ns as u64) else {
        return 0;
    };
    let later_than = |ns: u64| longer_than(time, usual.saturating_add(ns));
    let late = later_than(TIMEOUT_NS.start);
    let by_timeout = late - later_than(TIMEOUT_NS.end);
    let connections = &facts.seen.connections;
    // What was sent again needlessly was acknowledged by an answer that was lost.
    let ours = connections.retransmits + connections.needless;
    let is_so =
        ours > RETRANSMITS_MIN && share(ours, late) >= OURS && share(by_timeout, late) >= MOST;
    if is_so { by_timeout } else { 0 }
}

/// How many took longer than this.
pub(super) fn longer_than(time: &TimeTrend, ns: u64) -> u64 {
    time.count() - time.count_at_or_below(ns)
}

/// The round trip in seconds, where it is one that keeps anybody waiting. The fastest TCP handshake took one round trip,
/// so it stands in where the kernel says nothing.
pub(super) fn round_trip(facts: &Facts<'_>) -> Option<f64> {
    let round_trip = queued_ns(facts).or_else(|| usual_ns(facts))? / 1e9;
    (round_trip >= ROUND_TRIP_MIN_S).then_some(round_trip)
}

/// The round trip that connections usually took to be made, in nanoseconds, where no SYN was lost: on a way whose delay varies it
/// is longer than the smallest. What the kernel smooths is no shorter, as it has the time of some answers in it.
fn usual_ns(facts: &Facts<'_>) -> Option<f64> {
    const VARIES: f64 = 1.5;
    /// What comes back sooner never left the machine, or the rack: a worker took long to see it.
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

/// The smoothed round trip in nanoseconds, where packets wait on the way; `None`: they do not.
fn queued_ns(facts: &Facts<'_>) -> Option<f64> {
    let at_least = smallest_ns(facts)? + Connections::QUEUED_NS as f64;
    let queued = facts.seen.connections.rtt.mean();
    let queued = queued.filter(|rtt| *rtt >= at_least);
    queued.or_else(|| link::standing_queue_ns(facts))
}
