//! Prometheus remote write: every series is pushed as its sum since the start of the run, trends as native
//! histograms or as gauges of their statistics.
//!
//! Names and labels are those of k6's output, so that dashboards made for it work. Must not know who produces
//! the series. Invariants: since series are sums, a receiver that was unavailable still ends with the right
//! totals; the cost of a push depends only on the number of series; the samples of a series are sent in
//! chronological order.

mod audit;
mod client;
mod divide;
mod encode;
mod labels;
mod native;
mod other_writer;
mod pages;
mod points;
pub(crate) mod protobuf;
mod query;
mod queue;
mod section;
mod senders;
mod settings;
#[cfg(test)]
mod signed_tests;
mod sink;
#[cfg(test)]
mod tests;

pub use queue::RefusedSeries;
pub use senders::{Tell, Word};
pub use settings::{Protocol, Settings, Sources, TrendForm};
pub use sink::{Push, PushReport};
