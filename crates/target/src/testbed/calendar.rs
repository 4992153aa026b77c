//! Wall time in log format.
//!
//! It must not know clocks. Invariant: UTC, milliseconds, always 24 characters.

use std::time::{SystemTime, UNIX_EPOCH};

use time::OffsetDateTime;

/// An instant in the form of RFC 3339, as `2026-03-14T15:09:26.535Z`; before 1970 it is 1970.
pub(crate) fn rfc3339(instant: SystemTime) -> String {
    let at = OffsetDateTime::from(instant.max(UNIX_EPOCH));
    let (year, month, day) = at.to_calendar_date();
    let (hour, minute, second, millisecond) = at.to_hms_milli();
    let month = u8::from(month);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn known_instants() {
        let at = |ms: u64| rfc3339(UNIX_EPOCH + Duration::from_millis(ms));
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_399_999), "2000-02-28T23:59:59.999Z");
        assert_eq!(at(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(at(1_773_500_966_535), "2026-03-14T15:09:26.535Z");
    }
}
