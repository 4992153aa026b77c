//! What a worker reports to its starter.
//!
//! Must not know workers. Invariant: everything here can be sent to another thread.

use std::ops::Range;
use std::time::Duration;

use loadline_model::{Nanos, Snapshot};

use crate::planned::PlannedArrivals;
use crate::script::ScriptSignal;

/// Time between snapshots.
pub const INTERVAL: Duration = Duration::from_secs(1);

/// A report of a worker.
#[derive(Debug)]
pub enum WorkerReport {
    /// What was seen since the last report.
    Interval {
        /// Which worker.
        worker: u32,
        /// The last interval that the report covers, which started at this multiple of [`INTERVAL`]: a worker
        /// that was delayed reports several as one.
        interval: u64,
        /// The measurements.
        seen: Box<Snapshot>,
        /// Arrivals due and waiting now.
        waiting: u64,
        /// Arrivals planned since the start of the run.
        planned: u64,
    },
    /// The worker has ended; what was seen since its last interval.
    Ended {
        /// Which worker.
        worker: u32,
        /// The interval in which it ended: the one after the last that it reported.
        interval: u64,
        /// The measurements.
        seen: Box<Snapshot>,
        /// Arrivals planned over the run.
        planned: u64,
        /// Starts planned that did not come about because the run ended.
        never_started: u64,
        /// When its last request ended.
        last_done: Nanos,
    },
    /// Remote workers are lost, and will not report again.
    Lost {
        /// Their numbers.
        workers: Range<u32>,
        /// Who they were and why they were lost.
        why: String,
        /// Requests that they had started and not reported.
        begun: u64,
        /// Requests whose end they had not reported.
        unended: u64,
        /// What they would have offered; `None`: unknown.
        planned: Option<PlannedArrivals>,
        /// Whether they may still be replaced.
        is_awaited: bool,
        /// Whether they may still report: [`WorkerReport::Settled`] settles what they had started.
        is_unsettled: bool,
    },
    /// Remote workers are unreachable for now: nothing waits for them.
    Away {
        /// Their numbers.
        workers: Range<u32>,
    },
    /// They are reachable again, and have continued.
    Returned {
        /// Their numbers.
        workers: Range<u32>,
        /// Who they are.
        what: String,
    },
    /// Lost workers that were unsettled will not report any more.
    Settled {
        /// The first of them.
        lost: u32,
        /// Requests that they had started and not reported.
        begun: u64,
        /// Requests whose end they had not reported.
        unended: u64,
    },
    /// Remote workers have replaced others that were lost.
    Replaced {
        /// The numbers of the new ones.
        workers: Range<u32>,
        /// The first of those that were lost.
        lost: u32,
        /// The instant of the run from which the share is theirs.
        from: Nanos,
        /// Who they are.
        what: String,
    },
    /// Lost workers will not be replaced any more.
    GivenUp {
        /// The first of them.
        lost: u32,
        /// Why their share is not generated any more although there was time left; `None`: there was none.
        why: Option<String>,
    },
    /// A script did something to the test.
    Script(ScriptSignal),
    /// The worker could not start, or has panicked.
    Failed {
        /// Which worker.
        worker: u32,
        /// Why.
        why: String,
        /// Whether it panicked: a defect, which ends the run.
        is_defect: bool,
    },
}
