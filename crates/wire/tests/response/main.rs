//! Tests of the response parser from outside, all of them over its public interface.
//!
//! Invariant: nothing here reads the parser's state; what is checked is what a sink sees.

mod differential;
mod events;
mod hostile;
mod rfc;
mod split;
