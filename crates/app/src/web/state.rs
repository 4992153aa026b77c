//! An unfinished run, as the result that it would have if it ended now.
//!
//! Must not know pages or readers. Invariant: it is made only from the run's events, and has bounded size.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use loadline_metric::{TimeTrend, ValueTrend};
use loadline_model::event::{Before, Mark};
use loadline_model::observation::ObservationLog;
use loadline_model::rates::{measured_ns, rates};
use loadline_model::result::{Environment, Percentiles, Row, RunResult, StopReason, Totals};
use loadline_model::rows::{Rows, joined};
use loadline_model::verdict::Verdict;
use loadline_model::{RunEvent, Snapshot, TestPlan};
use loadline_run::{RunWatch, evaluate_thresholds};

/// Maximum number of marks; more frequent events are visible in the counts.
const MARKS_MAX: usize = 256;

/// Number of seconds that count as current: a single one varies too much if there are few requests.
const RECENT: usize = 5;

/// Rows in the live page's charts: more than the width of a screen in columns, and few enough that the memory
/// of a browser stays constant over hours. The report at the end has all rows of the result.
pub(super) const ROWS_SHOWN: usize = 1_200;

/// The progress of a run, as shown on its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Virtual users are being created.
    Preparing,
    /// It waits for an order.
    Waiting,
    /// `setup()` runs.
    Setup,
    /// It makes load.
    Running,
    /// It is over.
    Ended,
}

impl Phase {
    /// As one word, for the page's script.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Phase::Preparing => "preparing",
            Phase::Waiting => "waiting",
            Phase::Setup => "setup",
            Phase::Running => "running",
            Phase::Ended => "ended",
        }
    }
}

/// The state of a run according to its events.
pub(crate) struct State {
    started: Option<Started>,
    before: Option<Before>,
    rows: Rows,
    seen: Snapshot,
    marks: Vec<Mark>,
    recent: VecDeque<Recent>,
    active_vus_max: u64,
    rss_max_bytes: u64,
    observed: ObservationLog,
    result: Option<Arc<RunResult>>,
}

impl Default for State {
    fn default() -> State {
        State {
            started: None,
            before: None,
            rows: Rows::keeping(ROWS_SHOWN),
            seen: Snapshot::default(),
            marks: Vec::new(),
            recent: VecDeque::with_capacity(RECENT),
            active_vus_max: 0,
            rss_max_bytes: 0,
            observed: ObservationLog::default(),
            result: None,
        }
    }
}

/// One of the last seconds.
struct Recent {
    row: Row,
    service_time: TimeTrend,
    response_time: TimeTrend,
}

struct Started {
    plan: Arc<TestPlan>,
    environment: Arc<Environment>,
    unix_ms: u64,
}

impl State {
    /// Handles an event of the run.
    pub(crate) fn take(&mut self, event: RunEvent) {
        match event {
            RunEvent::Before(before) => self.before = Some(before),
            RunEvent::Started {
                plan,
                environment,
                started_unix_ms,
            } => {
                self.started = Some(Started {
                    plan,
                    environment,
                    unix_ms: started_unix_ms,
                });
            }
            RunEvent::Second { row, delta } => {
                self.active_vus_max = self.active_vus_max.max(row.active_vus);
                self.rss_max_bytes = self.rss_max_bytes.max(row.generator.rss_bytes);
                self.remember(&row, &delta);
                self.rows.add(row);
                // The measurements of a script are summed by its watch.
                let mut delta = Arc::unwrap_or_clone(delta);
                delta.script = None;
                self.seen.merge(delta);
            }
            RunEvent::Mark(mark) if self.marks.len() < MARKS_MAX => self.marks.push(mark),
            RunEvent::Resource(sample) => self.observed.add(&sample),
            RunEvent::Observer(note) => self.observed.note(note),
            RunEvent::Finished(result) => self.result = Some(result),
            // Marks beyond the limit, and events that only sinks need.
            _ => {}
        }
    }

    fn remember(&mut self, row: &Row, delta: &Snapshot) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Recent {
            row: row.clone(),
            service_time: delta.service_time(),
            response_time: delta.response_time.clone(),
        });
    }

    /// The last seconds as one row, with percentiles of all their requests; `None` before the first row, and
    /// after the end of the run.
    pub(crate) fn now(&self) -> Option<Row> {
        let rows = self.recent.iter().map(|recent| recent.row.clone());
        let mut row = rows.reduce(|first, second| joined(&first, &second))?;
        let times = |of: fn(&Recent) -> &TimeTrend| {
            let mut all = TimeTrend::new();
            self.recent.iter().for_each(|recent| all.merge(of(recent)));
            Percentiles::of(&all)
        };
        row.service_time_ns = times(|recent| &recent.service_time);
        row.response_time_ns = times(|recent| &recent.response_time);
        self.result.is_none().then_some(row)
    }

    pub(crate) fn phase(&self) -> Phase {
        match (&self.result, &self.started, self.before) {
            (Some(_), _, _) => Phase::Ended,
            (None, Some(_), _) => Phase::Running,
            (None, None, Some(Before::Paused)) => Phase::Waiting,
            (None, None, Some(Before::Setup | Before::SetUp(_))) => Phase::Setup,
            (None, None, None) => Phase::Preparing,
        }
    }

    /// The complete rows.
    pub(crate) fn rows(&self) -> &[Row] {
        self.rows.whole()
    }

    /// From the start to the latest event, in nanoseconds.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        match &self.result {
            Some(result) => result.totals.elapsed_ns,
            None => self.rows().last().map_or(0, |row| row.at_ns + row.span_ns),
        }
    }

    /// The result, or the current one; `None` before the start.
    pub(crate) fn result(&self, watch: Option<&RunWatch>) -> Option<Arc<RunResult>> {
        if let Some(result) = &self.result {
            return Some(Arc::clone(result));
        }
        let started = self.started.as_ref()?;
        let totals = self.totals(started);
        let measured = Duration::from_nanos(totals.measured_ns);
        let headline = match totals.measured_ns {
            0 => "the run has started".to_owned(),
            _ => "the run is in progress: the verdict follows at its end".to_owned(),
        };
        let (plan, environment) = (TestPlan::clone(&started.plan), &*started.environment);
        Some(Arc::new(RunResult {
            metrics: BTreeMap::new(),
            series: self.rows().to_vec(),
            events: self.marks.clone(),
            observations: self.observed.so_far(),
            thresholds: match totals.seen.counts.started {
                0 => Vec::new(),
                _ => evaluate_thresholds(&started.plan, &totals.seen, measured),
            },
            summary: watch.map(|watch| (*watch.summary()).clone()),
            verdict: Verdict::unfinished(headline),
            ..RunResult::bare(plan, environment.clone(), totals)
        }))
    }

    fn totals(&self, started: &Started) -> Totals {
        let elapsed_ns = self.elapsed_ns();
        let rows = self.rows();
        let offered = rows.iter().filter_map(|row| row.offered);
        let offered = offered.reduce(|sum, row| sum + row);
        let core_ns = |row: &Row| row.generator.cpu_cores * row.span_ns as f64;
        let throttled = rows.iter().filter_map(|row| row.generator.throttled_ns);
        Totals {
            started_unix_ms: started.unix_ms,
            elapsed_ns,
            measured_ns: measured_ns(&started.plan, elapsed_ns),
            stop: StopReason::Finished,
            asked: None,
            never_started: 0,
            due_while_away: None,
            seen: self.unfinished_counted(),
            rates: rates(&started.plan, &self.seen, rows, offered, elapsed_ns),
            active_vus_max: self.active_vus_max,
            cpu_ns: rows.iter().map(core_ns).sum::<f64>() as u64,
            rss_max_bytes: self.rss_max_bytes,
            throttled_ns: throttled.reduce(|sum, row| sum + row),
            window_rates: ValueTrend::default(),
        }
    }

    /// The counts so far, with requests in flight counted as never answered, so that the sums are consistent.
    fn unfinished_counted(&self) -> Snapshot {
        let mut seen = self.seen.clone();
        for counts in [&mut seen.counts, &mut seen.warm_up] {
            counts.interrupt_rest();
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(number: u64, started: u64, completed: u64) -> RunEvent {
        let mut delta = Snapshot::default();
        delta.counts.started = started;
        delta.counts.completed = completed;
        delta.counts.good = completed;
        RunEvent::Second {
            row: Row {
                at_ns: number * 1_000_000_000,
                span_ns: 1_000_000_000,
                started,
                completed,
                good: completed,
                active_vus: number,
                ..Row::default()
            },
            delta: Arc::new(delta),
        }
    }

    fn begun() -> State {
        let words = ["loadline", "bench", "--threshold", "goodput>100", "h"].map(str::to_owned);
        let mut state = State::default();
        assert_eq!(state.phase(), Phase::Preparing);
        state.take(RunEvent::Before(Before::Paused));
        assert_eq!(state.phase(), Phase::Waiting);
        state.take(RunEvent::Started {
            plan: Arc::new(crate::plan::tests_support::plan_of(&words)),
            environment: Arc::default(),
            started_unix_ms: 7,
        });
        state
    }

    #[test]
    fn a_run_that_goes_on_adds_up() {
        let mut state = begun();
        assert!(
            state
                .result(None)
                .is_some_and(|result| result.thresholds.is_empty())
        );
        state.take(second(0, 12, 10));
        state.take(second(1, 10, 12));
        state.take(second(2, 11, 10));
        let result = state.result(None).expect("it has begun");
        let counts = &result.totals.seen.counts;
        assert_eq!((counts.completed, counts.interrupted), (32, 1));
        assert!(counts.is_conserved());
        assert_eq!(result.totals.elapsed_ns, 3_000_000_000);
        assert_eq!(result.totals.active_vus_max, 2);
        assert!(!result.thresholds[0].passed, "32 in 3 s are no 100/s");
        assert_eq!(result.series.len(), 3);
        assert_eq!(state.phase(), Phase::Running);
    }

    #[test]
    fn what_was_lost_with_an_agent_is_not_in_flight() {
        let mut state = begun();
        let RunEvent::Second { row, delta } = second(0, 12, 6) else {
            panic!("made as a second")
        };
        let mut delta = (*delta).clone();
        delta.counts.lost = 4;
        state.take(RunEvent::Second {
            row,
            delta: Arc::new(delta),
        });
        let result = state.result(None).expect("it has begun");
        let counts = &result.totals.seen.counts;
        assert_eq!((counts.interrupted, counts.lost), (2, 4));
        assert!(counts.is_conserved());
    }

    #[test]
    fn now_is_the_last_seconds() {
        let mut state = begun();
        assert_eq!(state.now(), None);
        for number in 0..20 {
            state.take(second(number, number, number));
        }
        let now = state.now().expect("seconds have passed");
        assert_eq!((now.at_ns, now.span_ns), (15_000_000_000, 5_000_000_000));
        assert_eq!(now.good, 15 + 16 + 17 + 18 + 19);
    }

    #[test]
    fn the_end_is_the_runs_own_word() {
        let mut state = begun();
        state.take(second(0, 1, 1));
        let mut last = (*state.result(None).expect("it has begun")).clone();
        last.totals.elapsed_ns = 5;
        state.take(RunEvent::Finished(Arc::new(last)));
        assert_eq!((state.phase(), state.elapsed_ns()), (Phase::Ended, 5));
    }

    #[test]
    fn marks_are_bounded() {
        let mut state = begun();
        for at_ns in 0..1_000 {
            let mark = Mark {
                at_ns,
                kind: "stop".to_owned(),
                text: String::new(),
            };
            state.take(RunEvent::Mark(mark));
        }
        let result = state.result(None).expect("it has begun");
        assert_eq!(result.events.len(), MARKS_MAX);
    }

    #[test]
    fn the_rows_of_a_long_run_stay_few() {
        let mut state = begun();
        for number in 0..5_000 {
            state.take(second(number, 1, 1));
        }
        let result = state.result(None).expect("it has begun");
        assert!(result.series.len() <= ROWS_SHOWN, "{}", result.series.len());
        let told: u64 = result.series.iter().map(|row| row.completed).sum();
        assert!(
            (4_990..=5_000).contains(&told),
            "only the row in the making is missing: {told}"
        );
    }
}
