//! How much of a request's time each side took: the generator's own delay, the network, the target.
//!
//! The mean service time is split. Measured parts come first (round trips, retransmits, the generator's own
//! delay); the rest belongs to the target. Must not say who the limit is. Invariant: the shares are finite and
//! not negative, and their sum is one.

use loadline_metric::Summary;
use loadline_model::result::Row;
use loadline_model::units;

use super::facts::{Facts, row_seconds, share};
use super::link::link;
use super::losses;
use super::path::{self, FIRST_FLIGHT, connections_made, queued_ns, round_trip};
use super::stats::longer_than;

/// Share of the time in which a worker had something to do from which it is what virtual users wait for between
/// requests.
pub(super) const OCCUPIED: f64 = 0.75;
/// Share of a core from which a worker is fully busy: the rest goes to the kernel's accounting.
const BUSY: f64 = 0.9;
/// Share of a core below which a CPU-starved worker cannot be called busy.
const AT_WORK: f64 = 0.4;
/// Share of the time from which a worker is always running or waiting for a CPU, however little CPU time it
/// gets.
const NEVER_RESTS: f64 = 0.97;
/// Share of a core below which a worker's use of time slices is not evaluated.
const AT_WORK_MIN: f64 = 0.01;
/// Share of the available CPU time from which a worker uses up its slices.
const USED_UP: f64 = 0.6;
/// Minimum share of the seconds in which a worker must be that busy.
const BUSY_ROWS: f64 = 0.5;
/// Duration in seconds below which a run mostly consists of its start, in which workers read certificates, do
/// handshakes and wait for each other: their use of time says nothing about the load.
const BEGINNING_S: f64 = 0.1;
/// How often a request needs a worker: to be sent, and when its response has arrived.
const MOMENTS: f64 = 2.0;
/// Mean wait of a ready thread for a contended CPU: one slice of Linux's scheduler.
const SLICE_S: f64 = 0.004;
/// Mean duration for which the quota throttles a group: half of what is left of its period of 100 ms.
const STOP_S: f64 = 0.025;
/// How long a sink blocks a worker.
const WRITE_S: f64 = 0.01;
/// Share of the workers' time spent writing from which requests wait for it.
pub(super) const HELD_MOSTLY: f64 = 0.4;
/// Minimum share of the starts with a known lateness for it to be representative.
const LAG_KNOWN: f64 = 0.2;

/// Shares of a request's time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Weights {
    pub(super) generator: f64,
    pub(super) network: f64,
    pub(super) target: f64,
}

impl Weights {
    /// `None` if no request took any time. `target_is_full`: a resource of the target is known to be exhausted,
    /// so a generator without CPU time is not the only possible cause of waiting.
    pub(super) fn of(facts: &Facts<'_>, target_is_full: bool) -> Option<Weights> {
        let time = mean_time(facts)?;
        let link = link(facts).filter(|_| !target_is_full);
        let link = link.map_or(0.0, |link| link.share * time);
        let network = (network_s(facts) + link).min(time);
        let rest = time - network;
        let own = own_delay_s(facts).min(rest);
        // Idle workers delay nobody: virtual users that continue at once wait for busy workers only.
        let own = match facts.open {
            true => own,
            false => own.min((occupied(facts) + held_up(facts)).min(1.0) * time),
        };
        let is_full = exhausted(facts).is_some() || is_held_up(facts);
        let generator = match is_full {
            true if target_is_full => own.max(rest / 2.0),
            true if merely_waits(facts) && !is_held_up(facts) && is_read_at_once(facts) => own,
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

/// One side, and its location in words.
pub(super) struct Side {
    pub(super) share: f64,
    pub(super) name: &'static str,
    pub(super) place: &'static str,
}

impl Weights {
    /// The sides, heaviest first.
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

/// Mean time of completed and failed requests, in seconds.
pub(super) fn mean_time(facts: &Facts<'_>) -> Option<f64> {
    let (answered, failed) = (&facts.seen.answered_time, &facts.seen.failed_time);
    let count = answered.count() + failed.count();
    let sum = answered.sum() + failed.sum();
    (count > 0 && sum > 0).then(|| sum as f64 / count as f64 / 1e9)
}

/// The share of the seconds near the highest load in which a worker had used all available CPU time, or the used
/// share of the workers' CPU time if a run has no rows; `None` if there was time left.
pub(super) fn exhausted(facts: &Facts<'_>) -> Option<f64> {
    if facts.elapsed_seconds() < BEGINNING_S {
        return None;
    }
    if facts.rows.is_empty() {
        let available = facts.elapsed_seconds() * 1e9 * facts.workers();
        let used = facts.evidence.totals.cpu_ns as f64 / available;
        let waited = facts.seen.run_queue_ns as f64 / available;
        return (used >= BUSY || used + waited >= NEVER_RESTS).then_some(used + waited);
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

/// Whether no worker did much, however long it waited for a CPU.
fn merely_waits(facts: &Facts<'_>) -> bool {
    at_work(facts) < AT_WORK
}

/// Whether the kernel's stamps show that responses are read soon, compared with the time that they take: a generator that
/// waits for a CPU does not explain this time.
fn is_read_at_once(facts: &Facts<'_>) -> bool {
    const SOON: f64 = 0.05;
    let both = facts.read_delay_s().zip(mean_time(facts));
    both.is_some_and(|(delay, time)| delay <= SOON * time)
}

/// The share of the time in which a worker had something to do: running, waiting for a CPU, or stopped.
pub(super) fn occupied(facts: &Facts<'_>) -> f64 {
    let starved = starved(facts).unwrap_or(0.0);
    let kept_off = starved.max(stopped(facts)).max(facts.stalled_share());
    (at_work(facts) + kept_off).min(1.0)
}

/// The share of a core that the busiest worker used.
fn at_work(facts: &Facts<'_>) -> f64 {
    mean_over_rows(facts, |row| row.generator.busiest_worker)
}

/// The share of the virtual users that were busy, near the highest load.
pub(super) fn engaged(facts: &Facts<'_>) -> f64 {
    mean_over_rows(facts, |row| row.active_vus as f64) / facts.vus.max(1) as f64
}

fn mean_over_rows(facts: &Facts<'_>, of: impl Fn(&Row) -> f64) -> f64 {
    let rows = rows_at_most(facts);
    rows.iter().map(|row| of(row)).sum::<f64>() / rows.len().max(1) as f64
}

/// The share of the run in which the quota throttled the generator.
pub(super) fn stopped(facts: &Facts<'_>) -> f64 {
    let stopped = facts.evidence.totals.throttled_ns.unwrap_or(0) as f64 / 1e9;
    stopped / facts.elapsed_seconds().max(f64::MIN_POSITIVE)
}

/// Whether the generator used all the CPU time of its quota, and was throttled for it.
pub(super) fn uses_quota_up(facts: &Facts<'_>) -> bool {
    const ALL: f64 = 0.97;
    const OFTEN: f64 = 0.1;
    let used = facts.evidence.totals.cpu_ns as f64 / 1e9 / facts.elapsed_seconds();
    facts.elapsed_seconds() >= BEGINNING_S
        && stopped(facts) >= OFTEN
        && used >= ALL * facts.environment_cores()
}

/// The share of the workers' time in which they were ready but had no CPU; `None` if the run is too short to
/// say.
pub(super) fn starved(facts: &Facts<'_>) -> Option<f64> {
    let rows = rows_at_most(facts);
    let sum = |of: fn(&Row) -> u64| rows.iter().map(|row| of(row) as f64).sum::<f64>();
    let (waited, span) = (
        sum(|row| row.generator.run_queue_ns),
        sum(|row| row.span_ns),
    );
    (span >= BEGINNING_S * 1e9).then(|| (waited / (span * facts.workers())).min(1.0))
}

/// Whether the workers waited for a CPU most of the time.
pub(super) fn hardly_has_a_cpu(facts: &Facts<'_>) -> bool {
    const MOSTLY: f64 = 0.75;
    starved(facts).is_some_and(|starved| starved >= MOSTLY)
}

/// The share of a second in which a worker had something to do.
pub(super) fn occupied_in(facts: &Facts<'_>, row: &Row) -> f64 {
    (row.generator.busiest_worker + starved_in(row, facts.workers())).min(1.0)
}

pub(super) fn starved_in(row: &Row, workers: f64) -> f64 {
    let waited = row.generator.run_queue_ns as f64 / (row.span_ns.max(1) as f64 * workers);
    waited.min(1.0)
}

/// The share of the workers' time in which sinks blocked them.
pub(super) fn held_up(facts: &Facts<'_>) -> f64 {
    let available = facts.elapsed_seconds() * 1e9 * facts.workers();
    if available > 0.0 {
        facts.seen.back_pressure_ns as f64 / available
    } else {
        0.0
    }
}

/// Whether the workers mostly wait for sinks: the target hardly gets any requests then.
pub(super) fn is_held_up(facts: &Facts<'_>) -> bool {
    held_up(facts) >= HELD_MOSTLY
}

/// The seconds near the highest load: in a ramp the others say nothing about it.
fn rows_at_most<'f>(facts: &'f Facts<'_>) -> Vec<&'f Row> {
    let load = |row: &Row| row.offered.unwrap_or(row.active_vus) as f64 / row_seconds(row);
    let most = facts.rows.iter().map(|row| load(row)).fold(0.0, f64::max);
    let all = facts.load_is_constant();
    let rows = facts.rows.iter().copied();
    rows.filter(|row| all || load(row) >= most * 2.0 / 3.0)
        .collect()
}

/// Time that the generator itself adds to a request, in seconds.
fn own_delay_s(facts: &Facts<'_>) -> f64 {
    if facts.elapsed_seconds() < BEGINNING_S {
        return 0.0;
    }
    match facts.read_delay_s() {
        Some(delay) => moments(facts) * delay + work_s(facts),
        None => likely_delay_s(facts),
    }
}

/// How often a request waits for a worker to handle arrived data: once for its response, and once for each
/// round trip of a new connection.
fn moments(facts: &Facts<'_>) -> f64 {
    let round_trip = round_trip(facts).unwrap_or(0.0);
    1.0 + connections_made(facts) * (1.0 + round_trips_of_tls(facts, round_trip))
}

/// Estimate of the time that the generator adds to a request if read delays are unknown, in seconds: derived
/// from its lateness elsewhere, and from how long it has no CPU.
fn likely_delay_s(facts: &Facts<'_>) -> f64 {
    let unlucky = || starved(facts).unwrap_or(0.0) * turn_s(facts) + stopped(facts) * STOP_S;
    let waiting = match mean_lag_s(facts) {
        // A start that waited for a virtual user was due when one became free: its lag says nothing about the
        // delay of the workers.
        Some(lag) if facts.missed().is_some() => lag.max(unlucky()),
        Some(lag) => lag,
        None => unlucky(),
    };
    MOMENTS * (waiting + held_up(facts) * WRITE_S) + at_work_s(facts)
}

/// How long a worker waits for a CPU: one slice of another thread, or, if it uses up its own slices, as many
/// slices as lie in between; more if the kernel counted more, as among many threads.
fn turn_s(facts: &Facts<'_>) -> f64 {
    let counted = share(facts.seen.run_queue_ns, facts.seen.turns) / 1e9;
    let slices = match uses_slices_up(facts) {
        true => SLICE_S / at_work(facts),
        false => SLICE_S,
    };
    slices.max(counted)
}

/// Whether a worker always has work when it has a CPU.
pub(super) fn uses_slices_up(facts: &Facts<'_>) -> bool {
    let at_work = at_work(facts);
    let could_get = 1.0 - mean_over_rows(facts, |row| starved_in(row, facts.workers()));
    at_work > AT_WORK_MIN && at_work >= USED_UP * could_get
}

/// Mean lateness beyond the start window of starts that had a free virtual user: every event of a worker is
/// that late. `None` if it is known for too few starts.
fn mean_lag_s(facts: &Facts<'_>) -> Option<f64> {
    let lag = facts.metric("schedule_lag_ns")?;
    if (lag.count as f64) < LAG_KNOWN * facts.counts.started as f64 {
        return None;
    }
    let window = units::duration_ns(facts.evidence.plan.start_window);
    Some(lag.mean?.saturating_sub(window) as f64 / 1e9)
}

/// How long a request waits for a worker that is busy with others, plus the work itself, assuming that work
/// arrives at random.
fn at_work_s(facts: &Facts<'_>) -> f64 {
    work_s(facts) / (1.0 - at_work(facts).clamp(0.0, 0.95))
}

/// CPU time of the workers per request, in seconds.
fn work_s(facts: &Facts<'_>) -> f64 {
    let requests = facts.seen.answered_time.count() + facts.seen.failed_time.count();
    match requests {
        0 => 0.0,
        many => facts.seen.worker_cpu_ns as f64 / 1e9 / many as f64,
    }
}

/// Time that name lookups add to a request, in seconds.
pub(super) fn names_s(facts: &Facts<'_>) -> f64 {
    let looked_up = facts.seen.connections.dns.sum() as f64 / 1e9;
    looked_up / facts.counts.started.max(1) as f64
}

/// Time that distance, loss and name lookups add to a request, in seconds.
fn network_s(facts: &Facts<'_>) -> f64 {
    let round_trip = round_trip(facts).unwrap_or(0.0);
    let handshakes = connections_made(facts) * handshake_s(facts);
    let distance =
        round_trip * part_that_travels(facts) + handshakes + slow_start_s(facts, round_trip);
    (distance + losses::waited_s(facts)).max(upload_s(facts)) + names_s(facts)
}

/// The share of the requests that waited for the round trip: all of them, unless the path became longer than the mean request
/// takes. Then the many requests before that were quicker than its round trip, and the virtual users' time went into the few
/// after it.
fn part_that_travels(facts: &Facts<'_>) -> f64 {
    /// Of the smoothed round trip.
    const NEARLY: f64 = 0.9;
    let mean = facts.answered_time().mean().unwrap_or(0.0);
    match path::moved_ns(facts).filter(|moved| *moved > mean) {
        Some(moved) => {
            let time = facts.answered_time();
            share(longer_than(time, (NEARLY * moved) as u64), time.count())
        }
        None => 1.0,
    }
}

/// Mean transfer time of a request, in seconds; zero if it fits into the initial window.
pub(super) fn upload_s(facts: &Facts<'_>) -> f64 {
    match share(facts.all.bytes_sent, facts.all.started) < FIRST_FLIGHT {
        true => 0.0,
        false => upload_among_s(facts, 1.0),
    }
}

/// The same for any size, with `at_once` requests in flight on a connection that always has some. The
/// acknowledgement of the last piece is delayed by about 40 ms.
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

/// Duration of the round trips of a connection setup, in seconds.
pub(super) fn handshake_s(facts: &Facts<'_>) -> f64 {
    let round_trip = round_trip(facts).unwrap_or(0.0);
    round_trip * (1.0 + round_trips_of_tls(facts, round_trip))
}

/// Round trips of a TLS handshake: one, or two before TLS 1.3.
fn round_trips_of_tls(facts: &Facts<'_>, round_trip: f64) -> f64 {
    const TWO: f64 = 1.8;
    match facts.seen.connections.tls.min() {
        None => 0.0,
        Some(ns) if ns as f64 / 1e9 >= TWO * round_trip => 2.0,
        Some(_) => 1.0,
    }
}

/// Transfer time of the parts of a request and a response beyond the initial window, in seconds, on a new
/// connection or one with queued packets: they may not be sent at once.
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
