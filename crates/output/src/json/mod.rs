//! The JSON result: a [`RunResult`](loadline_model::RunResult) written to a file or a stream, and
//! read back.
//!
//! Must not know who made the result or who reads it. Invariant: what was written reads back the
//! same (but for the bytes and secrets that a plan does not carry into results), and a file is
//! either the old one or the new one, never half of one.

mod encode;
mod sink;
#[cfg(test)]
mod tests;

pub use encode::{Options, ReadError, decode, write};
pub use sink::{RESULT_BYTES_MAX, load, load_from, save};
