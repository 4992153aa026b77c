//! The behaviour that runs a function of a script.
//!
//! Makes a virtual user run its iterations, and records their results. Must not know JavaScript or k6's
//! modules. Invariant: a coroutine started here has returned before `iterate` does.

mod asks;
mod host;
mod numbers;
mod off_duty;
mod retired;
mod user;
mod worker;

use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use loadline_metric::TagSet;
use loadline_model::Nanos;
use loadline_script::host::{LogEntry, LogLevel};
use loadline_script::vu::{Ending, FailureKind, ScriptFailure, VuIds};

use super::beginning::Beginning;
use super::shared::Shared;
use crate::client::{Stop, StopSign};
use crate::record_script::Occasion;
use crate::script::InitFailure;
use crate::slot::VuSlot;
use crate::timers::Timers;

pub(crate) use asks::Asks;
pub(crate) use host::VuHost;
pub(crate) use numbers::PlanNumbers;
pub(crate) use off_duty::OffDutyVus;
use off_duty::Taken;
pub(crate) use retired::RetiredVus;
use user::ScriptUser;
pub(crate) use worker::{AllBegun, ScenarioScript, WorkerMeans, WorkerScript};

/// How long a scenario waits for a virtual user that the previous one still has. k6 tries five times, 400 ms
/// apart.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a virtual user does in one scenario of a script.
pub(crate) struct ScriptBehaviour {
    scenario: Rc<ScenarioScript>,
    off_duty: Rc<OffDutyVus>,
    worker: Rc<WorkerScript>,
    shared: Rc<Shared>,
    slot: Rc<VuSlot>,
    timers: Rc<Timers>,
    /// Taken over, or made, at the first iteration.
    user: Option<Box<ScriptUser>>,
    readiness: Readiness,
    /// Iterations that it started in this scenario.
    iterations: u64,
}

/// What is known of a virtual user's module code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Readiness {
    /// The run cannot do without the virtual user, or it has run.
    Counted,
    /// It has not run, and the run can do without the virtual user.
    Unplanned,
    /// It failed, and the run goes on without the virtual user.
    Lost,
}

impl ScriptBehaviour {
    pub(crate) fn new(
        scenario: Rc<ScenarioScript>,
        off_duty: &Rc<OffDutyVus>,
        shared: &Rc<Shared>,
        slot: &Rc<VuSlot>,
        timers: &Rc<Timers>,
    ) -> ScriptBehaviour {
        ScriptBehaviour {
            worker: Rc::clone(&scenario.worker),
            scenario,
            off_duty: Rc::clone(off_duty),
            shared: Rc::clone(shared),
            slot: Rc::clone(slot),
            timers: Rc::clone(timers),
            user: None,
            readiness: Readiness::Counted,
            iterations: 0,
        }
    }

    /// Creates the virtual user and runs the script's init context, unless an earlier scenario did.
    pub(crate) async fn initialise(&mut self) -> Result<(), InitFailure> {
        if !self.off_duty.knows(self.ids()) {
            let mut user = self.new_user();
            let outcome = user.initialise().await;
            outcome.map_err(|failure| self.init_failure(failure))?;
            self.off_duty.keep(user);
        }
        Ok(())
    }

    fn ids(&self) -> VuIds {
        self.scenario.ids(self.slot.global)
    }

    fn init_failure(&self, failure: ScriptFailure) -> InitFailure {
        InitFailure {
            vu: self.ids().in_test,
            failure,
        }
    }

    fn new_user(&self) -> Box<ScriptUser> {
        let user = ScriptUser::new(&self.scenario, &self.shared, &self.slot, &self.timers);
        Box::new(user)
    }

    fn is_ready(&self) -> bool {
        self.user.as_ref().is_some_and(|user| user.vu.is_some())
    }

    /// Ensures that there is a virtual user whose module code has run, unless that is interrupted.
    async fn make_ready(&mut self) -> Result<(), ScriptFailure> {
        let user = match self.user.take() {
            Some(user) => user,
            None => {
                let Ok(taken) = self.take_over().await else {
                    return Ok(());
                };
                let mut user = taken.unwrap_or_else(|| self.new_user());
                user.join(&self.scenario, &self.slot);
                user
            }
        };
        let user = self.user.insert(user);
        match user.vu {
            Some(_) => Ok(()),
            None => user.initialise().await,
        }
    }

    /// The virtual user initialized before the run, or that of the previous scenario as soon as it is free;
    /// `None`: there is none.
    async fn take_over(&self) -> Result<Option<Box<ScriptUser>>, Stop> {
        let (ids, clock) = (self.ids(), self.shared.clock);
        let mut until = None;
        let taken = std::future::poll_fn(|_| match self.off_duty.take(ids, &self.slot) {
            Taken::User(user) => Poll::Ready(Some(user)),
            Taken::Nobody => Poll::Ready(None),
            Taken::Away => {
                let now = clock.now();
                let until = *until.get_or_insert_with(|| {
                    self.timers.add(now + PATIENCE, &self.slot);
                    now + PATIENCE
                });
                match now < until {
                    true => Poll::Pending,
                    false => Poll::Ready(None),
                }
            }
        });
        self.slot.guard(taken).await
    }

    /// Runs one iteration; returns the instant at which it ended.
    pub(crate) async fn iterate(&mut self, mut beginning: Beginning) -> Nanos {
        let clock = self.shared.clock;
        if !self.is_ready() {
            match self.make_ready().await {
                Ok(()) => self.count(),
                Err(failure) => self.fail(&failure).await,
            }
            // That time is not part of the iteration.
            beginning.started = clock.now();
        }
        let Some(user) = &mut self.user else {
            return clock.now();
        };
        let ran = user.iterate(&self.scenario, beginning, self.iterations);
        let Some((ending, tags)) = ran.await else {
            return clock.now();
        };
        self.iterations += 1;
        let now = self.conclude(&ending, beginning, &tags);
        self.rest(&ending, beginning.started, now).await
    }

    /// Lets the run go on without this virtual user if its module code fails.
    pub(crate) fn allow_loss(&mut self) {
        self.readiness = Readiness::Unplanned;
    }

    /// Whether its module code failed: its iteration did not start.
    pub(crate) fn is_lost(&self) -> bool {
        self.readiness == Readiness::Lost
    }

    /// Counts an optional virtual user once its module code has run.
    fn count(&mut self) {
        if self.readiness == Readiness::Unplanned && self.is_ready() {
            self.readiness = Readiness::Counted;
            self.worker.note_made(&self.scenario, self.slot.global);
        }
    }

    /// Module code failed: as in k6, the run continues if it can do without the virtual user.
    async fn fail(&mut self, failure: &ScriptFailure) {
        if self.readiness == Readiness::Unplanned {
            self.readiness = Readiness::Lost;
            self.worker.tell_of_loss(&self.scenario, failure);
        } else {
            self.worker.init_failed(self.init_failure(failure.clone()));
            self.until_cut().await;
        }
    }

    /// Waits if nothing more is to start, or until the minimum iteration duration has passed; returns the time
    /// after that.
    async fn rest(&self, ending: &Ending, started: Nanos, now: Nanos) -> Nanos {
        if matches!(ending, Ending::Failed(failure) if failure.kind == FailureKind::Aborted) {
            self.until_cut().await;
            return self.shared.clock.now();
        }
        let asks = &self.user.as_ref().expect("it did the iteration").asks;
        let until = started + self.worker.iteration_min;
        if until <= now || matches!(ending, Ending::Cancelled) {
            return now;
        }
        // An interruption ends the wait as well, and there is nothing left to interrupt.
        drop(asks.wait(Some(until), &mut Vec::new()).await);
        asks.clock.now()
    }

    /// Waits for the end of the test, which was ordered.
    async fn until_cut(&self) {
        let cut = self.slot.guard(std::future::pending::<()>()).await;
        debug_assert!(cut.is_err(), "nothing else ends the wait");
    }

    /// Records the result of an iteration.
    fn conclude(&self, ending: &Ending, beginning: Beginning, tags: &TagSet) -> Nanos {
        let user = self.user.as_ref().expect("it did the iteration");
        let (host, client) = (&user.host, &user.asks.client);
        let now = self.shared.clock.now();
        host.end_iteration(now);
        // As in k6, the iteration that ends the test is interrupted itself, but measured.
        let (is_complete, is_measured) = match ending {
            Ending::Done(_) => (true, true),
            Ending::Failed(failure) if failure.kind == FailureKind::Aborted => (false, true),
            Ending::Failed(failure) => {
                self.tell_failure(failure);
                self.scenario.note(|change| change.thrown += 1);
                (true, true)
            }
            Ending::Cancelled => (false, false),
        };
        self.worker.live.count_iteration(is_complete);
        self.scenario.count_ended();
        let slept_ns = user.asks.take_slept_ns();
        self.scenario.note(|change| {
            change.slept_ns += slept_ns;
            if is_complete {
                change.iterations += 1;
                change.last_end_ns = now.0;
            } else {
                change.interrupted += 1;
            }
        });
        client.end_of_iteration();
        host.cut_short(&client.take_cut());
        let (sent, received) = client.take_bytes();
        let metadata = host.current_metadata();
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

    /// Logs an uncaught exception, like k6.
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
            in_init: false,
        });
    }
}

impl Drop for ScriptBehaviour {
    fn drop(&mut self) {
        let is_wanted = self.scenario.has_heir(self.slot.global);
        match self.user.take() {
            Some(user) if is_wanted => self.off_duty.keep(user),
            _ if is_wanted => {}
            _ => self.off_duty.dismiss(self.ids()),
        }
    }
}
