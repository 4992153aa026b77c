//! What a suspended script waits for, and what it is resumed with.
//!
//! Must not know who fulfils it. Invariant: every hop that was started is answered exactly once,
//! unless the script was cancelled.

use loadline_model::Nanos;

use crate::hop::{HopOutcome, HopRequest};

/// The number of something under way in one virtual user.
pub type OpId = u32;

/// What a suspended script wants.
#[derive(Debug)]
pub struct Ask {
    /// Hops that are to begin now and go on beside the script.
    pub started: Vec<(OpId, HopRequest)>,
    /// What the script waits for.
    pub wait: Wait,
}

/// What a script waits for.
#[derive(Debug)]
pub enum Wait {
    /// One hop, with nothing else under way: the common case.
    Hop(HopRequest),
    /// The end of any hop under way, or an instant; `None`: the end of a hop alone.
    Any(Option<Nanos>),
    /// Its next turn: its slice of time is used up.
    Turn,
}

/// What a script is resumed with.
#[derive(Debug)]
pub enum Resume {
    /// It may go on: it was just started, or has its next turn.
    Go,
    /// The hop of [`Wait::Hop`] came to an end.
    Hop(Box<HopOutcome>),
    /// Hops that came to an end; none when the instant of [`Wait::Any`] came first.
    Ended(Vec<(OpId, HopOutcome)>),
    /// It is to end at once: nothing of the script runs any more.
    Cancel,
}
