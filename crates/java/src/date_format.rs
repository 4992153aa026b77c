//! `java.time.format.DateTimeFormatter` patterns, in English: `yyyy-MM-dd'T'HH:mm:ss.SSSXXX`.
//!
//! Must not know clocks, nor the machine's time zone. Invariant: with a pattern of date, time and offset,
//! formatted text parses to the same instant, with the precision of its smallest field.
//!
//! Source: the documentation of `java.time.format.DateTimeFormatterBuilder.appendPattern`. `SimpleDateFormat` has
//! letters and a reading of its own.

mod pattern;
mod read;
mod simple;
mod write;

pub use pattern::Pattern;
pub use simple::Reading;

use crate::zone::Zone;

/// A point in time in a time zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds since 1970, in UTC.
    pub unix_ms: i64,
    /// The zone's offset from UTC in seconds; positive: ahead.
    pub offset_s: i32,
    /// The named zone; `None`: only its offset is known.
    pub zone: Option<Zone>,
}

/// Fields parsed with a pattern; fields that the pattern does not contain are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The year, if the pattern has `y`.
    pub year_of_era: Option<i64>,
    /// The year, if the pattern has `u`.
    pub year: Option<i64>,
    /// From 1.
    pub month: Option<i64>,
    /// From 1.
    pub day: Option<i64>,
    /// From 1, within the year.
    pub day_of_year: Option<i64>,
    /// From 0, for Monday.
    pub weekday: Option<i64>,
    /// From 0 to 23, or 24 for midnight at the end of the day.
    pub hour: Option<i64>,
    /// From 1 to 12.
    pub clock_hour: Option<i64>,
    /// 0 for AM, 1 for PM.
    pub half_day: Option<i64>,
    /// From 0.
    pub minute: Option<i64>,
    /// From 0.
    pub second: Option<i64>,
    /// From 0.
    pub nano: Option<i64>,
    /// Offset from UTC in seconds; positive: ahead.
    pub offset_s: Option<i64>,
    /// The zone, if named.
    pub zone: Option<Zone>,
}

/// Days since 1970 of a date. A day beyond the end of its month, up to 31, becomes the last one; `None`: the
/// date is invalid.
#[must_use]
pub fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    let in_range = (-999_999..=999_999).contains(&year) && (1..=12).contains(&month);
    if !in_range || !(1..=31).contains(&day) {
        return None;
    }
    let day = day.min(days_in_month(year, month));
    // Hinnant's "days from civil": years start in March, so that the leap day is their last day.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

/// Year, month and day for a number of days since 1970.
#[must_use]
pub fn date_of(day_number: i64) -> (i64, i64, i64) {
    let shifted = day_number + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Days of a month.
#[must_use]
pub fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

impl Fields {
    /// The date as days since 1970; `None`: it is missing or invalid.
    #[must_use]
    pub fn date(&self) -> Option<i64> {
        let year = self.year.or(self.year_of_era)?;
        let number = match (self.month, self.day, self.day_of_year) {
            (Some(month), Some(day), _) => day_number(year, month, day)?,
            (None, None, Some(day)) => {
                let longest = if days_in_month(year, 2) == 29 {
                    366
                } else {
                    365
                };
                let in_range = (1..=longest).contains(&day);
                day_number(year, 1, 1).filter(|_| in_range)? + day - 1
            }
            _ => return None,
        };
        // The first of January 1970 was a Thursday.
        let weekday = (number + 3).rem_euclid(7);
        let fits = self.weekday.is_none_or(|given| given == weekday);
        fits.then_some(number)
    }

    /// Milliseconds since midnight; `None`: there is no time of day.
    #[must_use]
    pub fn time_ms(&self) -> Option<i64> {
        let hour = match (self.hour, self.clock_hour, self.half_day) {
            (Some(hour), _, _) => hour,
            (None, Some(clock), Some(half)) => clock % 12 + 12 * half,
            _ => return None,
        };
        let (minute, second) = (self.minute.unwrap_or(0), self.second.unwrap_or(0));
        let ms = self.nano.unwrap_or(0) / 1_000_000;
        Some(((hour * 60 + minute) * 60 + second) * 1000 + ms)
    }
}

#[cfg(test)]
mod tests;
