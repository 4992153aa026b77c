//! Instants as dates and times of day, in UTC.
//!
//! Must not know clocks nor how an instant is written. Invariant: every number of seconds has a date of
//! a year of four digits.

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
    /// The date and time so many seconds after the beginning of 1970; saturates at the end of 9999.
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
}
