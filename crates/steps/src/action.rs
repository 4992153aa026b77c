//! Actions for a thread.
//!
//! Must not know who requests them. Invariant: each has a name in JMeter.

use serde::{Deserialize, Serialize};

/// An action for a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Nothing.
    Continue,
    /// The thread ends.
    StopThread,
    /// The test ends; running samples are completed.
    StopTest,
    /// The test ends immediately.
    StopTestNow,
    /// The group's next iteration starts.
    NextThreadIteration,
    /// The next iteration of the enclosing loop starts.
    NextLoopIteration,
    /// The enclosing loop ends.
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
