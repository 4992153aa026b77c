//! The one stream that everything that shows or sends results reads.
//!
//! Must not know its readers. Invariant: but for `Before`, `Started` comes first, `Finished` last, and the sum of
//! the deltas of all `Second`s and `Around`s is the finished result's totals.

use std::sync::Arc;

use loadline_metric::SeriesDelta;
use serde::{Deserialize, Serialize};

use crate::observation::{ObserverNote, ResourceSample};
use crate::plan::TestPlan;
use crate::result::{Environment, Row, RunResult};
use crate::snapshot::Snapshot;
use crate::units::Nanos;

/// What a run does before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// It waits for a word.
    Paused,
    /// `setup()` of a script runs.
    Setup,
}

/// Something that happened during a run.
#[expect(
    clippy::large_enum_variant,
    reason = "the largest is told once a second"
)]
#[derive(Clone, Debug)]
pub enum RunEvent {
    /// Another second has passed and the run has not started; all of these come before `Started`.
    Before(Before),
    /// The run begins.
    Started {
        /// What will be done.
        plan: Arc<TestPlan>,
        /// Where.
        environment: Arc<Environment>,
        /// Milliseconds since 1970 at the start of the run.
        started_unix_ms: u64,
    },
    /// A second has passed.
    Second {
        /// The second in numbers.
        row: Row,
        /// What all workers saw in it.
        delta: Arc<Snapshot>,
    },
    /// What a script's `setup()` measured, told as the run begins, or its `teardown()`.
    Around(Arc<Snapshot>),
    /// Another second has passed since the load ended, in a script's `teardown()`, or that has come to its end.
    TearingDown {
        /// The time since the start of the run.
        at: Nanos,
        /// Iterations that were complete and interrupted, all of them.
        iterations: (u64, u64),
    },
    /// Every metric by all its tags, of the `Second` or `Around` that follows; where the plan asks for
    /// it alone.
    Series(Arc<SeriesDelta>),
    /// Something worth a mark on the time axis.
    Mark(Mark),
    /// Resource use of a component of the system under test.
    Resource(ResourceSample),
    /// What an observer of the system under test said in words.
    Observer(ObserverNote),
    /// The run has ended.
    Finished(Arc<RunResult>),
}

/// The kind of a [`Mark`] that is a warning to the user.
pub const WARNING_MARK: &str = "warning";
/// The kind of a [`Mark`] that warns of many series.
pub const MANY_SERIES_MARK: &str = "series";
/// The kind of a [`Mark`] that says which agent was lost, and with it a part of the load.
pub const AGENT_LOST_MARK: &str = "agent-lost";
/// The kind of a [`Mark`] that says who makes the share of a lost agent again.
pub const AGENT_REPLACED_MARK: &str = "agent-replaced";
/// The kind of a [`Mark`] that says why nobody makes the share of a lost agent again.
pub const AGENT_NOT_REPLACED_MARK: &str = "agent-not-replaced";
/// The kind of a [`Mark`] that says which agent could not be heard for a while, and worked on.
pub const AGENT_RETURNED_MARK: &str = "agent-returned";
/// The kind of a [`Mark`] that says that another coordinator went on with the test.
pub const COORDINATOR_REPLACED_MARK: &str = "coordinator-replaced";
/// The kind of a [`Mark`] that says why the load of a script was never begun.
pub const NOT_BEGUN_MARK: &str = "not-begun";
/// The kind of a [`Mark`] that says how many iterations were due and not started.
pub const DROPPED_MARK: &str = "dropped";
/// The kind of a [`Mark`] where a threshold, which is its text, was crossed for the first time.
pub const CROSSED_MARK: &str = "crossed";
/// The kind of a [`Mark`] where a threshold ended the run.
pub const THRESHOLD_MARK: &str = "threshold";
/// The kind of a [`Mark`] where a part of loadline broke down, which ended the run.
pub const DEFECT_MARK: &str = "defect";

/// A mark on the time axis: a stop, a restart, a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// When, in nanoseconds from the start of the run.
    pub at_ns: u64,
    /// What kind of thing, in one word.
    pub kind: String,
    /// What happened, in words.
    pub text: String,
}
