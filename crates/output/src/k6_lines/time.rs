//! Times as Go prints them in UTC.
//!
//! Must not know clocks. Invariant: four-digit years for every 64-bit number of nanoseconds since
//! 1970.

const SECOND_NS: u64 = 1_000_000_000;
const DAY_S: u64 = 86_400;

/// RFC 3339 with as many decimals as are not zero: `2026-11-21T11:10:12.404456646Z`.
pub fn push_rfc3339_nano(unix_ns: u64, out: &mut Vec<u8>) {
    push_seconds(unix_ns / SECOND_NS, out);
    let mut fraction = unix_ns % SECOND_NS;
    if fraction > 0 {
        out.push(b'.');
        let mut power = SECOND_NS / 10;
        while fraction > 0 {
            out.push(digit(fraction / power));
            fraction %= power;
            power /= 10;
        }
    }
    out.push(b'Z');
}

/// RFC 3339 in whole seconds, cut off.
pub fn push_rfc3339(unix_ns: u64, out: &mut Vec<u8>) {
    push_seconds(unix_ns / SECOND_NS, out);
    out.push(b'Z');
}

fn push_seconds(unix_s: u64, out: &mut Vec<u8>) {
    let (year, month, day) = date(unix_s / DAY_S);
    let second = unix_s % DAY_S;
    push_two(year / 100, out);
    push_two(year % 100, out);
    for (mark, number) in [
        (b'-', month),
        (b'-', day),
        (b'T', second / 3_600),
        (b':', second / 60 % 60),
        (b':', second % 60),
    ] {
        out.push(mark);
        push_two(number, out);
    }
}

fn push_two(number: u64, out: &mut Vec<u8>) {
    out.extend([digit(number / 10), digit(number % 10)]);
}

/// The digit of a number below ten.
fn digit(number: u64) -> u8 {
    b'0' + (number % 10) as u8
}

/// Year, month and day of a number of days since 1970, by the Gregorian calendar. Counted in years
/// that begin in March, so that the leap day is the last one.
fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_0000_03_01_TO_1970: u64 = 719_468;
    const DAYS_IN_400_YEARS: u64 = 146_097;
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

    fn text(unix_ns: u64) -> String {
        let mut out = Vec::new();
        push_rfc3339_nano(unix_ns, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn times_are_gos() {
        assert_eq!(text(0), "1970-01-01T00:00:00Z");
        assert_eq!(
            text(1_795_259_412_404_456_646),
            "2026-11-21T11:10:12.404456646Z"
        );
        assert_eq!(text(1_795_259_412_500_000_000), "2026-11-21T11:10:12.5Z");
        assert_eq!(
            text(951_782_400_000_000_001),
            "2000-02-29T00:00:00.000000001Z"
        );
        assert_eq!(text(u64::MAX), "2554-07-21T23:34:33.709551615Z");
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
