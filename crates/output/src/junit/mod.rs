//! Thresholds and checks as JUnit XML, which build servers show as tests.
//!
//! Must not know how a threshold is evaluated. Invariant: a suite's counts are those of its cases.

mod encode;
mod sink;
#[cfg(test)]
mod tests;

pub use sink::JunitFile;
