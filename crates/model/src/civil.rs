//! Instants as dates and times of day, in UTC.
//!
//! Must not know clocks, time zones or the formats of other tools. Invariant: every number of seconds maps to a
//! date with a four-digit year.

use std::fmt;

use time::OffsetDateTime;

/// The last second of the year 9999.
const LAST_S: i64 = 253_402_300_799;

/// A date of the Gregorian calendar and a time of day, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// The year.
    pub year: u64,
    /// 1 to 12.
    pub month: u64,
    /// 1 to 31.
    pub day: u64,
    /// 0 to 23.
    pub hour: u64,
    /// 0 to 59.
    pub minute: u64,
    /// 0 to 59.
    pub second: u64,
}

impl Civil {
    /// The date and time `unix_s` seconds after the start of 1970; saturates at the end of 9999.
    #[must_use]
    pub fn of_unix_s(unix_s: u64) -> Civil {
        let unix_s = i64::try_from(unix_s).map_or(LAST_S, |unix_s| unix_s.min(LAST_S));
        let at = OffsetDateTime::from_unix_timestamp(unix_s)
            .expect("instants from 1970 to 9999 have a date");
        Civil {
            year: u64::from(at.year().unsigned_abs()),
            month: u64::from(u8::from(at.month())),
            day: at.day().into(),
            hour: at.hour().into(),
            minute: at.minute().into(),
            second: at.second().into(),
        }
    }

    /// RFC 3339 format with whole seconds: `2026-05-04T13:02:01Z`.
    #[must_use]
    pub fn rfc3339(self) -> String {
        let (date, time) = self.parts();
        format!("{date}T{time}Z")
    }

    fn parts(self) -> (String, String) {
        let date = format!("{:04}-{:02}-{:02}", self.year, self.month, self.day);
        let time = format!("{:02}:{:02}:{:02}", self.hour, self.minute, self.second);
        (date, time)
    }
}

impl fmt::Display for Civil {
    /// Human-readable format: `2026-05-04 13:02:01 UTC`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (date, time) = self.parts();
        write!(f, "{date} {time} UTC")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants() {
        let told = |unix_s| {
            let Civil {
                year,
                month,
                day,
                hour,
                minute,
                second,
            } = Civil::of_unix_s(unix_s);
            (year, month, day, hour, minute, second)
        };
        assert_eq!(told(0), (1970, 1, 1, 0, 0, 0));
        assert_eq!(told(1_709_251_199), (2024, 2, 29, 23, 59, 59));
        assert_eq!(told(4_102_444_800), (2100, 1, 1, 0, 0, 0));
        assert_eq!(told(u64::MAX), (9999, 12, 31, 23, 59, 59));
    }

    #[test]
    fn instants_are_written() {
        for (unix_s, person, rfc3339) in [
            (0, "1970-01-01 00:00:00 UTC", "1970-01-01T00:00:00Z"),
            (
                951_782_400,
                "2000-02-29 00:00:00 UTC",
                "2000-02-29T00:00:00Z",
            ),
            (
                1_795_259_556,
                "2026-11-21 11:12:36 UTC",
                "2026-11-21T11:12:36Z",
            ),
            (u64::MAX, "9999-12-31 23:59:59 UTC", "9999-12-31T23:59:59Z"),
        ] {
            let civil = Civil::of_unix_s(unix_s);
            assert_eq!(
                (civil.to_string().as_str(), civil.rfc3339().as_str()),
                (person, rfc3339)
            );
        }
    }
}
