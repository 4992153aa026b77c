//! Every request as a row of a JTL file: the results of JMeter, with its default columns.
//!
//! Must not know the engine. Invariant: every row has as many fields as the header.

mod encode;
mod sink;
#[cfg(test)]
mod tests;

pub use sink::start;
