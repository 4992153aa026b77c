//! What a suspended script waits for, and how it is resumed.
//!
//! Must not know who fulfils it. Invariant: every started hop gets exactly one outcome, unless the script is
//! cancelled.

use loadline_model::Nanos;

use crate::hop::{HopOutcome, HopRequest};

/// The number of an operation in progress in one virtual user.
pub type OpId = u32;

/// The request of a suspended script.
#[derive(Debug)]
pub struct Ask {
    /// Hops to start now, which run concurrently with the script.
    pub started: Vec<(OpId, HopRequest)>,
    /// The condition for resuming.
    pub wait: Wait,
}

/// The condition for resuming a script.
#[derive(Debug)]
pub enum Wait {
    /// One hop, with nothing else in progress: the common case.
    Hop(HopRequest),
    /// The end of any hop in progress, or an instant; `None`: only the end of a hop.
    Any(Option<Nanos>),
    /// Its next turn: its time slice is used up.
    Turn,
}

/// The reason for resuming a script.
#[derive(Debug)]
pub enum Resume {
    /// It may continue: it was just started, or has its next turn.
    Go,
    /// The hop of [`Wait::Hop`] ended.
    Hop(Box<HopOutcome>),
    /// Hops that ended; empty if the instant of [`Wait::Any`] came first.
    Ended(Vec<(OpId, HopOutcome)>),
    /// It must end immediately: no more script code runs.
    Cancel,
}
