//! The time of day, for lines of the log before and beside a run.
//!
//! Must not know what is logged. Invariant: nothing but the text of a log line depends on it.

use loadline_engine::clock::Clock;
use loadline_output::k6_lines::push_rfc3339;

/// The instant in RFC 3339, to the second.
pub(crate) fn rfc3339() -> String {
    let mut text = Vec::new();
    push_rfc3339(Clock::start().started_unix_ns(), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
