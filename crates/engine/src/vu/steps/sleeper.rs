//! Steps of a thread whose scripts may sleep: other threads of the worker go on meanwhile.
//!
//! Must not know scripts. Invariant: a thread that is interrupted in its sleep runs no script any more.

use std::cell::Cell;

use loadline_script::vu::{Pauser, Pausing, Progress};
use loadline_steps::host::{Host, World};
use loadline_steps::script::{ScriptContext, ScriptTask, ScriptValue};
use loadline_steps::thread::{Ask, Outcome};

use super::host::StepsHost;
use super::{StepsVu, Walk};
use crate::client::Stop;

/// What a thread sees of the world while it can sleep.
struct SleepingHost<'h> {
    awake: &'h StepsHost,
    /// `None`: it cannot sleep.
    pauser: Option<&'h Pauser<'h, u64>>,
    /// Whether its sleep was interrupted.
    is_cut: Cell<bool>,
}

impl Host for SleepingHost<'_> {
    fn world(&self) -> &dyn World {
        self.awake.world()
    }

    fn unix_ms(&self) -> i64 {
        self.awake.unix_ms()
    }

    fn random(&self) -> u64 {
        self.awake.random()
    }

    fn threads_at_work(&self, group: usize) -> (u32, u32) {
        self.awake.threads_at_work(group)
    }

    fn run_script(
        &self,
        task: &ScriptTask<'_>,
        context: ScriptContext,
    ) -> (ScriptContext, Result<ScriptValue, String>) {
        self.awake.run_script(task, context)
    }

    fn cpu_ns(&self) -> u64 {
        self.awake.cpu_ns()
    }

    fn is_called_off(&self) -> bool {
        self.is_cut.get() || self.awake.is_called_off()
    }

    fn sleep(&self, ms: u64) -> bool {
        match self.pauser {
            Some(_) if self.is_cut.get() => true,
            Some(pauser) => {
                self.is_cut.set(!pauser.pause(ms));
                true
            }
            None => false,
        }
    }

    fn threads_of(&self, group: usize) -> u32 {
        self.awake.threads_of(group)
    }

    fn let_go(&self) {
        self.awake.let_go();
    }
}

impl StepsVu {
    /// What a walker asks for next. A branch cannot sleep: its thread is shared with others.
    pub(super) async fn advance(&self, walk: &Walk<'_>, outcome: Outcome) -> Result<Ask, Stop> {
        if let Some(branch) = walk.branch {
            let mut thread = walk.thread.borrow_mut();
            return Ok(thread.advance_branch(branch, walk.host, outcome));
        }
        if !walk.of.setup.program.sleeps {
            return Ok(walk.thread.borrow_mut().advance(walk.host, outcome));
        }
        let work = |pauser: Option<&Pauser<'_, u64>>| {
            let host = SleepingHost {
                awake: walk.host,
                pauser,
                is_cut: Cell::new(false),
            };
            walk.thread.borrow_mut().advance(&host, outcome)
        };
        let mut pausing = match Pausing::new(&walk.of.on_worker.stacks, work) {
            Ok(pausing) => pausing,
            Err(work) => return Ok(work(None)),
        };
        loop {
            match pausing.go_on() {
                Some(Progress::Done(ask)) => return Ok(ask),
                Some(Progress::Pauses(ms)) => self.sleep(ms).await?,
                None => return Err(Stop::Cut),
            }
        }
    }
}
