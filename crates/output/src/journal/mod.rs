//! The journal: an append-only file of a run in progress, from which everything except the last two seconds can
//! be recovered after `kill -9`. The format is documented in `docs/journal.md`.
//!
//! Must not know who runs the test or shows the results. Invariants: what the disk cannot write in time is
//! merged and kept, never lost and never waited for; any prefix of the file yields correct sums of its content.

mod batch;
mod encode;
mod rebuild;
mod recover;
mod sink;
#[cfg(test)]
mod tests;
mod writer;

pub use recover::{HowEnded, RecoverError, Recovered, is_journal, recover, recover_from};
pub use sink::{CreateError, Journal, JournalReport};
