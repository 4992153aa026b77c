//! What k6's line formats share: the writing thread, destinations, times and metrics.
//!
//! Must not know a format's layout. Invariant: the channel is drained whatever happens to the disk, so the run
//! never waits for a failed one; only a full channel blocks the producer.

mod cache;
mod describe;
mod destination;
#[cfg(test)]
pub(crate) mod recorded;
#[cfg(test)]
mod tests;
mod thread;
mod time;

pub use describe::{MetricDescription, SubMetricDescription, ThresholdDescription};
pub use destination::Destination;
pub use thread::LineSink;

pub(crate) use cache::Rendered;
pub(crate) use thread::Lines;
pub use time::{push_rfc3339, push_rfc3339_nano};
