//! Every value as a StatsD message in datagrams, with DogStatsD's tags on request.
//!
//! Messages are named as in k6's former `statsd` output. Must not know the engine. Invariant: a datagram
//! contains complete messages; UDP tells the sender almost nothing, so what is reported as written is what the
//! operating system accepted.

mod encode;
mod sink;
#[cfg(test)]
mod tests;

pub use crate::push::DatagramAddress;
pub use sink::{StatsdSettings, start};
