//! Pieces of the texts in which Go programs tell of failures, because people search logs for them.
//!
//! Source of the wordings: what k6 v2.2.0 printed for each fault on loopback. Must not know
//! requests. Invariant: plain functions from facts to words.

use loadline_model::civil::Civil;

/// An instant in RFC 3339, UTC, to the second.
pub(super) fn rfc3339(unix_seconds: u64) -> String {
    let at = Civil::of_unix_s(unix_seconds);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        at.year, at.month, at.day, at.hour, at.minute, at.second
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_dated() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339(1_795_259_556), "2026-11-21T11:12:36Z");
        assert_eq!(rfc3339(1_609_459_200), "2021-01-01T00:00:00Z");
    }
}
