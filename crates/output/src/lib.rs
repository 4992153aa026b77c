//! Sinks: where results go besides the terminal. One folder each, with the same files in it:
//! `mod.rs` (what it is), `sink.rs` (files and threads), `encode.rs` (bytes), `tests.rs`. What
//! files of lines share is in `k6_lines`, what services that values are sent to share in `push`.
//!
//! This crate must not know the engine: a sink reads `RunEvent`s, samples or a `RunResult`.
//!
//! Invariant: a sink never holds up the run unless it is asked for every single value and its channel
//! is full, which the producer measures; a disk that fails is told at the end, not by a panic.

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
