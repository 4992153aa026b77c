//! Every sample as a row of text: CSV and similar formats.
//!
//! Must not know the row's layout, which a closure provides, nor who makes the samples. Invariant: the channel
//! is drained whatever happens to the disk, so the run never waits for a failed one.

mod encode;
mod sink;
#[cfg(test)]
mod tests;

pub use sink::{SampleSink, SamplesReport};
