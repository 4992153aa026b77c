//! The JSON result: a [`RunResult`](loadline_model::RunResult) written to a file or a stream, and read back.
//!
//! Must not know who made the result or who reads it. Invariant: a written result reads back equal (except for
//! the bytes and secrets that a plan does not write to results), and a file is the old one or the new one,
//! never half of one.

mod encode;
mod sink;
#[cfg(test)]
mod tests;

pub use encode::{Options, ReadError, decode, write};
pub use sink::{RESULT_BYTES_MAX, load, load_from, save};
