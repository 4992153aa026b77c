//! Every value as a line of JSON, as k6's `json` output writes them.
//!
//! Must not know the engine. Invariant: a metric's own line comes before its first value.

mod encode;
mod sink;
#[cfg(test)]
mod tests;

pub use sink::start;
