//! Runs with workers that panic, and around which something fails or is ordered.
//!
//! Must not start workers: their reports are prepared. Invariant: a run ends, and says what happened.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};

use loadline_engine::clock::Clock;
use loadline_engine::live::LiveCounters;
use loadline_engine::platform::GeneratorTotals;
use loadline_engine::{ScriptLog, ScriptMetrics, ScriptSetup, ScriptSignal, WorkerReport};
use loadline_metric::MetricRegistry;
use loadline_model::client::{ClientIdentity, TlsPlan};
use loadline_model::observation::{Observed, RunWindow};
use loadline_model::script_settings::ScriptSettings;
use loadline_model::{ClientPlan, ExitCode};
use loadline_script::host::LogEntry;
use loadline_script::program::{OpenError, OpenFault, OpenedFile};
use loadline_script::{LoadError, ModuleSources, Program, ProgramSettings};

use super::*;
use crate::contract::RunScript;
use crate::observing::{ObserverFeed, ObserverSource};

/// Two workers: one panics in the first second, the other works until it is told to stop.
struct Breaking {
    reports: Receiver<WorkerReport>,
    /// Where the other one reports its end.
    other: Mutex<Option<Sender<WorkerReport>>>,
    clock: Clock,
    live: Vec<Arc<LiveCounters>>,
    /// Whether it was asked for its workers: only then are its generators known.
    is_settled: Arc<AtomicBool>,
}

impl Breaking {
    fn new(started: u64) -> Breaking {
        let (to, reports) = channel();
        let failed = WorkerReport::Failed {
            worker: 1,
            why: "it panicked: no way".to_owned(),
            is_defect: true,
        };
        to.send(failed).expect("it is listened to");
        Breaking::of(reports, Some(to), started)
    }

    /// Two workers that have done their work.
    fn not() -> Breaking {
        Breaking::after(None)
    }

    /// The same whose script ends the test.
    fn aborted() -> Breaking {
        let signal = ScriptSignal::Aborted("enough".to_owned());
        Breaking::after(Some(WorkerReport::Script(signal)))
    }

    fn after(report: Option<WorkerReport>) -> Breaking {
        let (to, reports) = channel();
        if let Some(report) = report {
            to.send(report).expect("it is listened to");
        }
        for worker in 0..2 {
            to.send(ended(worker)).expect("it is listened to");
        }
        Breaking::of(reports, None, 6)
    }

    fn of(
        reports: Receiver<WorkerReport>,
        other: Option<Sender<WorkerReport>>,
        started: u64,
    ) -> Breaking {
        let live = LiveCounters::for_scenarios(0);
        live.show(&LiveTotals {
            started,
            ..LiveTotals::default()
        });
        Breaking {
            reports,
            other: Mutex::new(other),
            clock: Clock::start(),
            live: vec![Arc::new(live)],
            is_settled: Arc::default(),
        }
    }
}

impl Load for Breaking {
    fn reports(&self) -> &Receiver<WorkerReport> {
        &self.reports
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn workers(&self) -> u32 {
        self.is_settled.store(true, Ordering::Relaxed);
        2
    }

    fn generator_totals(&self) -> Box<dyn Fn() -> GeneratorTotals + Send> {
        let is_settled = Arc::clone(&self.is_settled);
        Box::new(move || GeneratorTotals {
            cores: f64::from(u8::from(is_settled.load(Ordering::Relaxed))),
            ..GeneratorTotals::default()
        })
    }

    fn live_counters(&self) -> &[Arc<LiveCounters>] {
        &self.live
    }

    fn is_ready_within(&self, _: Duration) -> bool {
        true
    }

    fn release(&self) {}

    fn command(&self, command: RunCommand) {
        let mut other = self.other.lock().unwrap_or_else(PoisonError::into_inner);
        if let (RunCommand::StopNow, Some(to)) = (command, other.take()) {
            to.send(ended(0)).expect("it is listened to");
        }
    }
}

/// A worker's last report: it has started three requests.
fn ended(worker: u32) -> WorkerReport {
    let mut seen = Snapshot::default();
    seen.counts.started = 3;
    seen.counts.completed = 2;
    WorkerReport::Ended {
        worker,
        interval: 0,
        seen: Box::new(seen),
        planned: 0,
        never_started: 0,
        last_done: Nanos(1),
    }
}

/// The sources and the log of a script whose code never runs.
struct Idle;

impl ModuleSources for Idle {
    fn resolve(&self, _base: &str, name: &str) -> Result<String, LoadError> {
        Err(LoadError::new(name))
    }

    fn load(&self, full_name: &str) -> Result<Arc<str>, LoadError> {
        Err(LoadError::new(full_name))
    }

    fn open(&self, _base: Option<&str>, path: &str) -> Result<OpenedFile, OpenError> {
        Err(OpenError {
            path: path.to_owned(),
            fault: OpenFault::NotFound,
        })
    }

    fn foreign_folder(&self, _base: Option<&str>, _asking: &str, _path: &str) -> Option<String> {
        None
    }
}

impl ScriptLog for Idle {
    fn write(&self, _entry: &LogEntry<'_>) {}
}

fn script_exporting(functions: &[&str]) -> RunScript {
    let settings = ProgramSettings::default();
    RunScript {
        setup: ScriptSetup {
            program: Arc::new(Program::new("file:///script.js", Arc::new(Idle), settings)),
            metrics: ScriptMetrics {
                registry: Arc::new(MetricRegistry::new()),
                series: Arc::default(),
                values: None,
            },
            log: Arc::new(Idle),
            data: Arc::default(),
        },
        functions: functions.iter().map(|&name| name.to_owned()).collect(),
    }
}

fn plan_of_script() -> TestPlan {
    TestPlan {
        script: Some(Arc::new(ScriptSettings::default())),
        ..TestPlan::without_load(ClientPlan::default())
    }
}

/// A plan for which no virtual user can be made: what engines check before they start was not checked.
fn plan_without_virtual_users() -> TestPlan {
    let mut plan = plan_of_script();
    plan.client.tls = TlsPlan {
        identity: Some(ClientIdentity {
            certificate_file: "none.pem".into(),
            certificate_pem: Vec::new(),
            key_pem: Vec::new(),
        }),
        ..TlsPlan::default()
    };
    plan
}

fn run_with(started: u64) -> Result<Ran, RunError> {
    run_load(Breaking::new(started), None)
}

fn run_load(load: Breaking, order: Option<RunCommand>) -> Result<Ran, RunError> {
    let plan = TestPlan::without_load(ClientPlan::default());
    run(Arc::new(plan), setup_of(load, order), &mut |_| {})
}

fn setup_of(load: Breaking, order: Option<RunCommand>) -> RunSetup {
    let (orders, commands) = channel();
    if let Some(order) = order {
        orders.send(order).expect("it is listened to");
    }
    RunSetup {
        load: Some(Box::new(load)),
        ..RunSetup::new(commands, Vec::new())
    }
}

#[test]
fn a_worker_that_panics_ends_the_run_and_what_was_measured_is_kept() {
    let ran = run_with(3).expect("there is a result");
    let totals = &ran.result.totals;
    assert_eq!(totals.stop, StopReason::Defect);
    assert_eq!(totals.seen.counts.completed, 2);
    assert_eq!(totals.seen.counts.lost, 1, "its end is not known");
    let verdict = &ran.result.verdict;
    let told = &verdict.findings.first().expect("it is found").text;
    assert!(told.contains("worker 1: it panicked: no way"), "{told}");
}

#[test]
fn the_cores_of_a_run_are_those_of_the_agents_that_take_part() {
    let ran = run_load(Breaking::not(), None).expect("there is a result");
    assert_eq!(ran.result.environment.cores, 1.0);
}

#[test]
fn what_silent_workers_had_begun_is_lost_and_told() {
    let (told, reports) = channel();
    let load = Breaking::of(reports, None, 7);
    let ran = run_load(load, Some(RunCommand::StopNow)).expect("there is a result");
    drop(told);
    let counts = &ran.result.totals.seen.counts;
    assert_eq!((counts.started, counts.lost), (7, 7));
    let started: u64 = ran.result.series.iter().map(|row| row.started).sum();
    assert_eq!(started, 7, "seconds sum up to the whole");
    let verdict = &ran.result.verdict;
    assert!(
        verdict.headline.starts_with("ended early"),
        "{}",
        verdict.headline
    );
    let told = &verdict.findings.first().expect("it is found").text;
    assert!(told.contains("2 of 2 workers did not report"), "{told}");
    assert!(
        told.contains("the outcome of 7 requests is unknown"),
        "{told}"
    );
}

#[test]
fn a_worker_that_panics_before_anything_was_sent_is_told_as_a_defect() {
    let error = run_with(0).expect_err("nothing was sent");
    assert_eq!(error.exit_code(), ExitCode::Internal);
    assert!(error.to_string().contains("no way"), "{error}");
}

#[test]
fn a_paused_test_that_was_resumed_early_starts() {
    for (orders, stop) in [
        (vec![RunCommand::Resume], StopReason::Finished),
        // Nobody can resume it any more.
        (vec![], StopReason::Aborted),
        (
            vec![RunCommand::Resume, RunCommand::Pause],
            StopReason::Aborted,
        ),
    ] {
        let (to, commands) = channel();
        for order in orders {
            to.send(order).expect("it is listened to");
        }
        drop(to);
        let setup = RunSetup {
            load: Some(Box::new(Breaking::not())),
            script: Some(script_exporting(&[])),
            is_paused: true,
            ..RunSetup::new(commands, Vec::new())
        };
        let ran = run(Arc::new(plan_of_script()), setup, &mut |_| {}).expect("there is a result");
        assert_eq!(ran.result.totals.stop, stop);
    }
}

#[test]
fn a_teardown_or_setup_that_cannot_be_run_leaves_a_result() {
    for function in ["teardown", "setup"] {
        let (_to, commands) = channel();
        let setup = RunSetup {
            load: Some(Box::new(Breaking::not())),
            script: Some(script_exporting(&[function])),
            ..RunSetup::new(commands, Vec::new())
        };
        let mut is_finished = false;
        let mut on_event = |event| is_finished |= matches!(event, RunEvent::Finished(_));
        let plan = Arc::new(plan_without_virtual_users());
        let ran = run(plan, setup, &mut on_event).expect("there is a result");
        assert_eq!(ran.result.totals.seen.counts.started, 6);
        let trouble = ran.troubles.first().expect("it is told");
        let told = &trouble.message;
        let start = format!("{function}() could not be run: ");
        assert!(told.starts_with(&start), "{told}");
        assert_eq!(trouble.code, ExitCode::InvalidConfig);
        assert!(is_finished, "outputs are told");
    }
}

fn conductor_of(load: Breaking) -> Conductor {
    let plan = Arc::new(TestPlan::without_load(ClientPlan::default()));
    let collector = Collector::of(&plan, &load, None);
    let (_, commands) = channel();
    Conductor::new(plan, Box::new(load), collector, commands)
}

#[test]
fn the_first_reason_of_an_end_remains_and_the_haste_of_the_last_order_counts() {
    let mut conductor = conductor_of(Breaking::not());
    let (command, reason) = (RunCommand::StopGracefully, StopReason::ObserverLost);
    conductor.stop_for(command, reason, "stop", "lost".to_owned(), &mut |_| {});
    assert_eq!(conductor.haste, Haste::Nobody);
    conductor.obey(RunCommand::Interrupt, &mut |_| {});
    assert_eq!(conductor.haste, Haste::Asked);
    let patience = conductor.patience();
    conductor.obey(RunCommand::StopNow, &mut |_| {});
    assert_eq!(conductor.stop, StopReason::ObserverLost);
    assert!(conductor.patience() < patience, "somebody waits");
    conductor.note_late(RunCommand::StopRemotely);
    assert_eq!(conductor.stop, StopReason::ObserverLost);
    assert_eq!(conductor.events.len(), 3, "each of them is told");
}

#[test]
fn a_second_signal_and_a_crash_are_reasons_of_their_own() {
    let mut conductor = conductor_of(Breaking::not());
    conductor.obey(RunCommand::Interrupt, &mut |_| {});
    conductor.obey(RunCommand::StopNow, &mut |_| {});
    assert_eq!(conductor.stop, StopReason::Aborted);
    conductor.collector.defect = Some("worker 1: it panicked".to_owned());
    conductor.heed_defect(&mut |_| {});
    assert_eq!(conductor.stop, StopReason::Defect);
}

/// Observers that only note whether they were to read on after the load.
struct Tail(Arc<AtomicBool>);

impl ObserverSource for Tail {
    fn load_ended(&mut self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_settled(&self) -> bool {
        true
    }

    fn cut_short(&mut self) {}

    fn conclude(self: Box<Self>, _window: RunWindow) -> Vec<Observed> {
        Vec::new()
    }
}

/// Whether observers read on after a load that ended in this way.
fn has_tail(load: Breaking, order: Option<RunCommand>, lost: Option<Observed>) -> bool {
    let has_tail = Arc::<AtomicBool>::default();
    let (tell, told) = sync_channel(1);
    if let Some(lost) = lost {
        tell.send(lost).expect("it is listened to");
    }
    let observers = ObserverFeed {
        told,
        source: Box::new(Tail(Arc::clone(&has_tail))),
        baseline: Duration::ZERO,
        of_generator: Vec::new(),
        read_at: BTreeMap::new(),
        scraped: BTreeMap::new(),
    };
    let setup = RunSetup {
        observers: Some(observers),
        ..setup_of(load, order)
    };
    let plan = TestPlan::without_load(ClientPlan::default());
    run(Arc::new(plan), setup, &mut |_| {}).expect("there is a result");
    has_tail.load(Ordering::Acquire)
}

#[test]
fn observers_read_on_unless_somebody_wants_the_end() {
    assert!(has_tail(Breaking::not(), None, None));
    let lost = Observed::Lost {
        observer: Arc::from("api"),
        text: "no such process".to_owned(),
    };
    let waits_in_vain = has_tail(Breaking::not(), None, Some(lost));
    assert!(!waits_in_vain, "a required observer reads no more");
    assert!(has_tail(Breaking::aborted(), None, None), "by its script");
    assert!(has_tail(Breaking::new(3), None, None), "a worker panicked");
    assert!(!has_tail(
        Breaking::not(),
        Some(RunCommand::StopRemotely),
        None
    ));
}
