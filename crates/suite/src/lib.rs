//! Matrices of runs: what to run, what was run, and the document about it.
//!
//! Must not know how a run is executed. Invariant: measurements are never lost; the same state gives the same
//! document, byte for byte.

pub mod capacity;
pub mod document;
pub mod expression;
pub mod file;
pub mod format;
pub mod gates;
pub mod hooks;
pub mod init;
pub mod outcome;
pub mod plan;
pub mod runner;
pub mod state;
pub mod statistics;
pub mod sweep;
