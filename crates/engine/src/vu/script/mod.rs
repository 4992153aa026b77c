//! The behaviour that runs a function of a script.
//!
//! Drives the coroutine of a [`ScriptVu`]: fulfils what it asks, cancels it when its slot is cut,
//! and records how the iteration came out. Must not know JavaScript or k6's modules. Invariant: a
//! coroutine that was begun here has returned before `iterate` does.

mod asks;
mod host;
mod numbers;
mod retired;
mod worker;

use std::rc::Rc;

use loadline_metric::TagSet;
use loadline_model::Nanos;
use loadline_script::host::{Host, LogEntry, LogLevel};
use loadline_script::vu::{Ending, FailureKind, Iteration, ScriptFailure};
use loadline_script::{ScriptVu, Step, Task};

use super::beginning::Beginning;
use super::script_client::ScriptClient;
use super::shared::Shared;
use crate::client::StopSign;
use crate::record_script::Occasion;
use crate::slot::VuSlot;
use crate::timers::Timers;

pub(crate) use asks::Asks;
pub(crate) use host::VuHost;
pub(crate) use numbers::PlanNumbers;
pub(crate) use retired::RetiredVus;
pub(crate) use worker::{AllBegun, ScenarioScript, WorkerMeans, WorkerScript};

/// One virtual user that runs a script.
pub(crate) struct ScriptBehaviour {
    scenario: Rc<ScenarioScript>,
    worker: Rc<WorkerScript>,
    host: Rc<VuHost>,
    asks: Asks,
    /// Made at first use, and again after an iteration that was cancelled.
    vu: Option<ScriptVu>,
    iterations: u64,
}

impl ScriptBehaviour {
    pub(crate) fn new(
        scenario: Rc<ScenarioScript>,
        shared: &Rc<Shared>,
        slot: &Rc<VuSlot>,
        timers: &Rc<Timers>,
    ) -> ScriptBehaviour {
        let worker = Rc::clone(&scenario.worker);
        let client = ScriptClient::new(Rc::clone(slot), Rc::clone(&worker.client));
        let host = VuHost::new(shared, &worker, &scenario, slot);
        ScriptBehaviour {
            asks: Asks {
                client: Rc::new(client),
                slot: Rc::clone(slot),
                timers: Rc::clone(timers),
                clock: shared.clock,
            },
            scenario,
            host: Rc::new(host),
            worker,
            vu: None,
            iterations: 0,
        }
    }

    /// Runs the script's module code.
    pub(crate) async fn initialise(&mut self) -> Result<(), ScriptFailure> {
        let (id, in_instance) = self.scenario.ids(self.asks.slot.global);
        let host: Rc<dyn Host> = Rc::clone(&self.host) as Rc<dyn Host>;
        let program = self.worker.program.clone();
        let mut vu = ScriptVu::new(
            program,
            host,
            Rc::clone(&self.worker.stacks),
            in_instance,
            id,
        )?;
        let step = vu.begin(Task::Init)?;
        match self.asks.fulfil(&mut vu, step).await {
            Ending::Failed(failure) => return Err(failure),
            Ending::Done(_) => self.vu = Some(vu),
            Ending::Cancelled => {}
        }
        Ok(())
    }

    /// Runs one iteration; gives the instant at which it ended.
    pub(crate) async fn iterate(&mut self, beginning: Beginning) -> Nanos {
        if self.vu.is_none()
            && let Err(failure) = self.initialise().await
        {
            self.worker.init_failed(&failure);
            self.until_cut().await;
        }
        let Some(mut vu) = self.vu.take() else {
            return self.asks.clock.now();
        };
        self.host.begin_iteration(beginning, self.iterations);
        let task = Task::Iteration(Iteration {
            scenario: Rc::clone(&self.scenario.setup),
            number: self.iterations,
        });
        self.iterations += 1;
        let ending = match vu.begin(task) {
            Ok(step) => self.drive(&mut vu, step).await,
            Err(failure) => Ending::Failed(failure),
        };
        let tags = self.host.tags_at_end(&vu.tags());
        if vu.is_reusable() {
            self.vu = Some(vu);
        } else {
            self.worker.retire(vu);
        }
        let now = self.conclude(&ending, beginning, &tags);
        self.rest(&ending, beginning.started, now).await
    }

    /// Waits where nothing more is to begin, or until the iteration is as long as it must be; gives
    /// the time it is then.
    async fn rest(&mut self, ending: &Ending, started: Nanos, now: Nanos) -> Nanos {
        if matches!(ending, Ending::Failed(failure) if failure.kind == FailureKind::Aborted) {
            self.until_cut().await;
            return self.asks.clock.now();
        }
        let until = started + self.worker.iteration_min;
        if until <= now || matches!(ending, Ending::Cancelled) {
            return now;
        }
        // A cut ends the wait as well, and there is nothing left to cut.
        drop(self.asks.wait(Some(until), &mut Vec::new()).await);
        self.asks.clock.now()
    }

    /// Waits for the end of the test, which was ordered.
    async fn until_cut(&self) {
        let cut = self.asks.slot.guard(std::future::pending::<()>()).await;
        debug_assert!(cut.is_err(), "nothing else ends the wait");
    }

    async fn drive(&mut self, vu: &mut ScriptVu, step: Step) -> Ending {
        if let Step::Ended(ending) = step {
            return ending;
        }
        self.asks.fulfil(vu, step).await
    }

    /// Records how an iteration came out.
    fn conclude(&mut self, ending: &Ending, beginning: Beginning, tags: &TagSet) -> Nanos {
        let now = self.asks.clock.now();
        self.host.end_iteration(now);
        // As in k6, who ends the test interrupts its own iteration too, which is measured all the same.
        let (is_complete, is_measured) = match ending {
            Ending::Done(_) => (true, true),
            Ending::Failed(failure) if failure.kind == FailureKind::Aborted => (false, true),
            Ending::Failed(failure) => {
                self.tell_failure(failure);
                (true, true)
            }
            Ending::Cancelled => (false, false),
        };
        self.worker.live.count_iteration(is_complete);
        if is_complete {
            self.scenario.note(|change| change.iterations += 1);
        }
        self.asks.client.end_of_iteration();
        self.host.cut_short(self.asks.client.take_cut());
        let (sent, received) = self.asks.client.take_bytes();
        let metadata = self.host.current_metadata();
        let on = Occasion {
            at: now,
            tags,
            metadata: metadata.as_ref(),
        };
        let mut recorder = self.worker.recorder.borrow_mut();
        recorder.data(sent, received, on);
        if is_measured {
            recorder.iteration(now.since(beginning.started), on);
        }
        now
    }

    /// What k6 logs of an exception that nobody caught.
    fn tell_failure(&self, failure: &ScriptFailure) {
        let (executor, scenario) = (self.scenario.executor, &*self.scenario.name);
        let thrown = [
            ("executor", executor),
            ("hint", "script exception"),
            ("scenario", scenario),
            ("source", "stacktrace"),
        ];
        let rejected = [("executor", executor), ("scenario", scenario)];
        self.worker.log.write(&LogEntry {
            level: LogLevel::Error,
            message: &failure.to_string(),
            fields: match failure.kind {
                FailureKind::Rejected => &rejected,
                _ => &thrown,
            },
        });
    }
}

impl Drop for ScriptBehaviour {
    fn drop(&mut self) {
        if let Some(vu) = self.vu.take() {
            self.worker.retire(vu);
        }
    }
}
