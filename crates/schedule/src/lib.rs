//! When iterations start: the executors, as pure functions of time.
//!
//! A schedule decides and never waits: told *now*, it answers start, wait or finished, or names
//! the instant of the next arrival. Must not know clocks, threads, sockets or what an iteration
//! does. Every instant is relative to the scenario's start, and the `now` that one virtual user's
//! calls are given never goes back.
//!
//! Invariant: whatever way a plan is divided into segments and workers, the parts' virtual users,
//! arrivals and iterations are together those of the whole, each exactly once.

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

/// What one worker does of a scenario, and when.
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
    /// `pool` is one for all workers of the process: [`IterationPool::for_executor`].
    #[must_use]
    pub fn new(executor: &Executor, share: &Share, pool: &Arc<IterationPool>) -> Schedule {
        match Open::new(executor, share) {
            Some(open) => Schedule::Open(open),
            None => Schedule::Closed(Closed::new(executor, share, pool)),
        }
    }

    /// Virtual users that this worker hosts at most.
    #[must_use]
    pub fn vus(&self) -> u32 {
        match self {
            Schedule::Closed(closed) => closed.vus(),
            Schedule::Open(open) => open.vus(),
        }
    }

    /// Takes over at an instant, before anything was taken: arrivals due before it are another's, and so are all
    /// iterations that are planned by number, of which nobody knows how many are left.
    pub fn take_over_at(&mut self, now: Nanos) {
        match self {
            Schedule::Closed(closed) => closed.take_over(),
            Schedule::Open(open) => open.take_over_at(now),
        }
    }

    /// The first instant at which nothing starts any more; `None` without a limit in time.
    #[must_use]
    pub fn end(&self) -> Option<Nanos> {
        match self {
            Schedule::Closed(closed) => closed.end(),
            Schedule::Open(open) => open.end(),
        }
    }
}

/// How many of the first `vus` virtual users of the test are the share's.
fn own_vus(share: &Share, vus: u32) -> u32 {
    u32::try_from(share.count_below(u64::from(vus))).expect("a part is no more than the whole")
}

/// The number in the whole test of the share's virtual user `vu`.
fn global_vu(share: &Share, vu: u32) -> u32 {
    share
        .nth(u64::from(vu))
        .and_then(|number| u32::try_from(number).ok())
        .expect("a hosted virtual user is one of the plan's, which thirty-two bits count")
}
