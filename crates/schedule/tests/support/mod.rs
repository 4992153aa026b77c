//! Plans divided in every way, for property tests.
//!
//! Must not know what is asserted. Invariant: the shares of one case together are the whole.

use std::sync::Arc;

use loadline_model::Executor;
use loadline_model::segment::{Segment, SegmentSequence, Share};
use loadline_schedule::{IterationPool, Schedule};
use proptest::prelude::*;

/// Cut points in sixtieths of the whole, and workers in each process.
pub(crate) fn divisions() -> impl Strategy<Value = (Vec<u64>, u32)> {
    (prop::collection::btree_set(1_u64..60, 0..4), 1_u32..5)
        .prop_map(|(cuts, workers)| (cuts.into_iter().collect(), workers))
}

/// The schedules of all workers of all processes.
pub(crate) fn divided(executor: &Executor, (cuts, workers): &(Vec<u64>, u32)) -> Vec<Schedule> {
    let cuts: String = cuts.iter().map(|cut| format!("{cut}/60,")).collect();
    let sequence: SegmentSequence = format!("0,{cuts}1").parse().expect("ascending points");
    let process = |segment: &Segment| {
        let share = Share::new(*segment, sequence.clone(), 0, *workers).expect("its segment");
        let pool = Arc::new(IterationPool::for_executor(executor, &share));
        (0..*workers)
            .map(|worker| Schedule::new(executor, &share.for_worker(worker), &pool))
            .collect::<Vec<_>>()
    };
    sequence.segments().iter().flat_map(process).collect()
}

/// The schedule of a single worker that does everything.
pub(crate) fn whole(executor: &Executor) -> Schedule {
    divided(executor, &(Vec::new(), 1))
        .pop()
        .expect("one process of one worker")
}
