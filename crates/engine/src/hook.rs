//! Runs the functions of a script that run once per test: `setup`, `teardown`, `handleSummary`.
//!
//! On the caller's thread, with the engine's own client and recorder. Must not know when they are due.
//! Invariant: the script has returned before this does, whatever happens.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use loadline_metric::MeasurementsDelta;
use loadline_model::segment::Share;
use loadline_model::{Snapshot, TestPlan};
use loadline_script::exports::Exports;
use loadline_script::host::Host;
use loadline_script::vu::{Ending, Hook, Returned, ScriptFailure, VuIds};
use loadline_script::{ScriptVu, Step, Task};
use tokio::time::{MissedTickBehavior, interval};

use crate::clock::Clock;
use crate::live::LiveCounters;
use crate::net::{Kept, Resolver, TlsSettings, WireBytes};
use crate::record_script::Occasion;
use crate::report::WorkerReport;
use crate::runtime;
use crate::script::{ScriptSetup, ScriptSignal};
use crate::slot::VuSlot;
use crate::start::{StartError, script_parts};
use crate::timers::Timers;
use crate::vu::script::{Asks, ScenarioScript, VuHost};
use crate::vu::script_client::ScriptClient;
use crate::worker::{StartLine, WorkerSetup, make_script, make_shared};

/// How often timers are checked and the caller is asked whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// A function that runs once per test.
#[derive(Clone, Debug)]
pub enum Around {
    /// Only the module code, to learn what the script exports.
    Nothing,
    /// `setup()`, or `teardown(data)` with what setup returned as JSON.
    Hook(Hook, Option<Arc<str>>),
    /// `handleSummary(data)` with its argument as JSON.
    Summary(Arc<str>),
}

/// The result.
#[derive(Debug)]
pub enum AroundEnding {
    /// It came to its end, or the script has no such function.
    Done(Option<Returned>),
    /// It threw.
    Failed(ScriptFailure),
    /// It took longer than it may.
    TimedOut,
    /// The caller stopped it.
    Stopped,
}

/// Decides whether to give up; may look at what the function has measured so far.
pub type GiveUp<'a> = dyn FnMut(&mut dyn FnMut() -> MeasurementsDelta) -> bool + 'a;

/// The run that a function belongs to.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Its clock.
    pub clock: Clock,
    /// Its workers' counters; empty if there are none.
    pub live: &'a [Arc<LiveCounters>],
}

impl Place<'_> {
    /// No run: a separate clock.
    #[must_use]
    pub fn apart() -> Place<'static> {
        Place {
            clock: Clock::start(),
            live: &[],
        }
    }
}

/// The outcome.
pub struct AroundReport {
    /// The result.
    pub ending: AroundEnding,
    /// What it measured.
    pub seen: Box<Snapshot>,
    /// What it did to the test.
    pub signals: Vec<ScriptSignal>,
    /// What the script exports; `None` when its module code failed.
    pub exports: Option<Exports>,
}

/// Runs a function of the script in a separate virtual user with number 0. `stop` is polled continuously.
///
/// # Errors
/// The plan's certificates or the operating system prevent it.
pub fn run_around(
    plan: &Arc<TestPlan>,
    script: &ScriptSetup,
    place: Place<'_>,
    around: &Around,
    timeout: Option<Duration>,
    stop: &mut GiveUp<'_>,
) -> Result<AroundReport, StartError> {
    let (setup, signals) = setup_of(plan, script, place)?;
    let runtime = runtime::local().map_err(StartError::Runtime)?;
    let (ending, seen, exports) = runtime.block_on(run_in(&setup, around, timeout, stop));
    drop(setup);
    let signals = signals
        .try_iter()
        .filter_map(|report| match report {
            WorkerReport::Script(signal) => Some(signal),
            _ => None,
        })
        .collect();
    Ok(AroundReport {
        ending,
        seen: Box::new(seen),
        signals,
        exports,
    })
}

/// A worker that hosts no scenario.
fn setup_of(
    plan: &Arc<TestPlan>,
    script: &ScriptSetup,
    Place {
        clock,
        live: all_live,
    }: Place<'_>,
) -> Result<(WorkerSetup, Receiver<WorkerReport>), StartError> {
    let live = Arc::new(LiveCounters::default());
    let (reports, signals) = channel();
    let kept = Kept::found(plan.client.dns_ttl);
    let setup = WorkerSetup {
        number: 0,
        plan: Arc::clone(plan),
        share: Share::whole(0, 1).for_worker(0),
        clock,
        pools: Vec::new(),
        taken: Vec::new(),
        mailboxes: Vec::new(),
        live,
        all_live: all_live.to_vec(),
        resolver: Resolver::start(clock, kept).map_err(StartError::Thread)?,
        tls: TlsSettings::of_requests(&plan.client.tls, plan.client.protocol)
            .map_err(StartError::Tls)?,
        samples: None,
        reports,
        start_line: Arc::new(StartLine::new(1)),
        script: script_parts(Some(script.clone()), plan)?,
        steps: None,
    };
    Ok((setup, signals))
}

async fn run_in(
    setup: &WorkerSetup,
    around: &Around,
    timeout: Option<Duration>,
    stop: &mut GiveUp<'_>,
) -> (AroundEnding, Snapshot, Option<Exports>) {
    let bytes = Rc::new(WireBytes::default());
    let shared = Rc::new(make_shared(setup, &bytes));
    let worker = make_script(setup, &shared).expect("the plan of a script has its settings");
    let group = match around {
        Around::Hook(hook, _) => format!("::{}", hook.name()),
        Around::Nothing | Around::Summary(_) => String::new(),
    };
    let scenario = Rc::new(ScenarioScript::around(&worker, &setup.plan, &group));
    let slot = Rc::new(VuSlot::new(0, 0));
    let timers: Rc<Timers> = Rc::default();
    let client = Rc::new(ScriptClient::new(
        0,
        Rc::clone(&slot),
        Rc::clone(&worker.client),
    ));
    let host = Rc::new(VuHost::new(&shared, &worker, &scenario));
    let asks = Asks {
        client: Rc::clone(&client),
        slot: Rc::clone(&slot),
        timers: Rc::clone(&timers),
        clock: setup.clock,
        slept_ns: Cell::default(),
    };
    let mut exports = None;
    let mut tags = Rc::clone(&scenario.tags_at_top);
    let task = async {
        let program = Arc::clone(&worker.program);
        let of_vu: Rc<dyn Host> = Rc::<VuHost>::clone(&host);
        let nobody = VuIds::default();
        let mut vu = ScriptVu::new(program, of_vu, Rc::clone(&worker.stacks), nobody)?;
        let initialised = begin(&asks, &mut vu, Task::Init).await?;
        exports = vu.exports()?;
        match (initialised, task_of(around, &scenario)) {
            (Ending::Done(_), Some(task)) => {
                let ending = begin(&asks, &mut vu, task).await;
                tags = host.tags_at_end(&vu.tags());
                ending
            }
            (ending, _) => Ok(ending),
        }
    };
    let mut measured = MeasurementsDelta::default();
    let mut look = || {
        measured.merge(worker.recorder.borrow_mut().take().0);
        measured.clone()
    };
    let mut gives_up = || stop(&mut look);
    let ending = watch(task, setup.clock, &slot, &timers, timeout, &mut gives_up).await;
    host.cut_short(&client.take_cut());
    let (sent, received) = client.take_bytes();
    let mut recorder = worker.recorder.borrow_mut();
    if matches!(around, Around::Hook(..)) {
        recorder.data(
            sent,
            received,
            Occasion {
                at: setup.clock.now(),
                tags: &*tags,
                metadata: host.current_metadata().as_ref(),
            },
        );
    }
    measured.merge(recorder.take().0);
    let mut seen = shared.recorder.borrow_mut().take();
    seen.script = Some(Box::new(measured));
    (ending, seen, exports)
}

async fn begin(asks: &Asks, vu: &mut ScriptVu, task: Task) -> Result<Ending, ScriptFailure> {
    match vu.begin(task)? {
        Step::Ended(ending) => Ok(ending),
        step @ Step::Asks(_) => Ok(asks.fulfil(vu, step).await),
    }
}

fn task_of(around: &Around, scenario: &ScenarioScript) -> Option<Task> {
    match around {
        Around::Nothing => None,
        Around::Hook(function, data) => Some(Task::Hook {
            function: *function,
            data: data.clone(),
            tags: Rc::clone(&scenario.setup.tags),
        }),
        Around::Summary(data) => Some(Task::Summary {
            data: Arc::clone(data),
        }),
    }
}

/// Waits for a task, fires timers, and cuts it when its time is up or the caller says so.
async fn watch(
    task: impl Future<Output = Result<Ending, ScriptFailure>>,
    clock: Clock,
    slot: &Rc<VuSlot>,
    timers: &Timers,
    timeout: Option<Duration>,
    stop: &mut dyn FnMut() -> bool,
) -> AroundEnding {
    let begun = clock.now();
    let mut task = pin!(task);
    let mut tick = interval(LOOK_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut cut_for = None;
    let ending = std::future::poll_fn(|cx| {
        while tick.poll_tick(cx).is_ready() {
            let now = clock.now();
            timers.fire(now);
            slot.sweep(now);
            let is_late = timeout.is_some_and(|limit| now - begun > limit);
            if cut_for.is_none() && (is_late || stop()) {
                cut_for = Some(is_late);
                slot.cut();
            }
        }
        task.as_mut().poll(cx)
    })
    .await;
    match (ending, cut_for) {
        (Ok(Ending::Done(returned)), _) => AroundEnding::Done(returned),
        (Ok(Ending::Failed(failure)) | Err(failure), _) => AroundEnding::Failed(failure),
        (Ok(Ending::Cancelled), Some(true)) => AroundEnding::TimedOut,
        (Ok(Ending::Cancelled), _) => AroundEnding::Stopped,
    }
}
