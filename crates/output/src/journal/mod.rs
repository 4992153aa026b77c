//! The journal: an append-only file of a run in progress, from which all but the last two seconds
//! can be told after `kill -9`. The format is documented in `docs/journal.md`.
//!
//! Must not know who runs the test or shows the results. Invariants: what the disk cannot take in
//! time is merged and kept, never lost and never waited for; and whatever prefix of the file is
//! left, it tells true sums of what it holds.

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
