//! When iterations start: the executors as pure functions of time.
//!
//! A schedule decides and never waits: given *now*, it answers start, wait or finished, or names the instant of
//! the next arrival. Must not know clocks, threads, sockets or what an iteration does. Every instant is
//! relative to the scenario's start, and the `now` passed for one virtual user never goes back.
//!
//! Invariant: however a plan is divided into segments and workers, the virtual users, arrivals and iterations
//! of all parts make up the whole, each exactly once.

mod arrival_course;
mod closed;
mod constant_arrival_rate;
mod constant_vus;
mod externally_controlled;
mod needs;
mod next;
mod open;
mod per_vu_iterations;
mod planned;
mod poisson;
mod pool;
mod ramping_arrival_rate;
mod ramping_vus;
mod shared_iterations;
pub mod thread_group;
mod vu_numbers;

use std::sync::Arc;

use loadline_model::segment::Share;
use loadline_model::{Executor, Nanos};

pub use closed::Closed;
pub use needs::{VuNeed, vu_needs};
pub use next::Next;
pub use open::{Arrival, Open};
pub use pool::IterationPool;
pub use vu_numbers::VuNumbers;

/// What one worker runs of a scenario, and when.
#[derive(Debug)]
pub enum Schedule {
    /// Starts follow the ends of earlier iterations.
    Closed(Closed),
    /// Starts are due at instants that do not depend on the target.
    Open(Open),
}

impl Schedule {
    /// The schedule of one worker's share of an executor.
    ///
    /// All workers of the process use the same `pool`: [`IterationPool::for_executor`].
    #[must_use]
    pub fn new(executor: &Executor, share: &Share, pool: &Arc<IterationPool>) -> Schedule {
        match Open::new(executor, share) {
            Some(open) => Schedule::Open(open),
            None => Schedule::Closed(Closed::new(executor, share, pool)),
        }
    }

    /// Maximum virtual users hosted by this worker.
    #[must_use]
    pub fn vus(&self) -> u32 {
        match self {
            Schedule::Closed(closed) => closed.vus(),
            Schedule::Open(open) => open.vus(),
        }
    }

    /// Takes over at an instant, before anything was started: arrivals due earlier belong to the lost process,
    /// and so do all iterations planned by number, since the remaining number is unknown.
    pub fn take_over_at(&mut self, now: Nanos) {
        match self {
            Schedule::Closed(closed) => closed.take_over(),
            Schedule::Open(open) => open.take_over_at(now),
        }
    }

    /// The first instant at which nothing starts any more; `None` without a time limit.
    #[must_use]
    pub fn end(&self) -> Option<Nanos> {
        match self {
            Schedule::Closed(closed) => closed.end(),
            Schedule::Open(open) => open.end(),
        }
    }
}

/// How many of the test's first `vus` virtual users belong to the share.
fn own_vus(share: &Share, vus: u32) -> u32 {
    u32::try_from(share.count_below(u64::from(vus))).expect("a part is no more than the whole")
}

/// The number of the share's virtual user `vu` in the whole test.
fn global_vu(share: &Share, vu: u32) -> u32 {
    share
        .nth(u64::from(vu))
        .and_then(|number| u32::try_from(number).ok())
        .expect("a hosted virtual user is one of the plan's, which thirty-two bits count")
}
