//! A run of a script or of a plan of steps as seen by another thread, and what that thread can do with it.
//!
//! The run reports its progress and measurements; on request, a summary is made from them. Must not know who
//! requests it, or how it is shown. Invariant: a request only costs the run a briefly held lock.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use loadline_engine::clock::Clock;
use loadline_engine::hook::{Around, AroundEnding, Place, run_around};
use loadline_engine::live::{LiveCounters, LiveTotals};
use loadline_engine::{ScriptMetrics, ScriptSetup};
use loadline_metric::{BuiltIn, MeasurementsDelta};
use loadline_model::result::{RunResult, StopReason};
use loadline_model::units::duration_ns;
use loadline_model::{Executor, Snapshot, TestPlan, TestSummary};
use loadline_script::vu::{Hook, Returned};

use crate::load::Load;
use crate::setup_data::sorted;
use crate::thresholds::HeldTogether;
use crate::trouble::out_of_time;

/// Parts of a run kept until a summary is requested; more are summed anyway.
const PARTS_MAX: usize = 4;

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPhase {
    /// Nothing has been done yet.
    Created,
    /// Virtual users are being created.
    InitVus,
    /// The virtual users are ready.
    Ready,
    /// It waits for the order to start.
    Paused,
    /// It has started.
    Started,
    /// `setup()` runs.
    Setup,
    /// Iterations run.
    Running,
    /// `teardown()` runs.
    Teardown,
    /// All is done.
    Ended,
    /// It was aborted.
    Interrupted,
}

/// Virtual users of the externally controlled scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steering {
    /// Current number.
    pub vus: u32,
    /// Maximum.
    pub max_vus: u32,
}

/// A run as another thread sees it.
pub struct RunWatch {
    plan: Arc<TestPlan>,
    /// `None`: the plan has steps instead.
    script: Option<WatchedScript>,
    /// The tag by whose values the summary is split; `None`: it is not split.
    by_tag: Option<String>,
    engine: OnceLock<(Clock, Vec<Arc<LiveCounters>>)>,
    /// The run's own.
    thresholds: HeldTogether,
    state: Mutex<State>,
}

/// The script of a run.
struct WatchedScript {
    setup: ScriptSetup,
    /// Functions that it exports.
    functions: Vec<String>,
}

struct State {
    phase: RunPhase,
    is_paused: bool,
    is_stopped: bool,
    steering: Option<Steering>,
    /// Received but not summed yet.
    parts: Vec<Arc<Snapshot>>,
    sum: MeasurementsDelta,
    until: Duration,
    /// The final summary.
    summary: Option<Arc<TestSummary>>,
    /// The return value of `setup()` or its replacement, as JSON.
    data: Option<Arc<str>>,
    /// Measurements of `setup()` and `teardown()` on request that the run does not have yet.
    around: Snapshot,
}

impl RunWatch {
    /// A watch on the run of a script that has not started; `functions`: those that it exports.
    ///
    /// # Errors
    /// A threshold that cannot be evaluated, in k6's words.
    pub fn of_script(
        plan: &Arc<TestPlan>,
        script: &ScriptSetup,
        functions: &[String],
        is_paused: bool,
    ) -> Result<RunWatch, String> {
        let watched = WatchedScript {
            setup: script.clone(),
            functions: functions.to_vec(),
        };
        let watch = RunWatch::of_steps(plan, &script.metrics)?;
        watch.set_paused(is_paused);
        Ok(RunWatch {
            script: Some(watched),
            ..watch
        })
    }

    /// A watch on the run of a plan of steps that has not started.
    ///
    /// # Errors
    /// As [`RunWatch::of_script`].
    pub fn of_steps(plan: &Arc<TestPlan>, metrics: &ScriptMetrics) -> Result<RunWatch, String> {
        Ok(RunWatch {
            plan: Arc::clone(plan),
            script: None,
            by_tag: metrics.series.by_tag.clone(),
            engine: OnceLock::new(),
            thresholds: HeldTogether::of_plan(plan, &metrics.registry)?,
            state: Mutex::new(State {
                phase: RunPhase::Created,
                is_paused: false,
                is_stopped: false,
                steering: steering_of(plan),
                parts: Vec::new(),
                sum: MeasurementsDelta::default(),
                until: Duration::ZERO,
                summary: None,
                data: None,
                around: Snapshot::default(),
            }),
        })
    }

    /// The plan of the run.
    #[must_use]
    pub fn plan(&self) -> &TestPlan {
        &self.plan
    }

    /// The progress of the run.
    #[must_use]
    pub fn phase(&self) -> RunPhase {
        self.state().phase
    }

    /// Whether the run waits for its start, or its iterations are paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.state().is_paused
    }

    /// Sets whether it is paused.
    pub fn set_paused(&self, is_paused: bool) {
        self.state().is_paused = is_paused;
    }

    /// Whether its stop was requested.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.state().is_stopped
    }

    /// Notes that its stop was requested.
    pub fn set_stopped(&self) {
        self.state().is_stopped = true;
    }

    /// The latest setting of virtual users; `None` if no scenario is externally controlled.
    #[must_use]
    pub fn steering(&self) -> Option<Steering> {
        self.state().steering
    }

    /// Notes a new setting of virtual users.
    pub fn set_steering(&self, steering: Steering) {
        self.state().steering = Some(steering);
    }

    /// The current counters of the workers.
    #[must_use]
    pub fn live(&self) -> LiveTotals {
        let mut sum = LiveTotals::default();
        for counters in self.engine.get().iter().flat_map(|(_, live)| live) {
            counters.add_to(&mut sum);
        }
        sum
    }

    /// The summary of the measurements so far, up to the last whole second.
    #[must_use]
    pub fn summary(&self) -> Arc<TestSummary> {
        let mut state = self.state();
        if let Some(summary) = &state.summary {
            return Arc::clone(summary);
        }
        state.add_up();
        state.add_gauges(&self.live());
        let State { sum, until, .. } = &*state;
        let held = self.thresholds.lock().outcomes(sum, *until);
        let held: Vec<_> = held.into_iter().map(|(_, held)| held).collect();
        let tag = self.by_tag.as_deref();
        Arc::new(TestSummary::of(sum, duration_ns(*until), tag, &held))
    }

    /// The thresholds of the run.
    pub(crate) fn thresholds(&self) -> &HeldTogether {
        &self.thresholds
    }

    /// The return value of `setup()`, or its replacement, as JSON; `None`: there is none.
    #[must_use]
    pub fn setup_data(&self) -> Option<Arc<str>> {
        self.state().data.clone()
    }

    /// Replaces the return value of `setup()`.
    pub fn set_setup_data(&self, json: Option<Arc<str>>) {
        self.state().data = json;
    }

    /// Runs `setup()` now, in a separate virtual user, and stores its return value.
    ///
    /// # Errors
    /// Why it did not complete.
    pub fn run_setup(&self) -> Result<(), String> {
        if let Some(Returned::Json(json)) = self.run(Hook::Setup, None)? {
            self.set_setup_data(Some(sorted(&json)));
        }
        Ok(())
    }

    /// Runs `teardown()` now, in a separate virtual user.
    ///
    /// # Errors
    /// Why it did not complete.
    pub fn run_teardown(&self) -> Result<(), String> {
        self.run(Hook::Teardown, self.setup_data()).map(drop)
    }

    fn run(&self, hook: Hook, data: Option<Arc<str>>) -> Result<Option<Returned>, String> {
        let exports =
            |script: &&WatchedScript| script.functions.iter().any(|name| name == hook.name());
        let Some(script) = self.script.as_ref().filter(exports) else {
            return Ok(None);
        };
        let place = match self.engine.get() {
            Some((clock, live)) => Place {
                clock: *clock,
                live,
            },
            None => Place::apart(),
        };
        let limit = self.plan.script.as_deref().map(|script| match hook {
            Hook::Setup => script.lifecycle.setup_timeout,
            Hook::Teardown => script.lifecycle.teardown_timeout,
        });
        let around = Around::Hook(hook, data);
        let report = run_around(
            &self.plan,
            &script.setup,
            place,
            &around,
            limit,
            &mut |_| false,
        )
        .map_err(|error| error.to_string())?;
        self.keep_around(*report.seen);
        match report.ending {
            AroundEnding::Done(returned) => Ok(returned),
            AroundEnding::Failed(failure) => Err(failure.to_string()),
            AroundEnding::TimedOut | AroundEnding::Stopped => {
                Err(out_of_time(hook.name(), limit.unwrap_or_default()))
            }
        }
    }

    pub(crate) fn enter(&self, phase: RunPhase) {
        self.state().phase = phase;
    }

    pub(crate) fn follow(&self, load: &dyn Load) {
        // There is one engine per run.
        drop(
            self.engine
                .set((load.clock(), load.live_counters().to_vec())),
        );
    }

    /// Adds a part of the run that ends `until` after the start of the test.
    pub(crate) fn tell(&self, part: &Arc<Snapshot>, until: Duration) {
        let mut state = self.state();
        state.until = until;
        if part.script.is_some() {
            state.parts.push(Arc::clone(part));
        }
        if state.parts.len() >= PARTS_MAX {
            state.add_up();
        }
    }

    fn keep_around(&self, seen: Snapshot) {
        let mut state = self.state();
        if let Some(script) = &seen.script {
            state.sum.merge((**script).clone());
        }
        state.around.merge(seen);
    }

    /// The measurements of functions that ran on request since the last call.
    pub(crate) fn take_around(&self) -> Snapshot {
        std::mem::take(&mut self.state().around)
    }

    pub(crate) fn conclude(&self, result: &RunResult) {
        let mut state = self.state();
        state.summary = result
            .summary
            .as_ref()
            .map(|summary| Arc::new(summary.clone()));
        state.parts = Vec::new();
        state.phase = match result.totals.stop {
            StopReason::Finished => RunPhase::Ended,
            _ => RunPhase::Interrupted,
        };
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add_up(&mut self) {
        for part in std::mem::take(&mut self.parts) {
            if let Some(script) = &part.script {
                self.sum.merge((**script).clone());
            }
        }
    }

    /// Adds the gauges of the whole run if no second has provided them yet.
    fn add_gauges(&mut self, live: &LiveTotals) {
        let gauges = [
            (BuiltIn::Vus, live.vus_active),
            (BuiltIn::VusMax, live.vus_made),
        ];
        for (metric, value) in gauges {
            if !self.sum.root.values.contains_key(&metric.id()) && live.vus_made > 0 {
                let set = self.sum.set_gauge(metric, value as f64, 0);
                set.expect("a whole number is finite");
            }
        }
    }
}

fn steering_of(plan: &TestPlan) -> Option<Steering> {
    plan.scenarios
        .iter()
        .find_map(|scenario| match scenario.executor {
            Executor::ExternallyControlled { vus, max_vus, .. } => Some(Steering { vus, max_vus }),
            _ => None,
        })
}
