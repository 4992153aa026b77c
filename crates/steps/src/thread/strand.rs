//! A strand: the state of one execution path through a group's tree. A thread has one, and another one for each
//! concurrent branch.
//!
//! Must not know what all strands of a thread share. Invariant: a strand has the state that JMeter keeps per
//! Java thread.

use std::sync::Arc;

use super::pause::PauseMemory;
use super::{Deadline, Doing, End};
use crate::http::SamplerAtWork;
use crate::program::NodeId;
use crate::sample::Sample;
use crate::scope::{FunctionMemory, ThreadIdentity};

/// One execution path through a part of a group's tree.
#[derive(Default)]
pub(super) struct Strand {
    /// The root of its part; for the first strand that of the group.
    pub(super) root: NodeId,
    pub(super) identity: ThreadIdentity,
    pub(super) memory: FunctionMemory,
    pub(super) pauses: PauseMemory,
    /// The last sample; `None` before the first.
    pub(super) previous: Option<Arc<Sample>>,
    pub(super) doing: Doing,
    /// Whether its controllers are prepared.
    pub(super) has_begun: bool,
    /// Since when it loops without a sampler; `None`: it does not.
    pub(super) fruitless_since_ms: Option<i64>,
    /// When the clock ends it; `None`: never.
    pub(super) deadline: Option<Deadline>,
    /// Whether the rest of the iteration is skipped.
    pub(super) skips_rest: bool,
    /// How it must end, at its next check.
    pub(super) ending: Option<End>,
    /// Whether it first continues to the next sampler when it ends.
    pub(super) walks_on: bool,
    /// Whether it is doing so now.
    pub(super) is_last_walk: bool,
    /// Its locks, with their controllers.
    pub(super) locks: Vec<(NodeId, String)>,
    /// Its HTTP sampler while another strand is active.
    pub(super) http: SamplerAtWork,
}
