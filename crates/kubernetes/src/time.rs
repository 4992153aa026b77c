//! Instants in the API's format (RFC 3339 in UTC), and as nanoseconds since 1970.
//!
//! Must not know which clock they came from. Invariant: a formatted instant parses to the same instant.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Parses an instant such as `2026-11-21T20:15:58.25Z` or `…+01:00` to nanoseconds since 1970; further digits
/// are truncated. `None`: invalid, before 1970 or after 2554.
///
/// Source: RFC 3339, section 5.6.
#[must_use]
pub fn parse(text: &str) -> Option<u64> {
    let instant = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    u64::try_from(instant.unix_timestamp_nanos()).ok()
}

/// Formats an instant in seconds, such as `2026-11-21T20:15:58Z`; fractions are truncated.
#[must_use]
pub fn format(unix_ns: u64) -> String {
    let seconds = unix_ns / 1_000_000_000;
    let instant = OffsetDateTime::from_unix_timestamp(seconds.cast_signed());
    let instant = instant.expect("64 bits of nanoseconds end in 2554");
    instant
        .format(&Rfc3339)
        .expect("a year of four digits can be written")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn instants_are_read_as_the_api_writes_them() {
        let second = 1_000_000_000;
        assert_eq!(parse("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(parse("2026-11-21T20:15:58Z"), Some(1_795_292_158 * second));
        let with_fraction = parse("2026-11-21T21:15:58.250000001+01:00");
        assert_eq!(
            parse("2026-11-21T20:15:58.12345678901Z"),
            Some(1_795_292_158_123_456_789)
        );
        assert_eq!(with_fraction, Some(1_795_292_158 * second + 250_000_001));
        assert_eq!(parse("2024-02-29T00:00:00Z"), Some(1_709_164_800 * second));
    }

    #[test]
    fn what_is_no_instant_is_none() {
        for text in [
            "",
            "2026-11-21",
            "2026-13-21T20:15:58Z",
            "2026-02-29T20:15:58Z",
            "2026-11-21T20:15:58",
            "2026-11-21T20:15:58.Z",
            "1969-12-31T23:59:59Z",
            "2026-11-21T20:15:58+1:00",
            "2026-11-2\u{e9}T20:15:58Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(seconds in 0_u64..18_446_744_073) {
            let ns = seconds * 1_000_000_000;
            prop_assert_eq!(parse(&format(ns)), Some(ns));
        }
    }
}
