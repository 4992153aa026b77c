//! Runs with workers that panic.
//!
//! Must not start workers: their reports are prepared. Invariant: a run ends, and says what happened.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

use loadline_engine::WorkerReport;
use loadline_engine::clock::Clock;
use loadline_engine::live::LiveCounters;
use loadline_model::{ClientPlan, ExitCode};

use super::*;

/// Two workers: one panics in the first second, the other works until it is told to stop.
struct Breaking {
    reports: Receiver<WorkerReport>,
    /// Where the other one reports its end.
    other: Mutex<Option<Sender<WorkerReport>>>,
    clock: Clock,
    live: Vec<Arc<LiveCounters>>,
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
        2
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
            let mut seen = Snapshot::default();
            seen.counts.started = 3;
            seen.counts.completed = 2;
            let ended = WorkerReport::Ended {
                worker: 0,
                interval: 0,
                seen: Box::new(seen),
                planned: 0,
                never_started: 0,
                last_done: Nanos(1),
            };
            to.send(ended).expect("it is listened to");
        }
    }
}

fn run_with(started: u64) -> Result<Ran, RunError> {
    run_load(Breaking::new(started), None)
}

fn run_load(load: Breaking, order: Option<RunCommand>) -> Result<Ran, RunError> {
    let (orders, commands) = channel();
    if let Some(order) = order {
        orders.send(order).expect("it is listened to");
    }
    let setup = RunSetup {
        load: Some(Box::new(load)),
        ..RunSetup::new(commands, Vec::new())
    };
    let plan = TestPlan::without_load(ClientPlan::default());
    run(Arc::new(plan), setup, &mut |_| {})
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
