//! A script's run as another thread sees it while it goes on, and what that thread can do around it.
//!
//! The run tells how far it is and what was measured; whoever asks gets a summary of that. Must not
//! know who asks, or how it is shown. Invariant: asking costs the run nothing but a lock held for
//! moments.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use loadline_engine::ScriptSetup;
use loadline_engine::clock::Clock;
use loadline_engine::hook::{Around, AroundEnding, Place, run_around};
use loadline_engine::live::{LiveCounters, LiveTotals};
use loadline_metric::{BuiltIn, MeasurementsDelta};
use loadline_model::result::{RunResult, StopReason};
use loadline_model::summarize::HeldThresholds;
use loadline_model::units::duration_ns;
use loadline_model::{Executor, Snapshot, TestPlan, TestSummary};
use loadline_script::vu::{Hook, Returned};

use crate::lifecycle::sorted;
use crate::load::Load;
use crate::thresholds::ScriptThresholds;

/// Parts of a run that are kept until somebody asks for their sum; beyond, they are summed anyway.
const PARTS_MAX: usize = 4;

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPhase {
    /// Nothing was done yet.
    Created,
    /// Virtual users are being made.
    InitVus,
    /// They are ready.
    Ready,
    /// It waits for a word before it begins.
    Paused,
    /// It has begun.
    Started,
    /// `setup()` runs.
    Setup,
    /// Iterations run.
    Running,
    /// `teardown()` runs.
    Teardown,
    /// All is done.
    Ended,
    /// It was broken off.
    Interrupted,
}

/// Virtual users of the scenario that is controlled from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steering {
    /// At work.
    pub vus: u32,
    /// At most.
    pub max_vus: u32,
}

/// A run as another thread sees it.
pub struct RunWatch {
    plan: Arc<TestPlan>,
    script: ScriptSetup,
    /// Functions that the script exports.
    functions: Vec<String>,
    engine: OnceLock<(Clock, Vec<Arc<LiveCounters>>)>,
    state: Mutex<State>,
}

struct State {
    phase: RunPhase,
    is_paused: bool,
    is_stopped: bool,
    steering: Option<Steering>,
    thresholds: ScriptThresholds,
    /// Told and not summed yet.
    parts: Vec<Arc<Snapshot>>,
    sum: MeasurementsDelta,
    until: Duration,
    /// The last word on the run.
    summary: Option<Arc<TestSummary>>,
    /// What `setup()` returned or somebody put in its place, as JSON.
    data: Option<Arc<str>>,
}

impl RunWatch {
    /// A watch on a run that has not begun.
    ///
    /// # Errors
    /// A threshold that cannot be evaluated, in k6's words.
    pub fn new(
        plan: &Arc<TestPlan>,
        script: &ScriptSetup,
        functions: &[String],
        is_paused: bool,
    ) -> Result<RunWatch, String> {
        let registry = &script.metrics.registry;
        let thresholds = ScriptThresholds::new(&plan.script_thresholds, false, registry)?;
        Ok(RunWatch {
            plan: Arc::clone(plan),
            script: script.clone(),
            functions: functions.to_vec(),
            engine: OnceLock::new(),
            state: Mutex::new(State {
                phase: RunPhase::Created,
                is_paused,
                is_stopped: false,
                steering: steering_of(plan),
                thresholds,
                parts: Vec::new(),
                sum: MeasurementsDelta::default(),
                until: Duration::ZERO,
                summary: None,
                data: None,
            }),
        })
    }

    /// What is done.
    #[must_use]
    pub fn plan(&self) -> &TestPlan {
        &self.plan
    }

    /// How far the run is.
    #[must_use]
    pub fn phase(&self) -> RunPhase {
        self.state().phase
    }

    /// Whether it waits for a word, or its iterations do.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.state().is_paused
    }

    /// Notes that it waits, or does not any more.
    pub fn set_paused(&self, is_paused: bool) {
        self.state().is_paused = is_paused;
    }

    /// Whether somebody asked for its end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.state().is_stopped
    }

    /// Notes that somebody asked for its end.
    pub fn set_stopped(&self) {
        self.state().is_stopped = true;
    }

    /// Virtual users as they were last set; `None` when no scenario is controlled from outside.
    #[must_use]
    pub fn steering(&self) -> Option<Steering> {
        self.state().steering
    }

    /// Notes what virtual users were set to.
    pub fn set_steering(&self, steering: Steering) {
        self.state().steering = Some(steering);
    }

    /// What the workers count now.
    #[must_use]
    pub fn live(&self) -> LiveTotals {
        let mut sum = LiveTotals::default();
        for counters in self.engine.get().iter().flat_map(|(_, live)| live) {
            counters.add_to(&mut sum);
        }
        sum
    }

    /// The summary of what was measured so far: up to the last whole second.
    #[must_use]
    pub fn summary(&self) -> Arc<TestSummary> {
        let mut state = self.state();
        if let Some(summary) = &state.summary {
            return Arc::clone(summary);
        }
        state.add_up();
        state.add_gauges(&self.live());
        let State {
            thresholds,
            sum,
            until,
            ..
        } = &mut *state;
        let held = thresholds.finish(sum, *until);
        let held: Vec<HeldThresholds> = held.into_iter().map(|(_, held)| held).collect();
        let script = self.plan.script.as_deref();
        let tag = script.map(|script| script.series.table_tag());
        Arc::new(TestSummary::of(sum, duration_ns(*until), tag, &held))
    }

    /// What `setup()` returned, or somebody put in its place, as JSON; `None`: nothing did.
    #[must_use]
    pub fn setup_data(&self) -> Option<Arc<str>> {
        self.state().data.clone()
    }

    /// Puts something in the place of what `setup()` returned.
    pub fn set_setup_data(&self, json: Option<Arc<str>>) {
        self.state().data = json;
    }

    /// Runs `setup()` now, in a virtual user of its own, and keeps what it returns.
    ///
    /// # Errors
    /// Why it did not come to its end.
    pub fn run_setup(&self) -> Result<(), String> {
        if let Some(Returned::Json(json)) = self.run(Hook::Setup, None)? {
            self.set_setup_data(Some(sorted(&json)));
        }
        Ok(())
    }

    /// Runs `teardown()` now, in a virtual user of its own.
    ///
    /// # Errors
    /// Why it did not come to its end.
    pub fn run_teardown(&self) -> Result<(), String> {
        self.run(Hook::Teardown, self.setup_data()).map(drop)
    }

    fn run(&self, hook: Hook, data: Option<Arc<str>>) -> Result<Option<Returned>, String> {
        if !self.functions.iter().any(|name| name == hook.name()) {
            return Ok(None);
        }
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
        let report = run_around(&self.plan, &self.script, place, &around, limit, &mut |_| {
            false
        })
        .map_err(|error| error.to_string())?;
        match report.ending {
            AroundEnding::Done(returned) => Ok(returned),
            AroundEnding::Failed(failure) => Err(failure.to_string()),
            AroundEnding::TimedOut | AroundEnding::Stopped => Err(format!(
                "{}() execution timed out after {} seconds",
                hook.name(),
                limit.unwrap_or_default().as_secs()
            )),
        }
    }

    pub(crate) fn enter(&self, phase: RunPhase) {
        self.state().phase = phase;
    }

    pub(crate) fn follow(&self, load: &dyn Load) {
        // One engine a run.
        drop(
            self.engine
                .set((load.clock(), load.live_counters().to_vec())),
        );
    }

    /// Takes in a part of the run that ends `until` after its start.
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

    /// The gauges of the whole, until the first second has brought them.
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
