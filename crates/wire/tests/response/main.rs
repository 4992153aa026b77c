//! Tests of the response parser, all through its public interface.
//!
//! Invariant: nothing here reads the parser's state; only what a sink receives is checked.

mod differential;
mod events;
mod hostile;
mod rfc;
mod split;
