//! The phases around a script's iterations: pause, `setup`, `teardown`, `handleSummary`; and the script's
//! actions on its own test.
//!
//! Must not know how any of it is presented. Invariant: a test that started has an end, and the first trouble
//! decides its exit code.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use loadline_engine::ScriptSetup;
use loadline_engine::clock::Clock;
use loadline_engine::hook::{Around, AroundEnding, AroundReport, GiveUp, Place, run_around};
use loadline_engine::live::LiveCounters;
use loadline_metric::MeasurementsDelta;
use loadline_model::client::ClientPlan;
use loadline_model::event::Before;
use loadline_model::result::StopReason;
use loadline_model::script_settings::ScriptSettings;
use loadline_model::{ExitCode, Nanos, RunCommand, RunEvent, Snapshot, TestPlan};
use loadline_script::exports::Exports;
use loadline_script::vu::{FailureKind, Hook, NamedFiles, Returned, ScriptFailure};

use crate::load::Load;
use crate::script::ScriptConduct;
use crate::setup_data::sorted;
use crate::thresholds::HOLD_EVERY;
use crate::trouble::{Trouble, out_of_time, trouble_in, trouble_of, unstarted};
use crate::watch::{RunPhase, RunWatch};

/// Interval for reporting that a test has not started yet.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// The outcome of the phases before the iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// The iterations may start.
    Yes,
    /// They may not; the troubles say why.
    No,
    /// They may not, and as in k6 neither `setup()` nor `teardown()` runs: a virtual user's module code threw,
    /// or ended the test.
    Unmade,
    /// An order ended the test before the start.
    Stopped(RunCommand),
    /// A threshold ended it, in k6's words.
    Crossed(String),
}

/// The time around the iterations, which is reported second by second.
pub(crate) struct Surroundings<'a> {
    pub(crate) load: &'a dyn Load,
    pub(crate) script: Option<&'a mut ScriptConduct>,
    pub(crate) on_event: &'a mut dyn FnMut(RunEvent),
    /// The gauges of each second.
    pub(crate) seen: Snapshot,
}

impl Surroundings<'_> {
    /// Reports that another second has passed before the iterations.
    fn tell(&mut self, before: Before) {
        (self.on_event)(RunEvent::Before(before));
        self.gauge();
    }

    /// Reports how far the iterations came.
    fn tell_iterations(&mut self, at: Nanos) {
        let live = self.load.live();
        let iterations = (live.iterations_completed, live.iterations_interrupted);
        (self.on_event)(RunEvent::TearingDown { at, iterations });
    }

    fn gauge(&mut self) {
        if let Some(script) = &mut self.script {
            let (live, now) = (self.load.live(), self.load.clock().now());
            script.gauge(&mut self.seen, &live, now.0, self.load.started_unix_ms());
        }
    }
}

/// The life of a script's test outside its iterations.
pub(crate) struct Lifecycle {
    plan: Arc<TestPlan>,
    script: ScriptSetup,
    clock: Clock,
    /// The workers' counters.
    live: Vec<Arc<LiveCounters>>,
    /// Functions that the script exports.
    functions: Vec<String>,
    watch: Option<Arc<RunWatch>>,
    pub(crate) troubles: Vec<Trouble>,
    /// The measurements of `setup` and `teardown`.
    pub(crate) seen: Snapshot,
    setup_failed: bool,
    /// Whether the test ended during `setup()`.
    pub(crate) ended_in_setup: bool,
}

impl Lifecycle {
    pub(crate) fn new(
        plan: &Arc<TestPlan>,
        script: ScriptSetup,
        load: &dyn Load,
        functions: Vec<String>,
        watch: Option<Arc<RunWatch>>,
    ) -> Lifecycle {
        Lifecycle {
            plan: Arc::clone(plan),
            script,
            clock: load.clock(),
            live: load.live_counters().to_vec(),
            functions,
            watch,
            troubles: Vec::new(),
            seen: Snapshot::default(),
            setup_failed: false,
            ended_in_setup: false,
        }
    }

    fn settings(&self) -> &ScriptSettings {
        let settings = self.plan.script.as_deref();
        settings.expect("the plan of a script has its settings")
    }

    /// Waits for the order to start if the run is paused, and runs `setup()`, which a threshold may end. Orders
    /// that do not end the test are passed to the load.
    pub(crate) fn begin(
        &mut self,
        load: &dyn Load,
        (commands, is_paused): (&Receiver<RunCommand>, bool),
        script: Option<&mut ScriptConduct>,
        on_event: &mut dyn FnMut(RunEvent),
    ) -> Begun {
        let mut surroundings = Surroundings {
            load,
            script,
            on_event,
            seen: Snapshot::default(),
        };
        if is_paused && let Some(order) = self.pause(&mut surroundings, commands) {
            return self.give_up(order);
        }
        self.enter(RunPhase::Started);
        self.clock.begin_test();
        let begun = self.set_up(&mut surroundings, commands);
        self.ended_in_setup = begun != Begun::Yes;
        self.merge_early(surroundings.seen);
        load.keep(&self.seen);
        if begun == Begun::Yes {
            let took = self.clock.since_test_began().into();
            (surroundings.on_event)(RunEvent::Before(Before::SetUp(took)));
            self.enter(RunPhase::Running);
        }
        begun
    }

    /// Continues a test that another coordinator started: `setup()` has run, and its measurements are known.
    pub(crate) fn go_on(&mut self, data: Option<Arc<str>>, seen: Snapshot) -> Begun {
        self.enter(RunPhase::Started);
        if let Some(watch) = &self.watch {
            watch.set_setup_data(data.clone());
        }
        if let Some(json) = data {
            // Nothing else sets it.
            drop(self.script.data.set(json));
        }
        self.seen.merge(seen);
        self.enter(RunPhase::Running);
        Begun::Yes
    }

    /// Handles an order that ends the test before `setup()` has finished: no `teardown()` follows.
    pub(crate) fn give_up(&mut self, order: RunCommand) -> Begun {
        self.setup_failed = true;
        Begun::Stopped(order)
    }

    /// Handles a virtual user that could not be created, or that ended the test during its creation: neither
    /// `setup()` nor `teardown()` follows.
    pub(crate) fn leave_out(&mut self) -> Begun {
        self.setup_failed = true;
        Begun::Unmade
    }

    /// Waits for the order to start; returns the order that ended the test instead.
    fn pause(
        &self,
        surroundings: &mut Surroundings<'_>,
        commands: &Receiver<RunCommand>,
    ) -> Option<RunCommand> {
        self.enter(RunPhase::Paused);
        loop {
            match commands.recv_timeout(TELL_EVERY) {
                Ok(RunCommand::Resume) => return None,
                Ok(order) if order.is_stop() => return Some(order),
                Ok(order) => surroundings.load.command(order),
                Err(RecvTimeoutError::Timeout) => surroundings.tell(Before::Paused),
                Err(RecvTimeoutError::Disconnected) => return Some(RunCommand::StopNow),
            }
        }
    }

    fn enter(&self, phase: RunPhase) {
        if let Some(watch) = &self.watch {
            watch.enter(phase);
        }
    }

    fn set_up(
        &mut self,
        surroundings: &mut Surroundings<'_>,
        commands: &Receiver<RunCommand>,
    ) -> Begun {
        let lifecycle = &self.settings().lifecycle;
        let (wanted, limit) = (lifecycle.setup, lifecycle.setup_timeout);
        if !wanted || !self.exports("setup") {
            self.take_data_from_outside();
            return Begun::Yes;
        }
        self.enter(RunPhase::Setup);
        let clock = self.clock;
        let (mut told, mut held) = (clock.now(), clock.since_test_began());
        let (mut stopped, mut crossed) = (None, None);
        let mut stop = |look: &mut dyn FnMut() -> MeasurementsDelta| {
            let (now, since_began) = (clock.now(), clock.since_test_began());
            if now - told >= TELL_EVERY {
                told = now;
                surroundings.tell(Before::Setup);
            }
            match commands.try_recv() {
                Ok(order) if order.is_stop() => stopped = Some(order),
                Ok(order) => surroundings.load.command(order),
                Err(_) => {}
            }
            if let Some(script) = &surroundings.script
                && since_began.0 - held.0 >= HOLD_EVERY
            {
                held = since_began;
                crossed = script.crossed_in_setup(&look(), since_began.into());
            }
            stopped.is_some() || crossed.is_some()
        };
        let Some(report) = self.run((Hook::Setup, None), limit, &mut stop) else {
            self.setup_failed = true;
            return Begun::No;
        };
        if matches!(report.ending, AroundEnding::Stopped) {
            self.setup_failed = true;
            let by_order = stopped.map(Begun::Stopped);
            return by_order
                .or(crossed.map(Begun::Crossed))
                .unwrap_or(Begun::No);
        }
        let passed = match report.ending {
            AroundEnding::Done(Some(Returned::Json(json))) => {
                self.set_data(&json);
                true
            }
            AroundEnding::Done(_) => true,
            ending => {
                let late = (ExitCode::SetupTimeout, "setup", limit);
                self.troubles.extend(trouble_in(ending, late));
                false
            }
        };
        self.setup_failed = !passed;
        match passed && !self.troubles.iter().any(Trouble::ends_test) {
            true => Begun::Yes,
            false => Begun::No,
        }
    }

    fn set_data(&self, json: &str) {
        let json = sorted(json);
        if let Some(watch) = &self.watch {
            watch.set_setup_data(Some(Arc::clone(&json)));
        }
        // Nothing else sets it.
        drop(self.script.data.set(json));
    }

    /// If `setup()` does not run, its data may have been set from outside.
    fn take_data_from_outside(&self) {
        let data = self.watch.as_ref().and_then(|watch| watch.setup_data());
        if let Some(json) = data {
            drop(self.script.data.set(json));
        }
    }

    /// Runs `teardown()`, unless `setup()` has failed; returns the strongest stop order received meanwhile. As
    /// in k6, it runs to its end whatever ended the test; only a second stop request interrupts it.
    pub(crate) fn tear_down(
        &mut self,
        commands: &Receiver<RunCommand>,
        stop: StopReason,
        surroundings: &mut Surroundings<'_>,
    ) -> Option<RunCommand> {
        let lifecycle = &self.settings().lifecycle;
        let (wanted, limit) = (lifecycle.teardown, lifecycle.teardown_timeout);
        if !wanted || self.setup_failed || !self.exports("teardown") {
            return None;
        }
        self.enter(RunPhase::Teardown);
        // As in k6, data set from outside in the meantime has priority.
        let watched = self.watch.as_ref().and_then(|watch| watch.setup_data());
        let data = watched.or_else(|| self.script.data.get().map(Arc::clone));
        let mut ordered = None;
        let clock = self.clock;
        let mut told = second_of(clock.now());
        let mut is_urgent = |_: &mut dyn FnMut() -> MeasurementsDelta| {
            let now = clock.now();
            if second_of(now) > told {
                told = second_of(now);
                surroundings.tell_iterations(now);
                // As in k6, there are no gauges of a test that was ended early.
                if stop == StopReason::Finished && ordered.is_none() {
                    surroundings.gauge();
                }
            }
            let orders = commands.try_iter().filter(|order| order.is_stop());
            for order in orders {
                if ordered != Some(RunCommand::StopNow) {
                    ordered = Some(order);
                }
            }
            ordered == Some(RunCommand::StopNow)
        };
        let report = self.run((Hook::Teardown, data), limit, &mut is_urgent);
        surroundings.tell_iterations(clock.now());
        let late = (ExitCode::TeardownTimeout, "teardown", limit);
        let trouble = report.and_then(|report| trouble_in(report.ending, late));
        self.troubles.extend(trouble);
        ordered
    }

    fn exports(&self, function: &str) -> bool {
        self.functions.iter().any(|name| name == function)
    }

    /// Adds the measurements from before the run.
    fn merge_early(&mut self, mut seen: Snapshot) {
        if let Some(script) = &mut seen.script {
            script.put_before_start();
        }
        self.seen.merge(seen);
    }

    /// Runs a function of the script; `None`: it could not be started, which is a trouble.
    fn run(
        &mut self,
        (hook, data): (Hook, Option<Arc<str>>),
        limit: Duration,
        stop: &mut GiveUp<'_>,
    ) -> Option<AroundReport> {
        let place = Place {
            clock: self.clock,
            live: &self.live,
        };
        let around = Around::Hook(hook, data);
        let report = run_around(&self.plan, &self.script, place, &around, Some(limit), stop);
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                self.troubles.push(unstarted(hook, &error));
                return None;
            }
        };
        let seen = (*report.seen).clone();
        match hook {
            Hook::Setup => self.merge_early(seen),
            Hook::Teardown => self.seen.merge(seen),
        }
        self.troubles.extend(report.signals.iter().map(trouble_of));
        Some(report)
    }
}

fn second_of(at: Nanos) -> u64 {
    at.0 / Nanos::PER_SECOND
}

/// The outcome of `handleSummary`.
#[derive(Clone, Debug)]
pub enum Handled {
    /// It returned.
    Done {
        /// Its return value; `None`: nothing. An error: why it cannot be written.
        files: Result<Option<NamedFiles>, String>,
        /// Its argument as it left it, as JSON.
        data: String,
        /// Unhandled rejections.
        unheard: Vec<Trouble>,
    },
    /// It was not called.
    Nothing,
    /// It failed; as in k6, the usual summary is shown.
    Failed(Trouble),
    /// It returned a value that cannot be an output, or did not return in time; with the reason. Nothing is
    /// written at all.
    BadOutput(String),
}

/// Runs the module code and calls `handleSummary(data)` if the script has it; `stop` is polled for whether to
/// abort.
pub fn handle_summary(
    plan: &Arc<TestPlan>,
    script: &ScriptSetup,
    data: Arc<str>,
    stop: &mut dyn FnMut() -> bool,
) -> Handled {
    let limit = plan
        .script
        .as_deref()
        .map(|settings| settings.lifecycle.handle_summary_timeout)
        .unwrap_or_default();
    let around = Around::Summary(data);
    let mut stop = |_: &mut dyn FnMut() -> MeasurementsDelta| stop();
    let report = match run_around(
        plan,
        script,
        Place::apart(),
        &around,
        Some(limit),
        &mut stop,
    ) {
        Ok(report) => report,
        Err(error) => return Handled::Failed(Trouble::new(ExitCode::Other, error.to_string())),
    };
    match report.ending {
        AroundEnding::Done(Some(Returned::Summary(outcome))) => Handled::Done {
            files: outcome.files.map_err(|failure| failure.message),
            data: outcome.data,
            unheard: outcome.unheard.iter().map(Trouble::thrown).collect(),
        },
        AroundEnding::TimedOut => Handled::BadOutput(out_of_time("handleSummary", limit)),
        AroundEnding::Failed(failure) if failure.kind == FailureKind::BadOutput => {
            Handled::BadOutput(failure.message)
        }
        AroundEnding::Done(_) => Handled::Nothing,
        AroundEnding::Failed(failure) => Handled::Failed(Trouble::thrown(&failure)),
        AroundEnding::Stopped => Handled::Failed(Trouble::stopped("handleSummary")),
    }
}

/// Why a script could not be loaded.
#[derive(Debug)]
pub enum ReadError {
    /// Its module code threw.
    Thrown(ScriptFailure),
    /// The system did not provide a resource needed to run it.
    System(String),
}

/// Runs a script's module code once, in a virtual user with the number 0, to find its exports.
///
/// # Errors
/// [`ReadError`]; nothing was sent.
pub fn read_exports(script: &ScriptSetup) -> Result<Exports, ReadError> {
    let plan = Arc::new(TestPlan {
        script: Some(Arc::new(ScriptSettings::default())),
        ..TestPlan::without_load(ClientPlan::default())
    });
    let report = run_around(
        &plan,
        script,
        Place::apart(),
        &Around::Nothing,
        None,
        &mut |_| false,
    )
    .map_err(|error| ReadError::System(error.to_string()))?;
    match (report.ending, report.exports) {
        (AroundEnding::Failed(failure), _) => Err(ReadError::Thrown(failure)),
        (_, Some(exports)) => Ok(exports),
        (_, None) => Err(ReadError::System(
            "the script's module code did not come to its end".to_owned(),
        )),
    }
}
