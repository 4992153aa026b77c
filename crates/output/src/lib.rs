//! Sinks: where results go besides the terminal. One folder each, with the same files: `mod.rs` (what it is),
//! `sink.rs` (files and threads), `encode.rs` (bytes), `tests.rs`. `k6_lines` has what files of lines share,
//! `push` what outputs to network services share.
//!
//! This crate must not know the engine: a sink reads `RunEvent`s, samples or a `RunResult`.
//!
//! Invariant: a sink blocks the run only if it receives every single value and its channel is full, which the
//! producer measures; a failing disk is reported at the end, not by a panic.

#[cfg(test)]
mod disk;
pub mod files;
#[cfg(test)]
mod fixture;
pub mod influxdb;
pub mod journal;
pub mod json;
pub mod jtl;
pub mod junit;
pub mod k6_csv;
pub mod k6_json;
pub mod k6_lines;
pub mod object_store;
pub mod opentelemetry;
pub mod prometheus;
pub mod push;
mod report;
pub mod samples;
mod sanity;
pub mod series;
mod sigv4;
pub mod statsd;

pub use report::{GiveUp, OnTrouble, SinkReport};
