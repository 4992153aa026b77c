//! The event stream that everything that shows or stores results reads.
//!
//! Must not know its readers. Invariant: apart from `Before`, `Started` comes first and `Finished` last, and
//! the deltas of all `Second`s and `Around`s sum to the totals of the finished result.

use std::sync::Arc;
use std::time::Duration;

use loadline_metric::SeriesDelta;
use serde::{Deserialize, Serialize};

use crate::observation::{ObserverNote, ResourceSample};
use crate::plan::TestPlan;
use crate::result::{Environment, Row, RunResult};
use crate::snapshot::Snapshot;
use crate::units::Nanos;

/// What a run is doing before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// It is paused and waits for the command to start.
    Paused,
    /// The script's `setup()` is running.
    Setup,
    /// The script's `setup()` has run; the test began this long ago.
    SetUp(Duration),
}

/// Something that happened during a run.
#[expect(
    clippy::large_enum_variant,
    reason = "the largest is told once a second"
)]
#[derive(Clone, Debug)]
pub enum RunEvent {
    /// Another second has passed and the run has not started, or `setup()` has run; all of these come before
    /// `Started`.
    Before(Before),
    /// The run starts.
    Started {
        /// The plan.
        plan: Arc<TestPlan>,
        /// The environment.
        environment: Arc<Environment>,
        /// Start of the run in milliseconds since 1970.
        started_unix_ms: u64,
    },
    /// A second has passed.
    Second {
        /// The second's numbers.
        row: Row,
        /// What all workers saw in it.
        delta: Arc<Snapshot>,
    },
    /// What a script's `setup()` measured (sent when the run starts), or its `teardown()`.
    Around(Arc<Snapshot>),
    /// Another second has passed since the load ended, while the script's `teardown()` runs; or `teardown()`
    /// has ended.
    TearingDown {
        /// The time since the start of the run.
        at: Nanos,
        /// Totals of complete and interrupted iterations.
        iterations: (u64, u64),
    },
    /// Every metric by all its tags, for the `Second` or `Around` that follows; only if the plan asks for it.
    Series(Arc<SeriesDelta>),
    /// Something worth a mark on the time axis.
    Mark(Mark),
    /// Resource use of a component of the system under test.
    Resource(ResourceSample),
    /// A note from an observer of the system under test.
    Observer(ObserverNote),
    /// The run has ended.
    Finished(Arc<RunResult>),
}

/// The kind of a [`Mark`] that is a warning to the user.
pub const WARNING_MARK: &str = "warning";
/// The kind of a [`Mark`] that warns about many series.
pub const MANY_SERIES_MARK: &str = "series";
/// The kind of a [`Mark`] that says which agent was lost, and part of the load with it.
pub const AGENT_LOST_MARK: &str = "agent-lost";
/// The kind of a [`Mark`] that says who runs the share of a lost agent from now on.
pub const AGENT_REPLACED_MARK: &str = "agent-replaced";
/// The kind of a [`Mark`] that says why nobody runs the share of a lost agent.
pub const AGENT_NOT_REPLACED_MARK: &str = "agent-not-replaced";
/// The kind of a [`Mark`] that says which agent could not be reached for a while but kept running.
pub const AGENT_RETURNED_MARK: &str = "agent-returned";
/// The kind of a [`Mark`] that says that another coordinator took over the test.
pub const COORDINATOR_REPLACED_MARK: &str = "coordinator-replaced";
/// The kind of a [`Mark`] that says why the load of a script never started.
pub const NOT_BEGUN_MARK: &str = "not-begun";
/// The kind of a [`Mark`] that says how many iterations were due but not started.
pub const DROPPED_MARK: &str = "dropped";
/// The kind of a [`Mark`] where a threshold was first crossed; its text is the threshold.
pub const CROSSED_MARK: &str = "crossed";
/// The kind of a [`Mark`] where a threshold ended the run.
pub const THRESHOLD_MARK: &str = "threshold";
/// The kind of a [`Mark`] that says how many workers did not report what they measured last.
pub const SILENT_MARK: &str = "silent";
/// The kind of a [`Mark`] where a part of loadline crashed, which ended the run.
pub const DEFECT_MARK: &str = "defect";

/// A mark on the time axis: a stop, a restart, a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// When, in nanoseconds from the start of the run.
    pub at_ns: u64,
    /// The kind of event, in one word.
    pub kind: String,
    /// What happened, in words.
    pub text: String,
}
