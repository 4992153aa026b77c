//! What a thread of steps sees of the world: the worker's clock and chance, and the machine of the run.
//!
//! Must not know threads. Invariant: time is that of the run's clock.

use std::rc::Rc;

use loadline_steps::host::{Host, World};

use super::GroupOnWorker;
use crate::vu::shared::Shared;

/// What a thread of steps sees of the world.
pub(super) struct StepsHost {
    pub(super) shared: Rc<Shared>,
    pub(super) of: Rc<GroupOnWorker>,
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
}
