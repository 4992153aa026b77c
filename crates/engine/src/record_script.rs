//! Where a worker of a script run records: metrics for the snapshots, and every single value for sinks that
//! need them.
//!
//! Complements [`Recorder`](crate::record), which counts requests whatever sent them. Must not know scripts.
//! Invariants: without a sink no tag sets are built; a sink that is too slow blocks the worker and is reported,
//! and loses nothing; what ends within the warm-up goes to the sink alone.

use std::sync::Arc;
use std::time::Duration;

use loadline_metric::{
    BuiltIn, HttpTimes, Measurements, MeasurementsDelta, MetricId, MetricRegistry, NotFinite,
    SeriesPlan, TagSet, Tagged,
};
use loadline_model::Nanos;
use loadline_model::sample::{RequestFacts, TaggedValues};

use crate::batches::{Gone, ValueSender};
use crate::clock::Clock;
use crate::tag_sets::TagSets;

/// Samples handed to a sink at a time.
const BATCH: usize = 256;

/// What a script run measures with.
#[derive(Clone, Debug)]
pub struct ScriptMetrics {
    /// The metrics that exist.
    pub registry: Arc<MetricRegistry>,
    /// Which series are kept.
    pub series: Arc<SeriesPlan>,
    /// The destination of every single value; `None`: none.
    pub values: Option<ValueSender>,
}

/// When something happened, and with which tags.
#[derive(Clone, Copy)]
pub struct Occasion<'a> {
    /// When.
    pub at: Nanos,
    /// The tags, including enabled system tags.
    pub tags: &'a dyn Tagged,
    /// Values that identify single events and so are not tags (`vu`, `iter`); `None` without any.
    pub metadata: Option<&'a Arc<TagSet>>,
}

/// A worker's measurements of a script run.
pub struct ScriptRecorder {
    clock: Clock,
    warm_until: Nanos,
    seen: Measurements,
    values: Option<ValueSender>,
    batch: Vec<TaggedValues>,
    tag_sets: TagSets,
    held_up: HeldUp,
}

/// What blocked a worker, and for how many nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldUp {
    /// The sink.
    pub sink_ns: u64,
    /// The log.
    pub log_ns: u64,
}

impl ScriptRecorder {
    /// An empty recorder.
    #[must_use]
    pub fn new(clock: Clock, metrics: &ScriptMetrics, warm_up: Duration) -> ScriptRecorder {
        ScriptRecorder {
            clock,
            warm_until: Nanos::from(warm_up),
            seen: Measurements::new(&metrics.series, Arc::clone(&metrics.registry)),
            values: metrics.values.clone(),
            batch: Vec::new(),
            tag_sets: TagSets::new(),
            held_up: HeldUp::default(),
        }
    }

    /// Records one hop of an HTTP request; `failed` is `None` without a response callback, and the facts are
    /// only evaluated if a sink needs them.
    pub fn http(
        &mut self,
        times: &HttpTimes,
        failed: Option<bool>,
        facts: impl FnOnce() -> RequestFacts,
        on: Occasion<'_>,
    ) {
        if let Some(seen) = self.measured(on.at) {
            seen.record_http(times, failed, on.at.0, on.tags);
        }
        if self.values.is_some() {
            let mut values = Vec::with_capacity(2 + times.each().len());
            values.push((BuiltIn::HttpReqs.id(), 1.0));
            let each = times.each().map(|(metric, ns)| (metric.id(), ms(ns)));
            values.extend(each);
            // k6 reports the failure rate last.
            values.extend(failed.map(|failed| (BuiltIn::HttpReqFailed.id(), share(failed))));
            self.keep(values, Some(facts()), on);
        }
    }

    /// Records a value of any metric, in its unit (times in milliseconds).
    ///
    /// # Errors
    /// [`NotFinite`] for NaN and the infinities; nothing is recorded.
    pub fn value(
        &mut self,
        metric: MetricId,
        value: f64,
        on: Occasion<'_>,
    ) -> Result<(), NotFinite> {
        match self.measured(on.at) {
            Some(seen) => seen.record(metric, value, on.at.0, on.tags)?,
            None if value.is_finite() => {}
            None => return Err(NotFinite),
        }
        self.keep_one(metric, value, on);
        Ok(())
    }

    /// Records the result of a check; its name and its group are among the tags.
    pub fn check(&mut self, passed: bool, on: Occasion<'_>) {
        if let Some(seen) = self.measured(on.at) {
            seen.check(passed, on.at.0, on.tags);
        }
        self.keep_one(BuiltIn::Checks.id(), share(passed), on);
    }

    /// Records the duration of a completed group; its path is among the tags.
    pub fn group(&mut self, duration_ns: u64, on: Occasion<'_>) {
        self.time(BuiltIn::GroupDuration, duration_ns, on);
    }

    /// Records a complete iteration.
    pub fn iteration(&mut self, duration_ns: u64, on: Occasion<'_>) {
        let duration = BuiltIn::IterationDuration.id();
        if let Some(seen) = self.measured(on.at) {
            seen.record_ns(duration, duration_ns, on.at.0, on.tags);
            seen.count(BuiltIn::Iterations, 1, on.at.0, on.tags);
        }
        if self.values.is_some() {
            let iterations = BuiltIn::Iterations.id();
            let values = vec![(duration, ms(duration_ns)), (iterations, 1.0)];
            self.keep(values, None, on);
        }
    }

    /// Records the bytes of a virtual user's connections since the last call, at the end of an iteration;
    /// zeros, too.
    pub fn data(&mut self, sent: u64, received: u64, on: Occasion<'_>) {
        let both = [(BuiltIn::DataSent, sent), (BuiltIn::DataReceived, received)];
        if let Some(seen) = self.measured(on.at) {
            for (metric, bytes) in both {
                seen.count(metric, bytes, on.at.0, on.tags);
            }
        }
        if self.values.is_some() {
            let values = both.map(|(metric, bytes)| (metric.id(), bytes as f64));
            self.keep(values.to_vec(), None, on);
        }
    }

    /// Records iterations that were due but not started.
    pub fn dropped(&mut self, iterations: u64, on: Occasion<'_>) {
        let metric = BuiltIn::DroppedIterations;
        if let Some(seen) = self.measured(on.at) {
            seen.count(metric, iterations, on.at.0, on.tags);
        }
        self.keep_one(metric.id(), iterations as f64, on);
    }

    /// Counts time during which writing log lines blocked the worker.
    pub(crate) fn held_up(&mut self, ns: u64) {
        self.held_up.log_ns += ns;
    }

    /// Takes what was seen since the last call, with what blocked the worker; passes waiting values to the sink.
    #[must_use]
    pub fn take(&mut self) -> (MeasurementsDelta, HeldUp) {
        self.flush();
        (self.seen.take(), std::mem::take(&mut self.held_up))
    }

    /// Where what happened at an instant is measured; `None` within the warm-up.
    fn measured(&mut self, at: Nanos) -> Option<&mut Measurements> {
        (at >= self.warm_until).then_some(&mut self.seen)
    }

    fn time(&mut self, metric: BuiltIn, ns: u64, on: Occasion<'_>) {
        if let Some(seen) = self.measured(on.at) {
            seen.record_ns(metric.id(), ns, on.at.0, on.tags);
        }
        self.keep_one(metric.id(), ms(ns), on);
    }

    fn keep_one(&mut self, metric: MetricId, value: f64, on: Occasion<'_>) {
        if self.values.is_some() {
            self.keep(vec![(metric, value)], None, on);
        }
    }

    fn keep(
        &mut self,
        values: Vec<(MetricId, f64)>,
        request: Option<RequestFacts>,
        on: Occasion<'_>,
    ) {
        self.batch.push(TaggedValues {
            time_unix_ns: self.clock.started_unix_ns().saturating_add(on.at.0),
            tags: self.tag_sets.of(on.tags),
            metadata: on.metadata.cloned(),
            values,
            request,
        });
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    /// Hands the batch to the sink. A full ring holds the worker up, and that time is counted.
    fn flush(&mut self) {
        let Some(sink) = &self.values else { return };
        if self.batch.is_empty() {
            return;
        }
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        match sink.hand(batch, &self.clock) {
            Ok(held_up_ns) => self.held_up.sink_ns += held_up_ns,
            Err(Gone) => self.values = None,
        }
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn share(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{SyncSender, sync_channel};

    use loadline_model::sample::VusAtWork;

    use super::*;

    fn metrics(values: &Arc<SyncSender<Vec<TaggedValues>>>) -> ScriptMetrics {
        ScriptMetrics {
            registry: Arc::default(),
            series: Arc::default(),
            values: Some(ValueSender::into_channel(values)),
        }
    }

    #[test]
    fn a_request_is_one_entry_for_sinks_and_ten_values_in_the_summary() {
        let (sink, batches) = sync_channel(4);
        let sink = Arc::new(sink);
        let mut recorder = ScriptRecorder::new(Clock::start(), &metrics(&sink), Duration::ZERO);
        let tags = TagSet::new().with("scenario", "a");
        let on = Occasion {
            at: Nanos(5_000_000),
            tags: &tags,
            metadata: None,
        };
        let times = HttpTimes {
            blocked: 1_000_000,
            waiting: 2_500_000,
            ..HttpTimes::default()
        };
        let facts = RequestFacts {
            sent_bytes: 70,
            body_bytes: 2,
            vus: VusAtWork {
                scenario: 3,
                run: 4,
            },
        };
        recorder.http(&times, Some(false), || facts, on);
        recorder.iteration(3_000_000, on);
        recorder.data(10, 20, on);
        recorder.held_up(7);
        let (seen, held_up) = recorder.take();
        let of_log = HeldUp {
            sink_ns: 0,
            log_ns: 7,
        };
        assert_eq!((seen.root.values.len(), held_up), (13, of_log));
        let told = batches.recv().expect("a batch was flushed");
        assert_eq!(told.len(), 3);
        assert_eq!(
            told[0].time_unix_ns,
            recorder.clock.started_unix_ns() + 5_000_000
        );
        assert_eq!(told[0].values.len(), 9);
        let told_facts: Vec<_> = told.iter().map(|values| values.request).collect();
        assert_eq!(told_facts, [Some(facts), None, None]);
        assert!(
            told[0]
                .values
                .contains(&(BuiltIn::HttpReqDuration.id(), 2.5))
        );
        assert_eq!(*told[0].tags, tags);
        let nothing = (MeasurementsDelta::default(), HeldUp::default());
        assert_eq!(recorder.take(), nothing);
    }

    #[test]
    fn what_ends_within_the_warm_up_is_not_measured() {
        let (sink, batches) = sync_channel(4);
        let sink = Arc::new(sink);
        let warm_up = Duration::from_secs(5);
        let mut recorder = ScriptRecorder::new(Clock::start(), &metrics(&sink), warm_up);
        let tags = TagSet::new();
        let facts = || RequestFacts {
            sent_bytes: 1,
            body_bytes: 1,
            vus: VusAtWork {
                scenario: 1,
                run: 1,
            },
        };
        let mut all_at = |second| {
            let on = Occasion {
                at: Nanos::from_secs(second),
                tags: &tags,
                metadata: None,
            };
            recorder.http(&HttpTimes::default(), Some(true), facts, on);
            recorder.check(false, on);
            recorder.group(1, on);
            recorder.iteration(1, on);
            recorder.data(1, 1, on);
            recorder.dropped(1, on);
            let value = recorder.value(BuiltIn::Vus.id(), 1.0, on);
            assert_eq!(value, Ok(()));
            let infinite = recorder.value(BuiltIn::Vus.id(), f64::INFINITY, on);
            assert_eq!(infinite, Err(NotFinite));
            recorder.take().0
        };
        assert_eq!(all_at(4), MeasurementsDelta::default());
        let measured = all_at(5);
        let checks = measured.root.values.get(&BuiltIn::Checks.id());
        assert!(checks.is_some() && measured.root.values.len() > 10);
        let told = batches.try_iter().map(|batch| batch.len());
        assert_eq!(told.collect::<Vec<_>>(), [7, 7], "a sink gets all of it");
    }

    #[test]
    fn a_sink_that_went_away_is_not_asked_again() {
        let (sink, batches) = sync_channel(4);
        drop(batches);
        let sink = Arc::new(sink);
        let mut recorder = ScriptRecorder::new(Clock::start(), &metrics(&sink), Duration::ZERO);
        let tags = TagSet::new();
        let on = Occasion {
            at: Nanos(1),
            tags: &tags,
            metadata: None,
        };
        recorder.dropped(3, on);
        let (seen, _) = recorder.take();
        assert!(recorder.values.is_none());
        let dropped = seen.get(BuiltIn::DroppedIterations.id(), &TagSet::new());
        assert!(dropped.is_some());
    }
}
