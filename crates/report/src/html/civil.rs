//! Instants as people write them, in UTC.
//!
//! Source of the calendar: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms"
//! (`civil_from_days`). Must not know the present. Invariant: every instant has a text.

const MS_PER_DAY: u64 = 86_400_000;

/// `2027-01-15 08:00:00 UTC` of milliseconds since 1970.
pub(super) fn utc(unix_ms: u64) -> String {
    let (year, month, day) = date(unix_ms / MS_PER_DAY);
    let seconds = unix_ms % MS_PER_DAY / 1_000;
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60
    )
}

fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
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
