//! Every value as a row of comma-separated values, as k6's `csv` output writes them.
//!
//! Must not know the engine. Invariant: every row has as many fields as the header.

mod encode;
mod sink;
#[cfg(test)]
mod tests;

pub use encode::{CsvOptions, TimeFormat, UnknownTimeFormat};
pub use sink::start;
