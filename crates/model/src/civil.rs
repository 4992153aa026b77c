//! Instants as dates and times of day, in UTC.
//!
//! Source of the calendar: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms"
//! (`civil_from_days`), <https://howardhinnant.github.io/date_algorithms.html>. Must not know clocks nor
//! how an instant is written. Invariant: every number of seconds has a date.

const DAY_S: u64 = 86_400;
const DAYS_0000_03_01_TO_1970: u64 = 719_468;
const DAYS_IN_400_YEARS: u64 = 146_097;

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
    /// The date and time so many seconds after the beginning of 1970.
    #[must_use]
    pub fn of_unix_s(unix_s: u64) -> Civil {
        let (year, month, day) = date(unix_s / DAY_S);
        let second = unix_s % DAY_S;
        Civil {
            year,
            month,
            day,
            hour: second / 3_600,
            minute: second / 60 % 60,
            second: second % 60,
        }
    }
}

/// Year, month and day of a number of days since 1970. Counted in years that begin in March, so that the
/// leap day is the last one.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_0000_03_01_TO_1970;
    let day_of_era = days % DAYS_IN_400_YEARS;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = days / DAYS_IN_400_YEARS * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        assert!(Civil::of_unix_s(u64::MAX).year > 500_000_000);
    }

    proptest! {
        #[test]
        fn each_day_follows_the_one_before(day in 0u64..200_000) {
            let (year, month, of_month) = date(day);
            let next = date(day + 1);
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + u64::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            let expected = match (of_month == length, month) {
                (false, _) => (year, month, of_month + 1),
                (true, 12) => (year + 1, 1, 1),
                (true, _) => (year, month + 1, 1),
            };
            prop_assert_eq!(next, expected);
        }
    }
}
