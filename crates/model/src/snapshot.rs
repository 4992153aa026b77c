//! What a worker saw in one interval: bounded size, merged associatively.
//!
//! Must not know clocks or who reads it. Invariant: `started = completed + failed + interrupted + lost` holds
//! for the sum of all snapshots of a run that has ended ([`Counts::is_conserved`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_metric::{MeasurementsDelta, Summary, TimeTrend};
use serde::{Deserialize, Serialize};

use crate::bounded::Bounded;
pub use crate::census::{BODY_SAMPLE_MAX, BODY_SAMPLES_MAX, BodySample, Shape, ShapeTally};
use crate::counts::is_zero;
pub use crate::counts::{Counts, Outcomes};
use crate::error_class::ErrorClass;

/// Maximum distinct status codes.
pub const STATUSES_MAX: usize = 64;
/// Maximum distinct response shapes.
pub const SHAPES_MAX: usize = 64;
/// Maximum distinct error texts.
pub const ERROR_TEXTS_MAX: usize = 64;
/// Maximum distinct remote addresses, and values of the requested header.
pub const PEERS_MAX: usize = 256;

/// Maximum distinct requests.
pub const REQUESTS_MAX: usize = 500;

/// Maximum distinct places to which redirects led.
pub const PLACES_MAX: usize = 32;

fn is_empty(summary: &Summary) -> bool {
    summary.count() == 0
}

fn is_without_values(trend: &TimeTrend) -> bool {
    trend.count() == 0
}

/// Time of answered requests by phase; each in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Waiting for a connection: making one, or waiting for a free stream.
    pub blocked: Summary,
    /// Passing the request to the operating system.
    pub sending: Summary,
    /// From the last byte sent to the first received.
    pub waiting: Summary,
    /// From the first byte received to the last.
    pub receiving: Summary,
}

/// Connections made and the times for making them, in nanoseconds, over new connections only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Connections {
    /// Connections made.
    pub opened: u64,
    /// Failed attempts.
    pub failed: u64,
    /// Name lookup.
    pub dns: Summary,
    /// TCP handshake.
    pub connect: Summary,
    /// TLS handshake.
    pub tls: Summary,
    /// Connections over HTTP/2.
    pub http2: u64,
    /// Minimum round-trip times reported by the kernel, one value per sampled connection.
    pub min_rtt: Summary,
    /// Smoothed round-trip times of the same connections at their end: far above the minimum if a link has a
    /// queue.
    #[serde(default)]
    pub rtt: Summary,
    /// Lost and retransmitted segments on the sampled connections.
    pub retransmits: u64,
    /// Spurious retransmits on the sampled connections: the segment had arrived, but its acknowledgment was
    /// late or lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub needless: u64,
    /// Sampled connections that ended with retransmitted data unacknowledged by the peer.
    #[serde(default)]
    pub unacknowledged: u64,
    /// Sampled connections whose peer never sent anything, and did not acknowledge retransmitted data.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untaken: u64,
    /// Sampled connections that received data out of order, with a gap before it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gapped: u64,
    /// Segments received out of order on the sampled connections.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub out_of_order: u64,
    /// Connections closed because of data that belongs to no response.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub surplus: u64,
    /// Connections closed because the response arrived while part of the request had not been accepted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub half_sent: u64,
    /// Time during which sent data was unacknowledged although the peer was reading, over the sampled
    /// connections, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_flight_ns: u64,
    /// Read delays of sampled reads: how long the last of the data waited in the kernel before the worker read
    /// it. Empty if the system does not report it.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub read_delay: Summary,
}

/// Responses and failures of one peer or header value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Responses.
    pub answered: u64,
    /// Failures.
    pub failed: u64,
    /// Service time of the responses.
    pub time: Summary,
}

/// Requests of one kind among several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestTally {
    /// Responses.
    pub answered: u64,
    /// Responses that passed every check.
    pub good: u64,
    /// Failures.
    pub failed: u64,
    /// Service time of the responses, in nanoseconds.
    pub time: TimeTrend,
    /// Service time of the failures, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub failed_time: Summary,
    /// How long those had waited that the end of the run cut short, in nanoseconds.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub cut_short_time: Summary,
}

impl RequestTally {
    fn merge(&mut self, other: &RequestTally) {
        self.answered += other.answered;
        self.good += other.good;
        self.failed += other.failed;
        self.time.merge(&other.time);
        self.failed_time.merge(&other.failed_time);
        self.cut_short_time.merge(&other.cut_short_time);
    }
}

/// Identifies a kind of failure in the table of error messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ErrorKey {
    /// The class.
    pub class: ErrorClass,
    /// Method and URL of the request, for messages; placeholders not filled in.
    pub request: String,
    /// The remote address; `None` if none was contacted.
    pub address: Option<String>,
    /// What was observed, without details that differ between requests.
    pub detail: String,
}

impl ErrorKey {
    /// Suffix of the detail of requests that were given up before a response began.
    pub const HEADERS_AWAITED: &str = "while waiting for the response headers";
    /// The detail of a handshake during which the peer closed the connection.
    pub const CLOSED_IN_HANDSHAKE: &str = "the peer closed during the TLS handshake";
    /// Precedes the name of an alert, in quotes, in the detail of a handshake that the target ended with it.
    pub const ALERT_SENT: &str = "the target sent the TLS alert";
    /// Alerts about the sender itself, or about records and keys that both sides made (RFC 8446 section 6.2), in Go's words:
    /// the others are about what this side offered.
    const OWN_ALERTS: [&str; 4] = [
        "close notify",
        "internal error",
        "bad record MAC",
        "error decrypting message",
    ];

    /// Whether the requests were given up before a response began.
    #[must_use]
    pub fn awaited_headers(&self) -> bool {
        self.class == ErrorClass::Timeout && self.detail.ends_with(Self::HEADERS_AWAITED)
    }

    /// Whether the target broke off the TLS handshake without refusing what it was offered.
    #[must_use]
    pub fn is_broken_off(&self) -> bool {
        let alert = self.detail.strip_prefix(Self::ALERT_SENT);
        let name = alert.and_then(|rest| rest.split('"').nth(1));
        let is_own = name.is_some_and(|name| Self::OWN_ALERTS.contains(&name));
        self.class == ErrorClass::Tls && (is_own || self.detail == Self::CLOSED_IN_HANDSHAKE)
    }
}

/// Threads of a JMeter plan that ended early, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedThreads {
    /// A data set had no lines left.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub out_of_data: u64,
    /// A sample failed, and the action after an error stopped the thread or the test.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: u64,
}

impl EndedThreads {
    /// Whether no thread ended early.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == EndedThreads::default()
    }

    fn merge(&mut self, other: EndedThreads) {
        self.out_of_data += other.out_of_data;
        self.failed += other.failed;
    }
}

/// What the throughput timers of a JMeter plan did to its samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    /// Samples that a timer held back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub held_back: u64,
    /// Samples that were due already: their thread was slower than the timer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overdue: u64,
}

impl Pace {
    /// Whether no timer had anything to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Pace::default()
    }

    fn merge(&mut self, other: Pace) {
        self.held_back += other.held_back;
        self.overdue += other.overdue;
    }
}

/// What the threads of a JMeter plan did besides requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTimes {
    /// Complete iterations.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub iterations: u64,
    /// Time for which threads slept or waited for others, in nanoseconds: timers, pauses, gathering.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slept_ns: u64,
}

impl ThreadTimes {
    /// Whether there is nothing to say.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == ThreadTimes::default()
    }

    fn merge(&mut self, other: ThreadTimes) {
        self.iterations += other.iterations;
        self.slept_ns += other.slept_ns;
    }
}

/// What a worker, or a whole run, saw in an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Outcomes of the measured requests.
    pub counts: Counts,
    /// Outcomes of the requests of the warm-up.
    pub warm_up: Counts,
    /// Service time of answered requests: from the actual start to the last byte, including connecting if a
    /// connection had to be made.
    pub answered_time: TimeTrend,
    /// Service time of failed requests: from the send, or the failed connect, to the failure.
    pub failed_time: TimeTrend,
    /// How long requests had waited that the end of the run cut short.
    #[serde(default, skip_serializing_if = "is_without_values")]
    pub cut_short_time: TimeTrend,
    /// Response time of answered and failed requests; empty in a closed model.
    pub response_time: TimeTrend,
    /// Schedule lag: actual minus scheduled start of requests that started while a virtual user was free.
    pub schedule_lag: TimeTrend,
    /// Phases of answered requests.
    pub phases: Phases,
    /// Connections.
    pub connections: Connections,
    /// Responses by status code.
    pub statuses: Bounded<u16, u64>,
    /// Responses by shape.
    pub shapes: Bounded<Shape, ShapeTally>,
    /// Failures by message.
    pub errors: Bounded<ErrorKey, u64>,
    /// Responses and failures by remote address.
    pub peers: Bounded<String, Tally>,
    /// Responses by value of the requested header.
    pub by_header: Bounded<String, Tally>,
    /// Requests by method and URL; empty if all are alike.
    #[serde(default = "no_requests", skip_serializing_if = "Bounded::is_empty")]
    pub requests: Bounded<String, RequestTally>,
    /// Responses that failed a check, by check.
    pub failed_checks: Bounded<String, u64>,
    /// Failed checks of a script that examined a response, by the name of its request.
    #[serde(
        default = "no_failed_checks",
        skip_serializing_if = "Bounded::is_empty"
    )]
    pub failed_checks_of: Bounded<String, u64>,
    /// Responses to GET and HEAD that redirects brought from another place than the one asked for, by place
    /// ([`crate::other_place`]).
    #[serde(default = "no_places", skip_serializing_if = "Bounded::is_empty")]
    pub elsewhere: Bounded<String, u64>,
    /// Metrics, checks and groups of a script run; `None` if there were none. A result contains them in its
    /// summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Box<MeasurementsDelta>>,
    /// What changed in the scenarios of a script; a result contains it in its summary.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scenarios: BTreeMap<Arc<str>, ScenarioChange>,
    /// Threads of a plan that ended early.
    #[serde(default, skip_serializing_if = "EndedThreads::is_empty")]
    pub ended_threads: EndedThreads,
    /// What throughput timers of a plan did.
    #[serde(default, skip_serializing_if = "Pace::is_empty")]
    pub pace: Pace,
    /// What threads of a plan did besides requests.
    #[serde(default, skip_serializing_if = "ThreadTimes::is_empty")]
    pub threads: ThreadTimes,
    /// Time during which sinks and the log blocked the worker, in nanoseconds.
    pub back_pressure_ns: u64,
    /// The log's part of it, which agents do not report.
    #[serde(skip)]
    pub log_wait_ns: u64,
    /// CPU time of the worker thread, in nanoseconds.
    pub worker_cpu_ns: u64,
    /// Time during which the worker thread was ready to run but waited for a CPU, in nanoseconds.
    pub run_queue_ns: u64,
    /// How often the worker thread was scheduled on a CPU; zero if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub turns: u64,
}

/// What changed in a scenario of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioChange {
    /// Complete iterations.
    pub iterations: u64,
    /// Interrupted iterations.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub interrupted: u64,
    /// When the last complete one ended, in nanoseconds from the start of the run; zero: none has.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub last_end_ns: u64,
    /// Complete iterations that ended with an uncaught exception.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub thrown: u64,
    /// Iterations that were due but not started because no virtual user was free.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
    /// Time for which virtual users slept, in nanoseconds: pauses, timers, the rest of a minimum duration.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slept_ns: u64,
    /// Change in the number of virtual users that run an iteration; may be negative.
    pub vus_active: i64,
    /// Virtual users initialized.
    pub vus_made: u64,
}

impl ScenarioChange {
    fn merge(&mut self, other: ScenarioChange) {
        self.iterations += other.iterations;
        self.interrupted += other.interrupted;
        self.last_end_ns = self.last_end_ns.max(other.last_end_ns);
        self.thrown += other.thrown;
        self.dropped += other.dropped;
        self.slept_ns += other.slept_ns;
        self.vus_active += other.vus_active;
        self.vus_made += other.vus_made;
    }
}

fn no_requests() -> Bounded<String, RequestTally> {
    Bounded::new(REQUESTS_MAX)
}

fn no_failed_checks() -> Bounded<String, u64> {
    Bounded::new(REQUESTS_MAX)
}

fn no_places() -> Bounded<String, u64> {
    Bounded::new(PLACES_MAX)
}

impl Default for Snapshot {
    fn default() -> Self {
        Snapshot {
            counts: Counts::default(),
            warm_up: Counts::default(),
            answered_time: TimeTrend::default(),
            failed_time: TimeTrend::default(),
            cut_short_time: TimeTrend::default(),
            response_time: TimeTrend::default(),
            schedule_lag: TimeTrend::default(),
            phases: Phases::default(),
            connections: Connections::default(),
            statuses: Bounded::new(STATUSES_MAX),
            shapes: Bounded::new(SHAPES_MAX),
            errors: Bounded::new(ERROR_TEXTS_MAX),
            peers: Bounded::new(PEERS_MAX),
            by_header: Bounded::new(PEERS_MAX),
            requests: no_requests(),
            failed_checks: Bounded::new(ERROR_TEXTS_MAX),
            failed_checks_of: no_failed_checks(),
            elsewhere: no_places(),
            script: None,
            scenarios: BTreeMap::new(),
            ended_threads: EndedThreads::default(),
            pace: Pace::default(),
            threads: ThreadTimes::default(),
            back_pressure_ns: 0,
            log_wait_ns: 0,
            worker_cpu_ns: 0,
            run_queue_ns: 0,
            turns: 0,
        }
    }
}

impl Snapshot {
    /// Merges another interval or worker.
    pub fn merge(&mut self, other: Snapshot) {
        self.counts.merge(&other.counts);
        self.warm_up.merge(&other.warm_up);
        self.answered_time.merge(&other.answered_time);
        self.failed_time.merge(&other.failed_time);
        self.cut_short_time.merge(&other.cut_short_time);
        self.response_time.merge(&other.response_time);
        self.schedule_lag.merge(&other.schedule_lag);
        self.phases.merge(&other.phases);
        self.connections.merge(&other.connections);
        self.statuses
            .merge(other.statuses, |sum, part| *sum += part);
        self.shapes.merge(other.shapes, |sum, part| sum.merge(part));
        self.errors.merge(other.errors, |sum, part| *sum += part);
        self.peers.merge(other.peers, |sum, part| sum.merge(&part));
        self.by_header
            .merge(other.by_header, |sum, part| sum.merge(&part));
        self.requests
            .merge(other.requests, |sum, part| sum.merge(&part));
        self.failed_checks
            .merge(other.failed_checks, |sum, part| *sum += part);
        self.failed_checks_of
            .merge(other.failed_checks_of, |sum, part| *sum += part);
        self.elsewhere
            .merge(other.elsewhere, |sum, part| *sum += part);
        if let Some(script) = other.script {
            self.script.get_or_insert_default().merge(*script);
        }
        for (scenario, change) in other.scenarios {
            self.scenarios.entry(scenario).or_default().merge(change);
        }
        self.ended_threads.merge(other.ended_threads);
        self.pace.merge(other.pace);
        self.threads.merge(other.threads);
        self.back_pressure_ns += other.back_pressure_ns;
        self.log_wait_ns += other.log_wait_ns;
        self.worker_cpu_ns += other.worker_cpu_ns;
        self.run_queue_ns += other.run_queue_ns;
        self.turns += other.turns;
    }

    /// Takes everything except the resource use of the worker's own thread.
    #[must_use]
    pub fn take_but_for_its_thread(&mut self) -> Snapshot {
        let own = Snapshot {
            worker_cpu_ns: std::mem::take(&mut self.worker_cpu_ns),
            run_queue_ns: std::mem::take(&mut self.run_queue_ns),
            turns: std::mem::take(&mut self.turns),
            ..Snapshot::default()
        };
        std::mem::replace(self, own)
    }

    /// Takes what was seen since the last call. Positions in the tables remain valid, and the distributions
    /// keep their memory.
    #[must_use]
    pub fn take(&mut self) -> Snapshot {
        Snapshot {
            counts: std::mem::take(&mut self.counts),
            warm_up: std::mem::take(&mut self.warm_up),
            answered_time: take_trend(&mut self.answered_time),
            failed_time: take_trend(&mut self.failed_time),
            cut_short_time: take_trend(&mut self.cut_short_time),
            response_time: take_trend(&mut self.response_time),
            schedule_lag: take_trend(&mut self.schedule_lag),
            phases: std::mem::take(&mut self.phases),
            connections: std::mem::take(&mut self.connections),
            statuses: self.statuses.take(),
            shapes: self.shapes.take(),
            errors: self.errors.take(),
            peers: self.peers.take(),
            by_header: self.by_header.take(),
            requests: self.requests.take(),
            failed_checks: self.failed_checks.take(),
            failed_checks_of: self.failed_checks_of.take(),
            elsewhere: self.elsewhere.take(),
            script: self.script.take(),
            scenarios: std::mem::take(&mut self.scenarios),
            ended_threads: std::mem::take(&mut self.ended_threads),
            pace: std::mem::take(&mut self.pace),
            threads: std::mem::take(&mut self.threads),
            back_pressure_ns: std::mem::take(&mut self.back_pressure_ns),
            log_wait_ns: std::mem::take(&mut self.log_wait_ns),
            worker_cpu_ns: std::mem::take(&mut self.worker_cpu_ns),
            run_queue_ns: std::mem::take(&mut self.run_queue_ns),
            turns: std::mem::take(&mut self.turns),
        }
    }

    /// The outcomes of all requests, those of the warm-up included.
    #[must_use]
    pub fn whole(&self) -> Counts {
        let mut whole = self.counts.clone();
        whole.merge(&self.warm_up);
        whole
    }

    /// Service time of every request with an outcome: answered or failed.
    #[must_use]
    pub fn service_time(&self) -> TimeTrend {
        let mut all = self.answered_time.clone();
        all.merge(&self.failed_time);
        all
    }
}

fn take_trend(trend: &mut TimeTrend) -> TimeTrend {
    let seen = trend.compact_copy();
    trend.clear();
    seen
}

impl Phases {
    fn merge(&mut self, other: &Phases) {
        self.blocked.merge(&other.blocked);
        self.sending.merge(&other.sending);
        self.waiting.merge(&other.waiting);
        self.receiving.merge(&other.receiving);
    }
}

impl Connections {
    /// How far the smoothed round trip exceeds the minimum if packets queue on the way, in nanoseconds. It has
    /// to be well above 40 ms, by which a busy peer delays acknowledgments.
    pub const QUEUED_NS: u64 = 100_000_000;

    fn merge(&mut self, other: &Connections) {
        self.opened += other.opened;
        self.failed += other.failed;
        self.dns.merge(&other.dns);
        self.connect.merge(&other.connect);
        self.tls.merge(&other.tls);
        self.http2 += other.http2;
        self.min_rtt.merge(&other.min_rtt);
        self.rtt.merge(&other.rtt);
        self.retransmits += other.retransmits;
        self.needless += other.needless;
        self.unacknowledged += other.unacknowledged;
        self.untaken += other.untaken;
        self.gapped += other.gapped;
        self.out_of_order += other.out_of_order;
        self.surplus += other.surplus;
        self.half_sent += other.half_sent;
        self.in_flight_ns += other.in_flight_ns;
        self.read_delay.merge(&other.read_delay);
    }
}

impl Tally {
    /// Merges another interval or worker.
    pub fn merge(&mut self, other: &Tally) {
        self.answered += other.answered;
        self.failed += other.failed;
        self.time.merge(&other.time);
    }
}
