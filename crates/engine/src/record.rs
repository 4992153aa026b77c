//! Where a worker's measurements go: the snapshot in progress.
//!
//! On the hot path: no allocation, no clock, no lock. Must not know how connections are made, nor schedules.
//! Invariant: every request counted as started is later counted under exactly one outcome.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use loadline_model::sample::Sample;
use loadline_model::secret::redacted_text;
use loadline_model::snapshot::{Counts, ErrorKey, Shape, Snapshot};
use loadline_model::{ErrorClass, Nanos};
use loadline_steps::thread::{EndedEarly, Pace};

use crate::batches::{Gone, hand};
use crate::clock::Clock;
use crate::connections_seen::ConnectionsSeen;
use crate::exchange::{Answer, RequestRow};
use crate::live::{LiveCounters, vus_at_work};
use crate::net::Failure;

/// Samples handed to a sink at a time.
const BATCH: usize = 512;

/// The timestamps and sizes of one request; durations in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    /// Its scheduled start; `None` in a closed model.
    pub(crate) intended: Option<Nanos>,
    pub(crate) started: Nanos,
    pub(crate) blocked_ns: u64,
    pub(crate) dns_ns: u64,
    pub(crate) connect_ns: u64,
    pub(crate) sending_ns: u64,
    pub(crate) waiting_ns: u64,
    pub(crate) receiving_ns: u64,
    pub(crate) done: Nanos,
    /// Bytes of the requests that were answered, including redirects.
    pub(crate) sent_bytes: u64,
}

impl Life {
    #[inline]
    pub(crate) fn begin(intended: Option<Nanos>, started: Nanos) -> Life {
        Life {
            intended,
            started,
            blocked_ns: 0,
            dns_ns: 0,
            connect_ns: 0,
            sending_ns: 0,
            waiting_ns: 0,
            receiving_ns: 0,
            done: started,
            sent_bytes: 0,
        }
    }

    #[inline]
    fn service_ns(&self) -> u64 {
        self.done.since(self.started)
    }

    #[inline]
    fn planned(&self) -> Nanos {
        self.intended.unwrap_or(self.started)
    }
}

/// Where samples go.
pub(crate) struct SampleSink {
    pub(crate) to: SyncSender<Vec<Sample>>,
    /// The counters of the run's workers, for the number of active virtual users.
    pub(crate) all_live: Vec<Arc<LiveCounters>>,
}

/// A worker's measurements.
pub(crate) struct Recorder {
    clock: Clock,
    seen: Snapshot,
    live: Arc<LiveCounters>,
    warm_until: Nanos,
    samples: Option<SampleSink>,
    batch: Vec<Sample>,
    /// Script clients record here too.
    pub(crate) connections: Rc<ConnectionsSeen>,
}

impl Recorder {
    pub(crate) fn new(
        clock: Clock,
        live: Arc<LiveCounters>,
        warm_up: std::time::Duration,
        samples: Option<SampleSink>,
    ) -> Recorder {
        Recorder {
            clock,
            seen: Snapshot::default(),
            live,
            warm_until: Nanos::from(warm_up),
            samples,
            batch: Vec::new(),
            connections: Rc::default(),
        }
    }

    /// Counts the start of a request.
    #[inline]
    pub(crate) fn started(&mut self, life: &Life) {
        self.live.count_started();
        self.counts(life).started += 1;
    }

    /// Records the schedule lag of a virtual user that has been free since `free_since`: before that, the
    /// arrival waited for a virtual user, here or on another worker, which is not the generator's lag.
    #[inline]
    pub(crate) fn lag(&mut self, intended: Nanos, free_since: Nanos, started: Nanos) {
        if self.is_measured(intended) {
            let could_start = intended.max(free_since);
            self.seen.schedule_lag.record(started.since(could_start));
        }
    }

    /// Records a response.
    #[inline]
    pub(crate) fn answered(
        &mut self,
        life: &Life,
        answer: &Answer,
        good: bool,
        peer: Option<usize>,
    ) {
        self.live.count_completed();
        let body_bytes = answer.body_bytes;
        let counts = self.counts(life);
        counts.completed += 1;
        counts.good += u64::from(good);
        counts.body_bytes += body_bytes;
        if self.is_measured(life.planned()) {
            self.measure_answer(life, answer, good, peer);
        }
        self.keep_sample(life, answer.status, None, body_bytes);
    }

    #[inline]
    fn measure_answer(&mut self, life: &Life, answer: &Answer, good: bool, peer: Option<usize>) {
        let service_ns = life.service_ns();
        let seen = &mut self.seen;
        seen.answered_time.record(service_ns);
        if let Some(intended) = life.intended {
            seen.response_time.record(life.done.since(intended));
        }
        seen.phases.blocked.record(life.blocked_ns);
        seen.phases.sending.record(life.sending_ns);
        seen.phases.waiting.record(life.waiting_ns);
        seen.phases.receiving.record(life.receiving_ns);
        *seen.statuses.row(answer.status) += 1;
        let position = shape_position(seen, answer);
        let shape = seen.shapes.row_at(position);
        shape.count += 1;
        shape.good += u64::from(good);
        shape.body_size.record(answer.body_bytes);
        let tally = seen.peers.row_at(peer);
        tally.answered += 1;
        tally.time.record(service_ns);
        if let Some(tag) = &answer.tag {
            let tally = seen.by_header.row(tag.clone());
            tally.answered += 1;
            tally.time.record(service_ns);
        }
    }

    /// Samples the body of a response that was just recorded.
    pub(crate) fn sample_body(&mut self, answer: &Answer, body: &[u8]) {
        let position = shape_position(&mut self.seen, answer);
        self.seen.shapes.row_at(position).sample(body);
    }

    /// Records a failure.
    pub(crate) fn failed(&mut self, life: &Life, request: &str, failure: &Failure) {
        self.live.count_failed();
        self.counts(life).failed[failure.class.index()] += 1;
        let class = failure.class;
        if self.is_measured(life.planned()) {
            self.measure_failure(life, request, failure);
        }
        self.keep_sample(life, 0, Some(class), 0);
    }

    fn measure_failure(&mut self, life: &Life, request: &str, failure: &Failure) {
        let seen = &mut self.seen;
        seen.failed_time.record(life.service_ns());
        if let Some(intended) = life.intended {
            seen.response_time.record(life.done.since(intended));
        }
        let address = failure.address.map(|address| address.to_string());
        if let Some(address) = &address {
            seen.peers.row(address.clone()).failed += 1;
        }
        let key = ErrorKey {
            class: failure.class,
            request: redacted_text(request).into_owned(),
            address,
            detail: redacted_text(&failure.detail).into_owned(),
        };
        *seen.errors.row(key) += 1;
    }

    /// Counts a request that was cut short by the end of the run, with the time that it had waited.
    pub(crate) fn interrupted(&mut self, life: &Life) {
        self.live.count_interrupted();
        self.counts(life).interrupted += 1;
        if self.is_measured(life.planned()) {
            let waited = self.clock.now().since(life.started);
            self.seen.cut_short_time.record(waited);
        }
    }

    /// Counts arrivals that were due, about now, while no virtual user was free.
    pub(crate) fn dropped(&mut self, arrivals: u64, now: Nanos) {
        self.counts_at(now).dropped += arrivals;
    }

    pub(crate) fn redirected(&mut self, life: &Life) {
        self.counts(life).redirects += 1;
    }

    /// Counts a response, just recorded, that redirects brought from another place.
    pub(crate) fn came_from(&mut self, place: String, life: &Life) {
        if self.is_measured(life.planned()) {
            *self.seen.elsewhere.row(place) += 1;
        }
    }

    pub(crate) fn retried(&mut self, life: &Life) {
        self.counts(life).retried += 1;
    }

    pub(crate) fn check_failed(&mut self, life: &Life, check: String) {
        if self.is_measured(life.planned()) {
            *self.seen.failed_checks.row(check) += 1;
        }
    }

    /// Counts a check of a script that the response to a request of this name failed.
    pub(crate) fn check_failed_of(&mut self, request: &str, at: Nanos) {
        if self.is_measured(at) {
            let table = &mut self.seen.failed_checks_of;
            let row = table.position_by(|known| known == request, || request.to_owned());
            *table.row_at(row) += 1;
        }
    }

    /// Counts bytes on the wire, which belong to no particular request.
    pub(crate) fn transferred(&mut self, (sent, received): (u64, u64), in_warm_up: bool) {
        let counts = if in_warm_up {
            &mut self.seen.warm_up
        } else {
            &mut self.seen.counts
        };
        counts.bytes_sent += sent;
        counts.bytes_received += received;
    }

    /// The row of a remote address; valid for the worker's lifetime.
    pub(crate) fn peer(&mut self, address: Option<std::net::SocketAddr>) -> Option<usize> {
        let name = address.map_or_else(|| "unix socket".to_owned(), |at| at.to_string());
        self.seen.peers.position(name)
    }

    /// The row of one of several requests; valid for the worker's lifetime.
    pub(crate) fn request_row(&mut self, request: &str) -> RequestRow {
        let request = redacted_text(request).into_owned();
        RequestRow(self.seen.requests.position(request))
    }

    /// Records the outcome of one of several requests: a response, good or not, or a failure (`None`).
    #[inline]
    pub(crate) fn one_of_several(&mut self, row: RequestRow, life: &Life, good: Option<bool>) {
        if !self.is_measured(life.planned()) {
            return;
        }
        let tally = self.seen.requests.row_at(row.0);
        match good {
            Some(good) => {
                tally.answered += 1;
                tally.good += u64::from(good);
                tally.time.record(life.service_ns());
            }
            None => {
                tally.failed += 1;
                tally.failed_time.record(life.service_ns());
            }
        }
    }

    /// Records that the end of the run cut one of several requests short.
    pub(crate) fn one_cut_short(&mut self, row: RequestRow, life: &Life) {
        if self.is_measured(life.planned()) {
            let waited = self.clock.now().since(life.started);
            let tally = self.seen.requests.row_at(row.0);
            tally.cut_short_time.record(waited);
        }
    }

    /// Takes what was seen since the last call.
    pub(crate) fn take(&mut self) -> Snapshot {
        self.flush_samples();
        self.seen.connections = self.connections.take();
        self.seen.take()
    }

    /// Whether an arrival planned for this instant is past the warm-up.
    #[inline]
    fn is_measured(&self, planned: Nanos) -> bool {
        planned >= self.warm_until
    }

    /// Corrects the count of a response: a later check came to the opposite result.
    pub(crate) fn overruled(&mut self, at: Nanos, is_good: bool) {
        let good = &mut self.counts_at(at).good;
        *good = match is_good {
            true => good.saturating_add(1),
            false => good.saturating_sub(1),
        };
    }

    /// Counts a thread of a plan that ended early.
    pub(crate) fn ended_thread(&mut self, early: EndedEarly) {
        let ended = &mut self.seen.ended_threads;
        *match early {
            EndedEarly::OutOfData => &mut ended.out_of_data,
            EndedEarly::Failed => &mut ended.failed,
        } += 1;
    }

    /// Counts what throughput timers did to samples of a plan.
    pub(crate) fn paced(&mut self, pace: Pace) {
        self.seen.pace.held_back += pace.held_back;
        self.seen.pace.overdue += pace.overdue;
    }

    /// Adds time for which a thread of a plan slept or waited for others.
    pub(crate) fn slept(&mut self, ns: u64) {
        self.seen.threads.slept_ns += ns;
    }

    /// Counts an iteration of a thread of a plan.
    pub(crate) fn iterated(&mut self) {
        self.seen.threads.iterations += 1;
    }

    #[inline]
    fn counts(&mut self, life: &Life) -> &mut Counts {
        self.counts_at(life.planned())
    }

    #[inline]
    fn counts_at(&mut self, planned: Nanos) -> &mut Counts {
        if planned < self.warm_until {
            &mut self.seen.warm_up
        } else {
            &mut self.seen.counts
        }
    }

    #[inline]
    fn keep_sample(
        &mut self,
        life: &Life,
        status: u16,
        error: Option<ErrorClass>,
        body_bytes: u64,
    ) {
        let Some(sink) = &self.samples else { return };
        self.batch.push(Sample {
            start_ns: life.started.0,
            intended_ns: life.planned().0,
            dns_ns: life.dns_ns,
            connect_ns: life.connect_ns,
            sending_ns: life.sending_ns,
            waiting_ns: life.waiting_ns,
            receiving_ns: life.receiving_ns,
            service_ns: life.service_ns(),
            status,
            error,
            body_bytes,
            sent_bytes: life.sent_bytes,
            vus: vus_at_work(&sink.all_live, None).run,
        });
        if self.batch.len() >= BATCH {
            self.flush_samples();
        }
    }

    /// Counts time during which a sink blocked the worker.
    pub(crate) fn held_up(&mut self, ns: u64) {
        self.seen.back_pressure_ns += ns;
    }

    /// Hands the batch to the sink. A full ring holds the worker up, and that time is counted: a
    /// sink that is too slow must be seen, not lose samples.
    fn flush_samples(&mut self) {
        let Some(sink) = &self.samples else { return };
        if self.batch.is_empty() {
            return;
        }
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        match hand(&sink.to, batch, &self.clock) {
            Ok(held_up_ns) => self.held_up(held_up_ns),
            Err(Gone) => self.samples = None,
        }
    }
}

#[inline]
fn shape_position(seen: &mut Snapshot, answer: &Answer) -> Option<usize> {
    let size_class = Shape::size_class_of(answer.body_bytes);
    let content_type = answer.content_type();
    seen.shapes.position_by(
        |shape| {
            shape.status == answer.status
                && shape.size_class == size_class
                && shape.content_type.as_bytes() == content_type
        },
        || Shape {
            status: answer.status,
            size_class,
            content_type: String::from_utf8_lossy(content_type).into_owned(),
        },
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_happens_in_the_warm_up_is_kept_apart() {
        let mut recorder =
            Recorder::new(Clock::start(), Arc::default(), Duration::from_secs(1), None);
        let early = Life::begin(None, Nanos(5));
        let late = Life::begin(None, Nanos::from(Duration::from_secs(1)));
        recorder.transferred((10, 100), true);
        recorder.transferred((1, 2), false);
        for (life, times) in [(&early, 3), (&late, 1)] {
            for _ in 0..times {
                recorder.started(life);
                recorder.redirected(life);
                recorder.retried(life);
                recorder.dropped(1, life.planned());
                recorder.check_failed(life, "size>1".to_owned());
                let started = life.started + Duration::from_millis(1);
                recorder.lag(life.planned(), Nanos(0), started);
                let failure = Failure::new(ErrorClass::Refused, "no".to_owned());
                recorder.failed(life, "GET /", &failure);
            }
        }
        let seen = recorder.take();
        for (counts, times, bytes) in [(&seen.warm_up, 3, (10, 100)), (&seen.counts, 1, (1, 2))] {
            assert_eq!((counts.bytes_sent, counts.bytes_received), bytes);
            assert_eq!(
                (counts.started, counts.redirects, counts.retried),
                (times, times, times)
            );
            assert_eq!(counts.dropped, times);
            assert_eq!(counts.failed_total(), times);
        }
        assert_eq!(seen.errors.rows().map(|(_, n)| *n).sum::<u64>(), 1);
        assert_eq!(seen.failed_checks.rows().map(|(_, n)| *n).sum::<u64>(), 1);
        assert_eq!(seen.schedule_lag.count(), 1);
    }

    #[test]
    fn an_arrival_that_waited_for_a_virtual_user_was_not_late_by_the_generator_until_one_was_free()
    {
        let mut recorder = Recorder::new(Clock::start(), Arc::default(), Duration::ZERO, None);
        let ms = |ms: u64| Nanos::from(Duration::from_millis(ms));
        // Free all the time, and free only 1.7 s after the arrival was due.
        recorder.lag(ms(100), ms(20), ms(103));
        recorder.lag(ms(100), ms(1_800), ms(1_801));
        let lag = recorder.take().schedule_lag;
        assert_eq!((lag.min(), lag.max()), (Some(1_000_000), Some(3_000_000)));
    }
}
