//! Every sample as a row of text: CSV and its like.
//!
//! Must not know the row's layout, which a closure gives, nor who makes the samples. Invariant: the
//! channel is drained whatever happens to the disk, so that the run never waits for a failed one.

mod encode;
mod sink;
#[cfg(test)]
mod tests;

pub use sink::{SampleSink, SamplesReport};
