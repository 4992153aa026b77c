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

/// The iterations that all workers of a process run together; `None` if no number of them ends the scenario, or it is of
/// the open model.
#[must_use]
pub fn iterations_of_process(executor: &Executor, share: &Share) -> Option<u64> {
    match executor {
        Executor::SharedIterations { .. } => {
            Some(IterationPool::for_executor(executor, share).total())
        }
        Executor::PerVuIterations {
            vus, iterations, ..
        } => {
            let vus = own_vus(&share.of_process(), *vus);
            Some(iterations.saturating_mul(u64::from(vus)))
        }
        _ => None,
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use loadline_model::segment::{Segment, SegmentSequence};

    use super::*;

    #[test]
    fn the_iterations_of_a_process_are_those_of_its_workers() {
        let halves: Vec<Segment> = ["0:1/2", "1/2:1"]
            .map(|text| text.parse().expect("a segment"))
            .into();
        let sequence = SegmentSequence::new(halves.clone()).expect("a sequence");
        let of = |executor: &Executor, half: usize, worker: u32| {
            let share = Share::new(halves[half], sequence.clone(), worker, 2);
            iterations_of_process(executor, &share.expect("a share"))
        };
        let per_vu = Executor::PerVuIterations {
            vus: 3,
            iterations: 10,
            max_duration: None,
        };
        assert_eq!((of(&per_vu, 0, 0), of(&per_vu, 1, 0)), (Some(20), Some(10)));
        let shared = Executor::SharedIterations {
            vus: 2,
            iterations: 10,
            max_duration: None,
        };
        assert_eq!((of(&shared, 0, 1), of(&shared, 1, 1)), (Some(5), Some(5)));
        let constant = Executor::ConstantVus {
            vus: 2,
            duration: Some(Duration::from_secs(1)),
        };
        assert_eq!(of(&constant, 0, 0), None);
    }
}
