//! A strand: what goes through a part of a group's tree. A thread has one, and one more for each branch that it runs beside
//! others.
//!
//! Must not know what all strands of a thread share. Invariant: a strand has what JMeter keeps for each thread of Java's.

use std::sync::Arc;

use super::pause::PauseMemory;
use super::{Deadline, Doing, End};
use crate::http::SamplerAtWork;
use crate::program::NodeId;
use crate::sample::Sample;
use crate::scope::{FunctionMemory, ThreadIdentity};

/// What goes through a part of a group's tree.
#[derive(Default)]
pub(super) struct Strand {
    /// The node that it goes through; the first is that of the group.
    pub(super) root: NodeId,
    pub(super) identity: ThreadIdentity,
    pub(super) memory: FunctionMemory,
    pub(super) pauses: PauseMemory,
    /// The sample that came last; `None` before the first.
    pub(super) previous: Option<Arc<Sample>>,
    pub(super) doing: Doing,
    /// Since when it goes round without a sampler; `None`: it does not.
    pub(super) fruitless_since_ms: Option<i64>,
    /// When it ends by the clock; `None`: it does not.
    pub(super) deadline: Option<Deadline>,
    /// Whether what is left of the iteration is left out.
    pub(super) skips_rest: bool,
    /// How it is to end, once it looks.
    pub(super) ending: Option<End>,
    /// Whether it goes on to the next sampler first when it ends.
    pub(super) walks_on: bool,
    /// Whether it does so now.
    pub(super) is_last_walk: bool,
    /// The locks that it holds, and the controllers that they are of.
    pub(super) locks: Vec<(NodeId, String)>,
    /// Its HTTP sampler while another strand is at work.
    pub(super) http: SamplerAtWork,
}
