//! What the operator says of itself.
//!
//! Must not know who reads it. Invariant: a line that cannot be written stops nothing.

use std::io::Write;

/// Writes a line to standard error.
pub fn say(line: &str) {
    // Nobody is left to be told.
    drop(writeln!(std::io::stderr(), "{line}"));
}
