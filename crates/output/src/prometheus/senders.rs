//! The threads that send requests, and the assignment of series to them.
//!
//! A series always goes through the same sender, so its points arrive in order. Must not know how points are
//! encoded, nor who makes them. Invariant: adding points never waits for the receiver.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use loadline_model::fnv::fnv1a;

use super::client::{Client, Speaks, packed};
use super::encode::{Encoded, v1, v2};
use super::points::{Family, Identity, Point};
use super::queue::{Counts, Next, Outcome, Queue, RefusedSeries, Request};
use super::settings::{Protocol, Settings};
use crate::series::SeriesState;

/// Maximum points per request: Prometheus' own default.
const POINTS_MAX: usize = 2_000;
/// Series per sender before another one is started, and the default limit on senders.
const SERIES_PER_SENDER: usize = 20_000;
const SENDERS: usize = 4;

/// The severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Information.
    Note,
    /// Something is wrong.
    Warning,
}

/// Receives messages, one line at a time.
pub type Tell = Arc<dyn Fn(Word, &str) + Send + Sync>;

/// The outcome of everything that was passed to the senders.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) counts: Counts,
    /// The first refusal.
    pub(super) refused: Option<RefusedSeries>,
    /// Why the rest could not be sent; `None`: everything was sent.
    pub(super) error: Option<String>,
}

/// The senders, and the points waiting to fill a request.
pub(super) struct Senders {
    shared: Arc<Shared>,
    senders: Vec<Sender>,
    /// For each sender, the points of its next request.
    waiting: Vec<Vec<Point>>,
    /// Requests since the last flush.
    requests: usize,
    started_ms: i64,
    /// Series whose families have been described to the receiver.
    described: usize,
    describes: bool,
}

impl Senders {
    pub(super) fn new(client: Client, protocol: Protocol, tell: Tell) -> Senders {
        Senders {
            shared: Arc::new(Shared {
                client,
                tell,
                is_v1: AtomicBool::new(protocol == Protocol::V1),
                is_decided: AtomicBool::new(protocol != Protocol::Negotiated),
                is_failing: AtomicBool::new(false),
                was_refused: AtomicBool::new(false),
                has_answered: AtomicBool::new(false),
            }),
            senders: Vec::new(),
            waiting: Vec::new(),
            requests: 0,
            started_ms: 0,
            described: 0,
            describes: false,
        }
    }

    /// Whether the receiver has ever responded.
    pub(super) fn has_answered(&self) -> bool {
        self.shared.has_answered.load(Relaxed)
    }

    pub(super) fn warn(&self, text: &str) {
        (self.shared.tell)(Word::Warning, text);
    }

    pub(super) fn client(&self) -> &Client {
        &self.shared.client
    }

    /// Probes the receiver's version until it has responded.
    pub(super) fn decide_version(&self) {
        let shared = &self.shared;
        if shared.is_decided.load(Relaxed) || shared.is_failing.load(Relaxed) {
            return;
        }
        match shared.client.speaks() {
            Speaks::Unknown(why) => {
                shared.is_v1.store(true, Relaxed);
                shared.heed(&Outcome::Later {
                    why,
                    after: None,
                    is_answer: false,
                });
            }
            speaks => {
                shared.has_answered.store(true, Relaxed);
                shared.is_v1.store(speaks == Speaks::V1, Relaxed);
                shared.is_decided.store(true, Relaxed);
            }
        }
    }

    /// Prepares for the points of a push: as many senders as the series require. Their number never changes
    /// afterwards, since a series would change its sender.
    ///
    /// # Errors
    /// No thread can be started.
    pub(super) fn begin(&mut self, settings: &Settings, state: &SeriesState) -> io::Result<()> {
        self.started_ms = state.started_unix_ms().unwrap_or_default() as i64;
        self.describes = self.described < state.len();
        self.described = state.len();
        if !self.senders.is_empty() || state.is_empty() {
            return Ok(());
        }
        let wanted = settings
            .senders
            .unwrap_or(if state.len() >= SERIES_PER_SENDER {
                SENDERS
            } else {
                1
            });
        for number in 0..wanted {
            self.senders.push(Sender::start(number, &self.shared)?);
            self.waiting.push(Vec::new());
        }
        Ok(())
    }

    /// Adds a point.
    pub(super) fn add(&mut self, point: Point) {
        let number = sender_of(&point.identity, self.senders.len());
        self.waiting[number].push(point);
        if self.waiting[number].len() >= POINTS_MAX {
            self.send(number);
        }
    }

    /// Sends what is waiting; returns the number of requests of the push.
    pub(super) fn flush(&mut self) -> usize {
        for number in 0..self.senders.len() {
            if !self.waiting[number].is_empty() {
                self.send(number);
            }
        }
        std::mem::take(&mut self.requests)
    }

    fn send(&mut self, number: usize) {
        let mut points = std::mem::take(&mut self.waiting[number]);
        self.senders[number].push(self.request(&points));
        points.clear();
        self.waiting[number] = points;
        self.requests += 1;
    }

    fn request(&self, points: &[Point]) -> Request {
        let is_v2 = !self.shared.is_v1.load(Relaxed);
        let Encoded { body, samples } = match is_v2 {
            true => v2(points, self.started_ms),
            false if self.describes => v1(points, &families(points)),
            false => v1(points, &[]),
        };
        Request {
            body: packed(&body),
            is_v2,
            samples,
            is_known: false,
        }
    }

    /// Samples dropped or refused so far.
    pub(super) fn missed(&self) -> u64 {
        self.senders.iter().map(Sender::missed).sum()
    }

    /// Waits until everything is sent or the deadline has passed.
    pub(super) fn finish(&mut self, deadline: Instant) -> Sent {
        let mut sum = Sent::default();
        for sender in std::mem::take(&mut self.senders) {
            let sent = sender.finish(deadline);
            sum.counts.add(&sent.counts);
            sum.refused = sum.refused.or(sent.refused);
            sum.error = sum.error.or(sent.error);
        }
        sum
    }
}

/// The distinct families of points.
fn families(points: &[Point]) -> Vec<&Family> {
    let mut families: Vec<&Family> = points.iter().map(|point| &*point.identity.family).collect();
    families.sort_by(|one, other| one.name.cmp(&other.name));
    families.dedup_by(|one, other| one.name == other.name);
    families
}

/// The sender of a series, by the hash of its labels.
fn sender_of(identity: &Identity, count: usize) -> usize {
    if count == 1 {
        return 0;
    }
    let bytes = identity
        .labels()
        .flat_map(|(name, value)| name.bytes().chain(value.bytes()));
    (fnv1a(bytes) % count as u64) as usize
}

/// State shared between the threads.
struct Shared {
    client: Client,
    tell: Tell,
    is_v1: AtomicBool,
    /// Whether the receiver's version is known.
    is_decided: AtomicBool,
    is_failing: AtomicBool,
    was_refused: AtomicBool,
    has_answered: AtomicBool,
}

/// The requests between the keeper thread and a sender.
#[derive(Default)]
struct Lane {
    queue: Mutex<LaneState>,
    changed: Condvar,
}

#[derive(Default)]
struct LaneState {
    queue: Queue,
    /// When the rest is given up; `None` during the run.
    deadline: Option<Instant>,
    last_trouble: Option<String>,
}

impl Lane {
    fn lock(&self) -> MutexGuard<'_, LaneState> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A sender.
struct Sender {
    lane: Arc<Lane>,
    thread: JoinHandle<()>,
}

impl Sender {
    fn start(number: usize, shared: &Arc<Shared>) -> io::Result<Sender> {
        let lane = Arc::new(Lane::default());
        let (own, shared) = (Arc::clone(&lane), Arc::clone(shared));
        let thread = thread::Builder::new()
            .name(format!("remote write {number}"))
            .spawn(move || send_all(&own, &shared))?;
        Ok(Sender { lane, thread })
    }

    fn push(&self, request: Request) {
        self.lane.lock().queue.push(request);
        self.lane.changed.notify_all();
    }

    /// Samples dropped or refused so far.
    fn missed(&self) -> u64 {
        let state = self.lane.lock();
        state.queue.counts.left_out + state.queue.counts.refused
    }

    /// Waits until everything is sent or the deadline has passed; returns the outcome.
    fn finish(self, deadline: Instant) -> Sent {
        self.lane.lock().deadline = Some(deadline);
        self.lane.changed.notify_all();
        if self.thread.join().is_err() {
            let why = "a sender failed; this is a defect of loadline";
            return Sent {
                error: Some(why.to_owned()),
                ..Sent::default()
            };
        }
        let mut state = self.lane.lock();
        let left = !state.queue.is_empty();
        state.queue.give_up();
        let error = left.then(|| state.last_trouble.take().unwrap_or_default());
        Sent {
            counts: state.queue.counts.clone(),
            refused: state.queue.refused.take(),
            error,
        }
    }
}

fn send_all(lane: &Lane, shared: &Shared) {
    loop {
        let mut state = lane.lock();
        while state.queue.is_empty() && state.deadline.is_none() {
            state = lane
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let is_over = state.deadline.is_some_and(|deadline| now() >= deadline);
        let Some(request) = state.queue.first().cloned().filter(|_| !is_over) else {
            return;
        };
        drop(state);
        let outcome = shared.client.push(&request);
        shared.heed(&outcome);
        let mut state = lane.lock();
        // The sent request may have been dropped meanwhile: then it is no longer the first.
        if state.queue.first() != Some(&request) {
            continue;
        }
        if let Outcome::Later { why, .. } | Outcome::Refused(why) = &outcome {
            state.last_trouble = Some(why.clone());
        }
        let next = state.queue.note(&outcome);
        if let Some(refused) = &state.queue.refused {
            shared.tell_refused(refused);
        }
        if let Next::After(pause) = next {
            wait(lane, state, pause);
        }
    }
}

/// Waits for a pause or for the deadline. The end of the run does not shorten the pause: it would not help an
/// unavailable receiver.
fn wait(lane: &Lane, mut state: MutexGuard<'_, LaneState>, pause: Duration) {
    let until = now() + pause;
    loop {
        let until = state.deadline.map_or(until, |deadline| until.min(deadline));
        let left = until.saturating_duration_since(now());
        if left.is_zero() {
            return;
        }
        (state, _) = lane
            .changed
            .wait_timeout(state, left)
            .unwrap_or_else(PoisonError::into_inner);
    }
}

impl Shared {
    /// Reports, once, the first series whose samples are refused.
    fn tell_refused(&self, refused: &RefusedSeries) {
        if !self.was_refused.swap(true, Relaxed) {
            let text = format!("Prometheus refuses samples: {refused}");
            (self.tell)(Word::Warning, &text);
        }
    }

    /// Reports changes: the receiver is unavailable, available again, or refuses samples.
    fn heed(&self, outcome: &Outcome) {
        let is_silent = matches!(
            outcome,
            Outcome::Later {
                is_answer: false,
                ..
            }
        );
        if !is_silent {
            self.has_answered.store(true, Relaxed);
        }
        match outcome {
            Outcome::Taken => {
                if self.is_failing.swap(false, Relaxed) {
                    let text = "the Prometheus receiver accepts samples again";
                    (self.tell)(Word::Note, text);
                }
            }
            Outcome::Later { why, .. } => {
                if !self.is_failing.swap(true, Relaxed) {
                    let text = format!(
                        "samples cannot be pushed to Prometheus ({why}); they are kept and tried again"
                    );
                    (self.tell)(Word::Warning, &text);
                }
            }
            // Reported once the series is known.
            Outcome::Refused(_) | Outcome::Invalid(_) | Outcome::Partly { .. } => {}
            Outcome::WrongVersion => {
                self.is_decided.store(true, Relaxed);
                if !self.is_v1.swap(true, Relaxed) {
                    let text = "the receiver does not understand remote write 2.0; 1.0 is used from now on";
                    (self.tell)(Word::Warning, text);
                }
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "pauses between attempts and the deadline at the end pass in real time"
)]
pub(super) fn now() -> Instant {
    Instant::now()
}
