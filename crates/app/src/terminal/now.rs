//! The time of day, for texts before and alongside a run.
//!
//! Must not know the texts. Invariant: nothing but a text depends on it.

use loadline_engine::clock::Clock;
use loadline_output::k6_lines::push_rfc3339;

/// The instant in nanoseconds since 1970.
pub(crate) fn unix_ns() -> u64 {
    Clock::start().started_unix_ns()
}

/// The instant in RFC 3339, to the second.
pub(crate) fn rfc3339() -> String {
    let mut text = Vec::new();
    push_rfc3339(unix_ns(), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
