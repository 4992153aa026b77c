//! The answers of closed-model executors, and the numbering of the iterations that they start.
//!
//! Must not know executors. Invariant: a number is never assigned twice.

use loadline_model::Nanos;
use loadline_model::segment::{SegmentedIndex, Share};

/// What a virtual user has to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Start an iteration at once.
    Start {
        /// Its number in the whole test, from zero; unique.
        iteration: u64,
    },
    /// Ask again at this instant: the plan has no work for this virtual user before.
    Wait {
        /// The instant, later than now; [`Nanos::MAX`]: when the scenario is controlled from outside next.
        until: Nanos,
    },
    /// Nothing more, ever.
    Finished,
}

/// Numbers iterations that are not planned by count: the share's own indexes, in order of start.
#[derive(Debug)]
pub(crate) struct Numbering(SegmentedIndex);

impl Numbering {
    pub(crate) fn new(share: &Share) -> Numbering {
        Numbering(share.indexes())
    }

    #[inline]
    pub(crate) fn start(&mut self) -> Next {
        let iteration = self
            .0
            .next()
            .expect("sixty-four bits outlast any number of starts");
        Next::Start { iteration }
    }
}
