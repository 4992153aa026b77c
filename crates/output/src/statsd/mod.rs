//! Every value as a StatsD message, with DogStatsD's tags when they are asked for, in datagrams.
//!
//! Messages are named as k6's former `statsd` output named them. Must not know the engine.
//! Invariant: a datagram holds whole messages; UDP tells the sender next to nothing, so what is
//! reported as written is what the operating system took.

mod encode;
mod pack;
mod sink;
#[cfg(test)]
mod tests;

pub use sink::{StatsdAddress, StatsdSettings, start};
