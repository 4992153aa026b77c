//! What JMeter prints and writes: its console output, its summary lines, and its results files.
//!
//! Must not know who runs a plan, nor where the bytes go. Invariant: the output is byte for byte what JMeter
//! 5.6.3 writes for the same samples.

pub mod backend;
pub mod console;
pub mod csv;
pub mod dashboard;
pub mod results;
pub mod save_config;
pub mod statistics;
pub mod summariser;
#[cfg(test)]
mod testing;
pub mod xml;
