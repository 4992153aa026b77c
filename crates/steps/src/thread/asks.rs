//! Requests of a thread to its driver, and their outcomes.
//!
//! Must not know the thread. Invariant: every request has one outcome.

use crate::http::{HttpAnswer, HttpAsk, NumberedAsk};

/// What a thread waits for.
#[derive(Debug)]
pub enum Ask {
    /// An HTTP exchange.
    Send(Box<HttpAsk>),
    /// HTTP exchanges in addition to those in flight; the first one that ends must be reported.
    Together(Vec<NumberedAsk>),
    /// Branches to run concurrently, each like a separate thread.
    Branches {
        /// How many there are.
        count: usize,
        /// How many run concurrently.
        at_a_time: usize,
    },
    /// A pause in milliseconds.
    Sleep(u64),
    /// Release at a rendezvous, or an instant (milliseconds since 1970).
    Gather(i64),
    /// A sample that takes this many milliseconds.
    Work(u64),
    /// Its next turn: a sampler was run, or a loop iteration ran none.
    Turn,
    /// Its next iteration: the current one is over.
    Iteration,
    /// Nothing: the thread has ended.
    Over(End),
}

/// How a thread ends, the mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// Only the thread.
    Thread,
    /// With its group; running samples are completed.
    Group,
    /// With the test; running samples are completed.
    Test,
    /// With the test, immediately.
    TestNow,
}

/// Why a thread ends although the plan would continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedEarly {
    /// A data set has no more lines.
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

/// When the clock ends a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// No sample follows one that ends at or after this instant (milliseconds since 1970).
    pub unix_ms: i64,
    /// Whether a pause that would extend beyond it ends the thread immediately.
    pub cuts_pauses_short: bool,
}

/// The outcome of a request.
#[derive(Debug)]
pub enum Outcome {
    /// It is its turn: an iteration starts, or the pause is over.
    Turn,
    /// The exchange has ended.
    Answer(Box<HttpAnswer>),
    /// Of several exchanges, the one with this number has ended.
    OneOf(usize, Box<HttpAnswer>),
}
