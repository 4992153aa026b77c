//! Reports of observers of the system under test, on the run's time axis.
//!
//! Must not know how anything is read. Invariant: a reading is emitted as an event and kept, or counted as left
//! out; observers without reports never delay the load.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use loadline_model::event::Mark;
use loadline_model::observation::{
    OBSERVER_MARK, ObservationLog, Observations, Observed, ObserverNote, Phases, ResourceSample,
    RunWindow, Span,
};
use loadline_model::rates::level_span;
use loadline_model::{Nanos, RunCommand, RunEvent, TestPlan};

use crate::orders::EarlyOrders;

/// Interval for checking whether observers have settled after the load.
const LOOK: Duration = Duration::from_millis(50);

/// The started observers, as the run sees them.
pub trait ObserverSource: Send {
    /// Notifies them of the end of the load: only the tail, and the draining of pipelines, remain.
    fn load_ended(&mut self);
    /// Whether there is nothing left to wait for.
    fn is_settled(&self) -> bool;
    /// Notifies them that a person ended the wait: from now on what is being read is waited for only a moment.
    fn cut_short(&mut self);
    /// Stops, and returns readings that are only possible once the window is known.
    fn conclude(self: Box<Self>, window: RunWindow) -> Vec<Observed>;
}

/// Observers that read alongside the run.
pub struct ObserverFeed {
    /// Their reports, as they arrive.
    pub told: Receiver<Observed>,
    /// Their threads.
    pub source: Box<dyn ObserverSource>,
    /// How long they read before the load starts.
    pub baseline: Duration,
    /// The names of those that read the generator itself.
    pub of_generator: Vec<String>,
    /// The address of those that scrape a page, as IP:PORT by name.
    pub read_at: BTreeMap<String, String>,
    /// The metric of those that scrape only one, by name.
    pub scraped: BTreeMap<String, String>,
}

/// The reports of observers so far.
pub(crate) struct Observing {
    feed: ObserverFeed,
    log: ObservationLog,
    started_unix_ns: u64,
    lost: Option<String>,
}

impl Observing {
    /// Waits for the baseline, unless an order ends the test.
    pub(crate) fn begin(
        feed: ObserverFeed,
        commands: &Receiver<RunCommand>,
        early: &mut EarlyOrders,
    ) -> Observing {
        early.wait(commands, feed.baseline);
        Observing {
            feed,
            log: ObservationLog::default(),
            started_unix_ns: 0,
            lost: None,
        }
    }

    /// Sets the start of the run.
    pub(crate) fn start(&mut self, started_unix_ms: u64) {
        self.started_unix_ns = started_unix_ms.saturating_mul(1_000_000);
    }

    /// Emits the observers' reports since the last call; returns, once, why the run cannot continue.
    pub(crate) fn look(&mut self, on_event: &mut dyn FnMut(RunEvent)) -> Option<String> {
        while let Ok(observed) = self.feed.told.try_recv() {
            self.take(observed, on_event);
        }
        self.lost.take()
    }

    /// Waits after the load until observers have settled, an order ends the wait, or a required one is lost; returns
    /// how it was lost.
    pub(crate) fn settle(
        &mut self,
        commands: &Receiver<RunCommand>,
        on_event: &mut dyn FnMut(RunEvent),
    ) -> Option<String> {
        self.feed.source.load_ended();
        while !self.feed.source.is_settled() {
            match commands.recv_timeout(LOOK) {
                Ok(order) if order.is_stop() => {
                    self.feed.source.cut_short();
                    break;
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::park_timeout(LOOK),
            }
            if let Some(lost) = self.look(on_event) {
                return Some(lost);
            }
        }
        self.look(on_event)
    }

    /// Stops the observers; returns all their reports, with a mark if some were left out.
    pub(crate) fn finish(
        mut self,
        plan: &TestPlan,
        elapsed: Nanos,
        on_event: &mut dyn FnMut(RunEvent),
    ) -> (Observations, Option<Mark>) {
        let steady = steady_span(plan, elapsed);
        let at = |ns: i64| {
            self.started_unix_ns
                .saturating_add(u64::try_from(ns).unwrap_or(0))
        };
        let window = RunWindow {
            start_unix_ns: at(0),
            end_unix_ns: at(i64_of(elapsed)),
            steady_unix_ns: steady.map(|span| (at(span.from_ns), at(span.to_ns))),
        };
        self.look(on_event);
        let Observing {
            feed,
            mut log,
            started_unix_ns,
            ..
        } = self;
        let ObserverFeed {
            told,
            source,
            of_generator,
            read_at,
            scraped,
            ..
        } = feed;
        let last = source.conclude(window);
        for observed in told.try_iter().chain(last) {
            keep(&mut log, started_unix_ns, observed, on_event);
        }
        let mark = (log.left_out() > 0).then(|| left_out(log.left_out(), elapsed));
        let phases = phases(plan, elapsed, steady, log.reach());
        let observations = Observations {
            of_generator,
            read_at,
            scraped,
            ..log.finish(Some(phases))
        };
        (observations, mark)
    }

    fn take(&mut self, observed: Observed, on_event: &mut dyn FnMut(RunEvent)) {
        let lost = keep(&mut self.log, self.started_unix_ns, observed, on_event);
        self.lost = self.lost.take().or(lost);
    }
}

/// Stores and emits one report; returns why the run cannot continue.
fn keep(
    log: &mut ObservationLog,
    started_unix_ns: u64,
    observed: Observed,
    on_event: &mut dyn FnMut(RunEvent),
) -> Option<String> {
    let since_start = |unix_ns: u64| {
        let forth = i64::try_from(unix_ns).unwrap_or(i64::MAX);
        forth.saturating_sub(i64::try_from(started_unix_ns).unwrap_or(0))
    };
    match observed {
        Observed::Reading(reading) => {
            let sample = ResourceSample {
                at_ns: since_start(reading.at_unix_ns),
                observer: reading.series.observer,
                component: reading.series.component,
                metric: reading.series.metric,
                value: reading.value,
            };
            log.add(&sample);
            on_event(RunEvent::Resource(sample));
            None
        }
        Observed::Remark(remark) => {
            let note = ObserverNote {
                at_ns: since_start(remark.at_unix_ns),
                observer: remark.observer.to_string(),
                component: remark.component.to_string(),
                kind: remark.kind,
                text: remark.text,
            };
            log.note(note.clone());
            on_event(RunEvent::Observer(note));
            None
        }
        Observed::Lost { observer, text } => {
            Some(format!("the required observer {observer} is lost: {text}"))
        }
    }
}

fn left_out(count: u64, at: Nanos) -> Mark {
    Mark {
        at_ns: at.0,
        kind: OBSERVER_MARK.to_owned(),
        text: format!(
            "{count} readings and notes of observers were dropped: a result holds no more series or notes; observe less"
        ),
    }
}

fn i64_of(nanos: Nanos) -> i64 {
    i64::try_from(nanos.0).unwrap_or(i64::MAX)
}

/// The period in which every scenario holds its highest load, from the start of the run; `None` if there are
/// only ramps. Its first second contains connection setup and is left out if the period is longer.
fn steady_span(plan: &TestPlan, elapsed: Nanos) -> Option<Span> {
    let (from, until) = level_span(plan)?;
    let until = until.unwrap_or(elapsed).min(elapsed);
    let mut span = Span {
        from_ns: i64_of(from.max(Nanos::from(plan.warm_up))),
        to_ns: i64_of(until),
    };
    let second = i64_of(Nanos(Nanos::PER_SECOND));
    if span.to_ns - span.from_ns > 2 * second {
        span.from_ns += second;
    }
    (span.from_ns < span.to_ns).then_some(span)
}

fn phases(
    plan: &TestPlan,
    elapsed: Nanos,
    steady: Option<Span>,
    reach: Option<(i64, i64)>,
) -> Phases {
    let (first, last) = reach.unwrap_or((0, 0));
    let (warm, end) = (i64_of(Nanos::from(plan.warm_up)), i64_of(elapsed));
    let span = |from_ns, to_ns| Span { from_ns, to_ns };
    let load = span(warm.min(end), end);
    Phases {
        baseline: span(first.min(0), 0),
        warm_up: span(0, warm.min(end)),
        load,
        steady: steady.unwrap_or(load),
        tail: span(end, last.saturating_add(1).max(end)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::{self, SyncSender};

    use loadline_model::observation::{Aggregation, GAP_NOTE, Reading, Remark, SeriesName};

    use super::*;
    use crate::verdict::tests::builder::{Run, arrivals};

    /// Observers that settle after the load, unless they hang, and report one more thing at the end.
    struct Script {
        told: SyncSender<Observed>,
        tail: u64,
        hangs: bool,
        is_cut_short: Arc<AtomicBool>,
    }

    impl ObserverSource for Script {
        fn load_ended(&mut self) {
            self.told
                .send(reading(12_000, 4.0))
                .expect("the run listens");
            self.tail = 1;
        }

        fn is_settled(&self) -> bool {
            self.tail > 0 && !self.hangs
        }

        fn cut_short(&mut self) {
            self.is_cut_short.store(true, Ordering::Release);
        }

        fn conclude(self: Box<Self>, window: RunWindow) -> Vec<Observed> {
            assert_eq!(window.start_unix_ns, 1_000_000_000);
            assert_eq!(window.end_unix_ns, 11_000_000_000);
            vec![reading(13_000, 5.0)]
        }
    }

    fn reading(unix_ms: u64, value: f64) -> Observed {
        Observed::Reading(Reading {
            series: SeriesName {
                observer: Arc::from("api"),
                component: Arc::from("api"),
                metric: Arc::from("cpu_cores"),
            },
            at_unix_ns: unix_ms * 1_000_000,
            value,
        })
    }

    fn script(told: &SyncSender<Observed>) -> Script {
        Script {
            told: told.clone(),
            tail: 0,
            hangs: false,
            is_cut_short: Arc::default(),
        }
    }

    fn plan() -> TestPlan {
        Run::new(arrivals(100, 10, 10), 10.0, 1_000, 1.0).plan
    }

    fn observing() -> (
        Observing,
        SyncSender<Observed>,
        mpsc::Sender<RunCommand>,
        Receiver<RunCommand>,
    ) {
        let (told, receiver) = mpsc::sync_channel(64);
        let (orders, commands) = mpsc::channel();
        let feed = ObserverFeed {
            told: receiver,
            source: Box::new(script(&told)),
            baseline: Duration::ZERO,
            of_generator: vec!["mine".to_owned()],
            read_at: BTreeMap::new(),
            scraped: BTreeMap::new(),
        };
        let mut early = EarlyOrders::default();
        let mut observing = Observing::begin(feed, &commands, &mut early);
        assert_eq!(early, EarlyOrders::default());
        observing.start(1_000);
        (observing, told, orders, commands)
    }

    #[test]
    fn readings_lie_on_the_runs_time_axis_in_their_phases() {
        let (mut observing, told, _orders, commands) = observing();
        let mut events = 0;
        let mut count = |_: RunEvent| events += 1;
        for observed in [reading(500, 1.0), reading(3_000, 2.0), reading(5_000, 3.0)] {
            told.send(observed).expect("the run listens");
        }
        assert_eq!(observing.look(&mut count), None);
        assert_eq!(observing.settle(&commands, &mut count), None);
        let elapsed = Nanos(10 * Nanos::PER_SECOND);
        let (seen, mark) = observing.finish(&plan(), elapsed, &mut count);
        assert_eq!((events, mark), (5, None));
        let phases = seen.phases.expect("phases are told");
        let series = seen
            .find("api", "api", "cpu_cores")
            .expect("the series is kept");
        let avg = |span| series.aggregate(Aggregation::Avg, span);
        assert_eq!(avg(phases.baseline), Some(1.0));
        assert_eq!(avg(phases.load), Some(2.5));
        assert_eq!(avg(phases.tail), Some(4.5));
        assert_eq!(seen.of_generator, ["mine"]);
    }

    #[test]
    fn words_are_kept_and_a_lost_observer_is_told_once() {
        let (mut observing, told, _orders, _commands) = observing();
        let remark = Remark {
            observer: Arc::from("api"),
            component: Arc::from("api"),
            at_unix_ns: 2_000_000_000,
            kind: GAP_NOTE.to_owned(),
            text: "the page did not answer".to_owned(),
        };
        let lost = Observed::Lost {
            observer: Arc::from("api"),
            text: "no such process".to_owned(),
        };
        for observed in [Observed::Remark(remark), lost] {
            told.send(observed).expect("the run listens");
        }
        let why = observing.look(&mut |_| {});
        assert_eq!(
            why.as_deref(),
            Some("the required observer api is lost: no such process")
        );
        assert_eq!(observing.look(&mut |_| {}), None);
        let (seen, _) = observing.finish(&plan(), Nanos(10 * Nanos::PER_SECOND), &mut |_| {});
        assert_eq!((seen.notes.len(), seen.notes[0].at_ns), (1, 1_000_000_000));
    }

    #[test]
    fn an_order_after_the_load_ends_the_wait_for_observers_that_hang() {
        let (mut observing, told, orders, commands) = observing();
        let is_cut_short = Arc::<AtomicBool>::default();
        observing.feed.source = Box::new(Script {
            hangs: true,
            is_cut_short: Arc::clone(&is_cut_short),
            ..script(&told)
        });
        let resume = orders.send(RunCommand::Resume);
        resume.expect("the run listens");
        let stop = orders.send(RunCommand::StopGracefully);
        stop.expect("the run listens");
        assert_eq!(observing.settle(&commands, &mut |_| {}), None);
        assert!(is_cut_short.load(Ordering::Acquire));
    }

    #[test]
    fn a_required_observer_that_is_lost_after_the_load_ends_the_wait_for_it() {
        let (mut observing, told, _orders, commands) = observing();
        observing.feed.source = Box::new(Script {
            hangs: true,
            ..script(&told)
        });
        let lost = Observed::Lost {
            observer: Arc::from("api"),
            text: "no answer".to_owned(),
        };
        told.send(lost).expect("the run listens");
        let why = observing.settle(&commands, &mut |_| {});
        let expected = "the required observer api is lost: no answer";
        assert_eq!(why.as_deref(), Some(expected));
    }

    #[test]
    fn an_order_during_the_baseline_ends_it_and_is_passed_on() {
        let (told, receiver) = mpsc::sync_channel(1);
        let (orders, commands) = mpsc::channel();
        orders.send(RunCommand::StopNow).expect("the run listens");
        let feed = ObserverFeed {
            told: receiver,
            source: Box::new(script(&told)),
            baseline: Duration::from_secs(3_600),
            of_generator: Vec::new(),
            read_at: BTreeMap::new(),
            scraped: BTreeMap::new(),
        };
        let mut early = EarlyOrders::default();
        Observing::begin(feed, &commands, &mut early);
        assert_eq!(early.stop, Some(RunCommand::StopNow));
    }
}
