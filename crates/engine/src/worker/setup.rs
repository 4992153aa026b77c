//! Creates a worker: its runtime, its connections' settings, its share of the plan.
//!
//! Must not decide anything that the plan did not. Invariant: what cannot be created is reported before anything is
//! sent.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::{Sender, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use loadline_model::plan::Behaviour;
use loadline_model::sample::Sample;
use loadline_model::segment::Share;
use loadline_model::{ClientPlan, Nanos, TestPlan};
use loadline_schedule::{IterationPool, Schedule};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use tokio::time::interval;

use super::Worker;
use super::scenario::{Hosted, ScenarioShare};
use super::task::VuTask;
use crate::client::{FailurePace, KeepRules};
use crate::clock::Clock;
use crate::live::LiveCounters;
use crate::mailbox::Mailbox;
use crate::net::{
    AddressRules, Addresses, Connector, Resolver, Routes, TlsSettings, WireBytes, WorkerTls,
};
use crate::panics::words_of;
use crate::platform::{self, Alarm};
use crate::record::{Recorder, SampleSink};
use crate::report::WorkerReport;
use crate::runtime;
use crate::script::{InitFailure, ScriptSetup, ScriptSignal};
use crate::slot::VuSlot;
use crate::start::StartError;
use crate::steps::StepsSetup;
use crate::timers::Timers;
use crate::vu::behaviour::BehaviourPlan;
use crate::vu::script::{
    AllBegun, OffDutyVus, PlanNumbers, RetiredVus, ScenarioScript, WorkerMeans, WorkerScript,
};
use crate::vu::script_client::{ScriptClientPlan, ScriptClientSettings, WorkerParts};
use crate::vu::shared::{SCRATCH_BYTES, Shared};
use crate::vu::steps::{GroupOnWorker, StepsOnWorker};
use crate::vu::{Http2Pool, Judging, RequestsPlan};

/// Minimum and maximum time between two sweeps for overdue requests; in between, a hundredth of the shortest
/// timeout. Neither has a measurable cost.
const SWEEP_MIN: Duration = Duration::from_millis(2);
const SWEEP_MAX: Duration = Duration::from_millis(50);

/// How often timers of module code are checked.
const INIT_TICK: Duration = Duration::from_millis(1);

/// Everything that a worker needs.
pub(crate) struct WorkerSetup {
    pub(crate) number: u32,
    pub(crate) plan: Arc<TestPlan>,
    pub(crate) share: Share,
    pub(crate) clock: Clock,
    pub(crate) pools: Vec<Arc<IterationPool>>,
    /// Requests taken of each scenario that has several, over all workers.
    pub(crate) taken: Vec<Arc<AtomicUsize>>,
    pub(crate) mailboxes: Vec<Arc<Mailbox>>,
    /// Its own counters.
    pub(crate) live: Arc<LiveCounters>,
    /// The counters of the run's workers.
    pub(crate) all_live: Vec<Arc<LiveCounters>>,
    pub(crate) resolver: Arc<Resolver>,
    pub(crate) tls: Arc<TlsSettings>,
    pub(crate) samples: Option<SyncSender<Vec<Sample>>>,
    pub(crate) reports: Sender<WorkerReport>,
    pub(crate) start_line: Arc<StartLine>,
    /// What script scenarios need; `None` without any.
    pub(crate) script: Option<ScriptParts>,
    /// What scenarios of steps need; `None` without any.
    pub(crate) steps: Option<StepsSetup>,
}

/// What a worker needs to run a script.
#[derive(Clone)]
pub(crate) struct ScriptParts {
    pub(crate) setup: ScriptSetup,
    pub(crate) client: Arc<ScriptClientPlan>,
    pub(crate) numbers: Arc<PlanNumbers>,
    /// Whether infinite values were reported.
    pub(crate) told_of_infinity: Arc<AtomicBool>,
    pub(crate) begun: AllBegun,
}

/// Where workers wait for each other. None sends before all are ready: the connections of one could use up the file
/// descriptors that another needs, and a test starts when its last virtual user is ready.
pub(crate) struct StartLine {
    workers: u32,
    arrived: Mutex<Arrived>,
    changed: Condvar,
}

/// The workers at a start line.
#[derive(Default)]
struct Arrived {
    workers: u32,
    /// Whether one of them could not be created.
    is_broken: bool,
    /// Set by the start: arrivals before it belong to another process.
    released_from: Option<Nanos>,
}

impl StartLine {
    pub(crate) fn new(workers: u32) -> StartLine {
        StartLine {
            workers,
            arrived: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn arrived(&self) -> MutexGuard<'_, Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for all other workers and for the start; returns the instant from which the plan is theirs.
    /// `None`: one of them could not be initialized.
    fn wait(&self, is_made: bool) -> Option<Nanos> {
        let mut arrived = self.arrived();
        arrived.workers += 1;
        arrived.is_broken |= !is_made;
        self.changed.notify_all();
        let wait = self
            .changed
            .wait_while(arrived, |arrived| arrived.released_from.is_none());
        let arrived = wait.unwrap_or_else(PoisonError::into_inner);
        arrived.released_from.filter(|_| !arrived.is_broken)
    }

    /// One of them failed.
    fn miss(&self) {
        let mut arrived = self.arrived();
        arrived.workers += 1;
        arrived.is_broken = true;
        self.changed.notify_all();
    }

    /// Waits at most this long for every worker to be ready or to have failed; returns whether they are.
    pub(crate) fn muster(&self, limit: Duration) -> bool {
        let is_short = |arrived: &mut Arrived| arrived.workers < self.workers;
        let wait = self
            .changed
            .wait_timeout_while(self.arrived(), limit, is_short);
        !wait.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Starts the waiting workers, with the plan from an instant on.
    pub(crate) fn release(&self, from: Nanos) {
        self.arrived().released_from = Some(from);
        self.changed.notify_all();
    }
}

/// One worker's place at the start line.
struct Place {
    line: Arc<StartLine>,
    has_come: Cell<bool>,
}

impl Place {
    fn wait(&self, is_made: bool) -> Option<Nanos> {
        self.has_come.set(true);
        self.line.wait(is_made)
    }

    /// Nobody waits for a worker that crashed before it was ready.
    fn leave(&self) {
        if !self.has_come.replace(true) {
            self.line.miss();
        }
    }
}

/// The life of a worker's thread. A panic is reported, so that nobody waits for it.
pub(crate) fn run_worker(setup: WorkerSetup) {
    let number = setup.number;
    let reports = setup.reports.clone();
    let place = Place {
        line: Arc::clone(&setup.start_line),
        has_come: Cell::new(false),
    };
    // After a panic only the two above are used.
    let outcome = catch_unwind(AssertUnwindSafe(|| work(setup, &place)));
    place.leave();
    let (why, is_defect) = match outcome {
        Ok(Ok(())) => return,
        Ok(Err(why)) => (why, false),
        Err(panic) => (format!("it panicked: {}", words_of(&*panic)), true),
    };
    // A run that no longer listens has given up.
    drop(reports.send(WorkerReport::Failed {
        worker: number,
        why,
        is_defect,
    }));
}

/// Creates the worker, and runs it to its end.
fn work(setup: WorkerSetup, place: &Place) -> Result<(), String> {
    let runtime = match runtime::local() {
        Ok(runtime) => runtime,
        Err(error) => {
            place.wait(false);
            return Err(StartError::Runtime(error).to_string());
        }
    };
    runtime.block_on(async {
        let worker = make_worker(setup).await;
        let from = place.wait(worker.is_ok());
        let worker = worker?;
        let Some(from) = from else {
            return Err("not started: another worker could not start".to_owned());
        };
        worker.run(from).await;
        Ok(())
    })
}

async fn make_worker(setup: WorkerSetup) -> Result<Worker, String> {
    let bytes = Rc::new(WireBytes::default());
    let shared = Rc::new(make_shared(&setup, &bytes));
    let script = make_script(&setup, &shared);
    let steps = make_steps(&setup)?;
    let timers: Rc<Timers> = Rc::default();
    let off_duty = Rc::<OffDutyVus>::default();
    let scripted = script.as_ref().map(|script| (script, &off_duty));
    let hosted = (0..setup.plan.scenarios.len())
        .map(|index| host(index, &setup, &shared, scripted, steps.as_ref()))
        .collect::<Result<Vec<_>, _>>()?;
    let retired = Rc::<RetiredVus>::default();
    if let Some(script) = &script {
        script.retire_to(&retired);
    }
    for hosted in &hosted {
        make_ready(hosted, &setup, &shared, &timers).await?;
    }
    Ok(Worker {
        number: setup.number,
        clock: setup.clock,
        alarm: Alarm::new().map_err(|error| StartError::Runtime(error).to_string())?,
        alarm_at: Nanos::MAX,
        window_ns: Nanos::from(setup.plan.start_window).0,
        sweep_every: sweep_every(&setup.plan),
        next_level: Nanos::ZERO,
        next_sweep: Nanos::ZERO,
        next_interval: 0,
        warm_until: (!setup.plan.warm_up.is_zero()).then(|| Nanos::from(setup.plan.warm_up)),
        hosted,
        shared,
        script,
        steps,
        retired,
        bytes,
        timers,
        mailbox: Arc::clone(&setup.mailboxes[setup.number as usize]),
        reports: setup.reports,
        obeyed: None,
        steered: 0,
        cpu_ns: platform::thread_cpu_ns(),
        run_queue: platform::thread_run_queue().unwrap_or_default(),
    })
}

/// Creates the initial virtual users and runs their module code, until the test has to end.
async fn make_ready(
    hosted: &Hosted,
    setup: &WorkerSetup,
    shared: &Rc<Shared>,
    timers: &Rc<Timers>,
) -> Result<(), String> {
    let mailbox = &setup.mailboxes[setup.number as usize];
    let make = |slot: &Rc<VuSlot>| hosted.behaviour.for_vu(shared, slot, timers);
    let mut ready = hosted.share.populate(timers, &make);
    for task in &mut ready {
        if mailbox.ordered().is_some() {
            break;
        }
        if let Err(failure) = initialised(task, timers, shared.clock, mailbox).await {
            let why = failure.failure.to_string();
            drop(
                setup
                    .reports
                    .send(WorkerReport::Script(ScriptSignal::InitFailed(failure))),
            );
            return Err(why);
        }
    }
    *hosted.ready.borrow_mut() = ready;
    Ok(())
}

/// Runs a virtual user's module code and fires the timers that it sets: the worker's own loop does
/// not run yet.
async fn initialised(
    task: &mut VuTask,
    timers: &Timers,
    clock: Clock,
    mailbox: &Mailbox,
) -> Result<(), InitFailure> {
    let slot = Rc::clone(&task.slot);
    let mut initialised = pin!(task.behaviour.initialise());
    let mut tick = interval(INIT_TICK);
    let outcome = std::future::poll_fn(|cx| {
        loop {
            if mailbox.ordered().is_some() {
                slot.cut();
            }
            if let Poll::Ready(outcome) = initialised.as_mut().poll(cx) {
                return Poll::Ready(outcome);
            }
            if tick.poll_tick(cx).is_pending() {
                return Poll::Pending;
            }
            let now = clock.now();
            timers.fire(now);
            slot.sweep(now);
        }
    })
    .await;
    slot.change_task();
    outcome
}

pub(crate) fn make_shared(setup: &WorkerSetup, bytes: &Rc<WireBytes>) -> Shared {
    let plan = &setup.plan;
    let client = Arc::new(plan.client.clone());
    let seed = seed_of(setup);
    let connector = Connector {
        clock: setup.clock,
        plan: Arc::clone(&client),
        addresses: Addresses::new(
            Arc::new(AddressRules::of_requests(&client)),
            Arc::clone(&setup.resolver),
            seed,
            setup.number as usize,
        ),
        tls: WorkerTls::new(&setup.tls),
    };
    let recorder = Recorder::new(
        setup.clock,
        Arc::clone(&setup.live),
        plan.warm_up,
        setup.samples.clone().map(|to| SampleSink {
            to,
            all_live: setup.all_live.clone(),
        }),
    );
    let http2 = Http2Pool::for_plan(&client, &recorder.connections).map(Rc::new);
    Shared {
        clock: setup.clock,
        client,
        connector,
        bytes: Rc::clone(bytes),
        routes: Routes::default(),
        keep: Rc::new(keep_rules(&plan.client)),
        recorder: RefCell::new(recorder),
        scratch: RefCell::new(vec![0; SCRATCH_BYTES].into_boxed_slice()),
        http2,
        random: RefCell::new(Xoshiro256PlusPlus::seed_from_u64(seed)),
        bodies_left: Cell::new(0),
        failures: FailurePace::default(),
        last_done: Cell::new(Nanos::ZERO),
    }
}

/// Maximum idle connections of one virtual user: more than the origins of any plan, and a limit on those that
/// redirects could add.
const CONNECTIONS_MAX: usize = 256;

/// What virtual users keep that send requests from templates.
fn keep_rules(client: &ClientPlan) -> KeepRules {
    match client.keep_alive {
        true => KeepRules {
            total_max: Some(CONNECTIONS_MAX),
            requests_max: client.max_requests_per_connection,
            ..KeepRules::default()
        },
        false => KeepRules::none(),
    }
}

/// Determines the worker's choices.
fn seed_of(setup: &WorkerSetup) -> u64 {
    let number = u64::from(setup.number);
    setup
        .plan
        .seed
        .wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// What script virtual users share; `None` without script scenarios.
pub(crate) fn make_script(setup: &WorkerSetup, shared: &Shared) -> Option<Rc<WorkerScript>> {
    let script = setup.script.as_ref()?;
    let client = ScriptClientSettings::new(
        Arc::clone(&script.client),
        WorkerParts {
            clock: setup.clock,
            resolver: Arc::clone(&setup.resolver),
            bytes: Rc::clone(&shared.bytes),
            connections: Rc::clone(&shared.recorder.borrow().connections),
            seed: seed_of(setup),
            number: setup.number as usize,
        },
    );
    let settings = setup.plan.script.as_deref();
    let means = WorkerMeans {
        clock: setup.clock,
        warm_up: setup.plan.warm_up,
        client,
        live: Arc::clone(&setup.live),
        all_live: setup.all_live.clone(),
        iteration_min: settings.map_or(Duration::ZERO, |script| {
            script.lifecycle.min_iteration_duration
        }),
        told_of_infinity: Arc::clone(&script.told_of_infinity),
        reports: setup.reports.clone(),
        mailboxes: setup.mailboxes.clone(),
    };
    Some(Rc::new(WorkerScript::new(&script.setup, means)))
}

/// What the threads of steps on the worker share; `None` without such scenarios.
fn make_steps(setup: &WorkerSetup) -> Result<Option<Rc<StepsOnWorker>>, String> {
    let steps = setup.steps.as_ref();
    let made = steps.map(|steps| StepsOnWorker::new(setup.clock, steps, &setup.plan));
    Ok(made.transpose()?.map(Rc::new))
}

fn host(
    index: usize,
    setup: &WorkerSetup,
    shared: &Rc<Shared>,
    scripted: Option<(&Rc<WorkerScript>, &Rc<OffDutyVus>)>,
    worker_steps: Option<&Rc<StepsOnWorker>>,
) -> Result<Hosted, String> {
    let scenario = &setup.plan.scenarios[index];
    let schedule = Schedule::new(&scenario.executor, &setup.share, &setup.pools[index]);
    let worker = setup.number as usize;
    let mut share = ScenarioShare::new(
        index,
        scenario,
        schedule,
        shared,
        &setup.live,
        &setup.mailboxes,
        worker,
    );
    let behaviour = match &scenario.behaviour {
        Behaviour::Requests(mix) => {
            let requests =
                RequestsPlan::prepare(mix, shared, &setup.taken[index]).map_err(|error| error.0)?;
            let judging = Judging::new(
                scenario.checks.clone(),
                mix,
                setup.plan.aggregation.by_header.clone(),
                setup.plan.client.body_kept_max,
            );
            BehaviourPlan::Requests(Rc::new(requests), Rc::new(judging))
        }
        Behaviour::Script(function) => {
            let (Some(script), Some((worker, off_duty))) = (&setup.script, scripted) else {
                return Err(format!("scenario {}: the run has no script", scenario.name));
            };
            let scenario = Rc::new(ScenarioScript::new(
                worker,
                (&setup.plan, index, &setup.share),
                function,
                &script.setup.data,
                &script.numbers,
                &script.begun,
            ));
            share = share.of_script(&scenario);
            BehaviourPlan::Script(scenario, Rc::clone(off_duty))
        }
        Behaviour::Steps(steps) => {
            let (Some(setup_of_steps), Some(on_worker)) = (&setup.steps, worker_steps) else {
                return Err(format!("scenario {}: the run has no steps", scenario.name));
            };
            share = share.behind(setup_of_steps.gate_of(steps.group));
            BehaviourPlan::Steps(Rc::new(GroupOnWorker {
                setup: setup_of_steps.clone(),
                group: steps.group,
                scenario: scenario.name.clone(),
                on_worker: Rc::clone(on_worker),
                gate: setup_of_steps.gate_of(steps.group),
                mailboxes: setup.mailboxes.clone(),
            }))
        }
    };
    Ok(Hosted {
        share: Rc::new(share),
        behaviour,
        ready: RefCell::default(),
    })
}

fn sweep_every(plan: &TestPlan) -> Duration {
    let timeouts = [plan.client.request_timeout, plan.client.connect_timeout];
    timeouts
        .into_iter()
        .flatten()
        .map(|limit| limit / 100)
        .min()
        .map_or(SWEEP_MAX, |every| every.clamp(SWEEP_MIN, SWEEP_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_breaks_down_keeps_nobody_waiting() {
        let line = Arc::new(StartLine::new(1));
        let place = Place {
            line: Arc::clone(&line),
            has_come: Cell::new(false),
        };
        assert!(!line.muster(Duration::ZERO));
        let panic = catch_unwind(|| panic!("worker {}", 0)).expect_err("it panics");
        place.leave();
        place.leave();
        assert!(line.muster(Duration::ZERO), "it is not waited for");
        assert_eq!(line.arrived().workers, 1);
        assert_eq!(words_of(&*panic), "worker 0");
    }
}
