//! Instants as people write them, in UTC.
//!
//! Must not know the present. Invariant: every instant has a text.

use loadline_model::civil::Civil;

/// `2027-01-15 08:00:00 UTC` of milliseconds since 1970.
pub(super) fn utc(unix_ms: u64) -> String {
    let at = Civil::of_unix_s(unix_ms / 1_000);
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC",
        at.year, at.month, at.day, at.hour, at.minute, at.second
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(1_800_000_000_000), "2027-01-15 08:00:00 UTC");
        assert_eq!(utc(1_709_251_199_999), "2024-02-29 23:59:59 UTC");
        assert!(!utc(u64::MAX).is_empty());
    }
}
