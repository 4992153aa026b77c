//! What a thread asks of whoever drives it, and what it is told.
//!
//! Must not know the thread. Invariant: every ask has one outcome.

use crate::http::{HttpAnswer, HttpAsk, NumberedAsk};

/// What a thread waits for.
#[derive(Debug)]
pub enum Ask {
    /// An HTTP exchange.
    Send(Box<HttpAsk>),
    /// HTTP exchanges beside those that are under way already; the first of all to end is to be told.
    Together(Vec<NumberedAsk>),
    /// Branches to be run beside one another, each as if it were a thread, so many at a time.
    Branches {
        /// How many there are.
        count: usize,
        /// How many run at a time.
        at_a_time: usize,
    },
    /// Time to pass before it goes on, in milliseconds.
    Sleep(u64),
    /// Until it is let go with others, or an instant (milliseconds since 1970).
    Gather(i64),
    /// A sample that takes so many milliseconds.
    Work(u64),
    /// Its next turn: a sampler was run, or it went round a loop without one.
    Turn,
    /// Its next iteration: this one is over.
    Iteration,
    /// Nothing: the thread is over.
    Over(End),
}

/// How a thread ends, the mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// It alone.
    Thread,
    /// Its group with it; samples that run are awaited.
    Group,
    /// The test with it; samples that run are awaited.
    Test,
    /// The test with it, at once.
    TestNow,
}

/// Why a thread ends that the plan would have had go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedEarly {
    /// There is no line of a data set left.
    OutOfData,
    /// A sample failed, and the action after an error ends the thread, or the test.
    Failed,
}

/// What throughput timers did to the samples of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// Samples that a timer held back.
    pub held_back: u64,
    /// Samples that were due already: the thread was slower than the timer.
    pub overdue: u64,
}

impl Pace {
    /// Counts a sample that a timer let start after so many milliseconds.
    pub(super) fn count(&mut self, pause_ms: i64) {
        match pause_ms > 0 {
            true => self.held_back += 1,
            false => self.overdue += 1,
        }
    }
}

/// When a thread ends by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// After a sample at or after this instant (milliseconds since 1970) comes no other.
    pub unix_ms: i64,
    /// Whether a pause that would reach beyond it ends the thread at once.
    pub cuts_pauses_short: bool,
}

/// What came of what a thread asked for.
#[derive(Debug)]
pub enum Outcome {
    /// It is its turn: an iteration begins, the pause is over.
    Turn,
    /// The exchange came to an end.
    Answer(Box<HttpAnswer>),
    /// Of several exchanges the one of this number came to an end.
    OneOf(usize, Box<HttpAnswer>),
}
