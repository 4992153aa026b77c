//! What a thread of steps sees of the world: the worker's clock and random numbers, and the run's machine.
//!
//! Must not know threads. Invariant: time is that of the run's clock.

use std::rc::Rc;
use std::sync::Arc;

use loadline_steps::host::{Host, World};
use loadline_steps::script::{ScriptContext, ScriptTask, ScriptValue};
use loadline_steps::thread::{End, EndedEarly};

use super::GroupOnWorker;
use crate::platform;
use crate::steps::scripts::Scripts;
use crate::steps::told::ToldThread;
use crate::vu::shared::Shared;

/// What a thread of steps sees of the world.
pub(super) struct StepsHost {
    pub(super) shared: Rc<Shared>,
    pub(super) of: Rc<GroupOnWorker>,
    pub(super) scripts: Scripts,
    /// What the log tells of the thread; `None`: nothing.
    pub(super) told: Option<ToldThread>,
}

impl StepsHost {
    /// Tells in the log what happened to the thread.
    pub(super) fn tell(&self, what: &str) {
        if let Some(told) = &self.told {
            told.tell(what);
        }
    }

    /// Tells how the thread ends, if a failed sample ends it.
    pub(super) fn tell_end(&self, end: End, early: Option<EndedEarly>) {
        if early != Some(EndedEarly::Failed) {
            return;
        }
        match end {
            End::Test => self.tell("Shutdown Test detected by thread: "),
            End::TestNow => self.tell("Stop Test Now detected by thread: "),
            End::Thread => self.tell("Stop Thread detected by thread: "),
            End::Group => {}
        }
    }
}

impl Host for StepsHost {
    fn world(&self) -> &dyn World {
        &*self.of.setup.world
    }

    fn unix_ms(&self) -> i64 {
        i64::try_from(self.shared.unix_ms()).unwrap_or(i64::MAX)
    }

    fn random(&self) -> u64 {
        self.shared.next_random()
    }

    fn threads_at_work(&self, group: usize) -> (u32, u32) {
        self.of.setup.state.threads_at_work(group)
    }

    fn run_script(
        &self,
        task: &ScriptTask<'_>,
        context: ScriptContext,
    ) -> (ScriptContext, Result<ScriptValue, String>) {
        let world = Arc::clone(&self.of.setup.world);
        self.scripts.run(world, task, context)
    }

    fn cpu_ns(&self) -> u64 {
        platform::thread_cpu_ns()
    }

    fn is_called_off(&self) -> bool {
        self.scripts.are_called_off()
    }

    fn threads_of(&self, group: usize) -> u32 {
        self.of.setup.state.threads_of(group)
    }

    fn let_go(&self) {
        self.of.setup.state.let_go.notify_waiters();
    }
}
