//! The operator's own messages.
//!
//! Must not know who reads them. Invariant: a failure to write one has no consequences.

use std::io::Write;

/// Writes a line to standard error.
pub fn say(line: &str) {
    // There is nobody left to notify.
    drop(writeln!(std::io::stderr(), "{line}"));
}
