//! Timers that threads share: a load profile, a schedule of instants, a rendezvous of threads.
//!
//! Must not know threads or clocks; time is an argument. Invariant: each is a state machine that never blocks.

pub(crate) mod gathering;
pub(crate) mod precise;
pub(crate) mod shaping;
