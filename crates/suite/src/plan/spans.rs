//! Lengths of time as the front ends' options read them.
//!
//! Must not know which option it is. Invariant: what is written is read back equal, to the millisecond.

use std::time::Duration;

use loadline_model::duration;

/// For a script, whose flags read Go's durations, as those of k6 do: the largest unit is the hour.
pub(super) fn script_span(span: Duration) -> String {
    const HOUR_S: u64 = 3_600;
    let hours = span.as_secs() / HOUR_S;
    let rest = span.saturating_sub(Duration::from_secs(hours * HOUR_S));
    match (hours, rest) {
        (0, rest) => duration::text(rest),
        (hours, Duration::ZERO) => format!("{hours}h"),
        (hours, rest) => format!("{hours}h{}", duration::text(rest)),
    }
}

/// For tools written in Go: without units above the second.
pub(super) fn go_span(span: Duration) -> String {
    if span.subsec_nanos() == 0 {
        format!("{}s", span.as_secs())
    } else {
        format!("{}ms", span.as_millis())
    }
}
