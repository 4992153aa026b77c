//! Timers that threads share: a profile of load, a schedule of instants, a place where threads wait for each other.
//!
//! Must not know threads or clocks; time is an argument. Invariant: each is a state machine that answers at once.

pub(crate) mod gathering;
pub(crate) mod precise;
pub(crate) mod shaping;
