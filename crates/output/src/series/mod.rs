//! Series of a run as sums since its start, for outputs that push series.
//!
//! Must not know protocols. Invariant: the cost of keeping them depends on the number of series, never on the
//! number of requests.

mod engine;
mod inbox;
mod state;
#[cfg(test)]
mod tests;
mod thread;

pub use inbox::{Inbox, Taken};
pub use state::{Series, SeriesFamily, SeriesState};
pub(crate) use thread::SeriesThread;
