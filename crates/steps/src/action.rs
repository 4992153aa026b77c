//! What a thread may be told to do.
//!
//! Must not know who tells it. Invariant: each is one that JMeter has a word for.

use serde::{Deserialize, Serialize};

/// What a thread is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Nothing.
    Continue,
    /// The thread ends.
    StopThread,
    /// The test ends; samples that run are awaited.
    StopTest,
    /// The test ends at once.
    StopTestNow,
    /// The group's next iteration begins.
    NextThreadIteration,
    /// The next iteration of the loop around begins.
    NextLoopIteration,
    /// The loop around ends.
    BreakLoop,
}

impl Action {
    /// Whether it ends the thread, or the test.
    pub(crate) fn ends(self) -> bool {
        matches!(
            self,
            Action::StopThread | Action::StopTest | Action::StopTestNow
        )
    }
}
