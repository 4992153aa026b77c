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
    /// The action of a word of JMeter's `TestLogicalAction`; `None`: the next sampler follows.
    pub(crate) fn of_word(word: &str) -> Option<Action> {
        match word {
            "START_NEXT_ITERATION_OF_THREAD" => Some(Action::NextThreadIteration),
            "START_NEXT_ITERATION_OF_CURRENT_LOOP" => Some(Action::NextLoopIteration),
            "BREAK_CURRENT_LOOP" => Some(Action::BreakLoop),
            _ => None,
        }
    }

    /// The word of JMeter's `TestLogicalAction` for an action.
    pub(crate) fn word_of(action: Option<Action>) -> &'static str {
        match action {
            Some(Action::NextThreadIteration) => "START_NEXT_ITERATION_OF_THREAD",
            Some(Action::NextLoopIteration) => "START_NEXT_ITERATION_OF_CURRENT_LOOP",
            Some(Action::BreakLoop) => "BREAK_CURRENT_LOOP",
            _ => "CONTINUE",
        }
    }

    /// Whether it ends the thread, or the test.
    pub(crate) fn ends(self) -> bool {
        matches!(
            self,
            Action::StopThread | Action::StopTest | Action::StopTestNow
        )
    }
}
