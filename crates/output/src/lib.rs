//! Sinks: where results go besides the terminal. One folder each, with the same files in it:
//! `mod.rs` (what it is), `sink.rs` (files and threads), `encode.rs` (bytes), `tests.rs`.
//!
//! This crate must not know the engine: a sink reads `RunEvent`s, samples or a `RunResult`.
//!
//! Invariant: a sink never holds up the run, and a disk that fails is told at the end, not by a
//! panic.

#[cfg(test)]
mod fixture;
pub mod journal;
pub mod json;
pub mod samples;
mod sanity;
