//! Dates in header fields and cookies, parsed as in RFC 6265 (5.1.1): in any order and with any separators.
//!
//! Must not know what a date is for. Invariant: for any text the result is a date or `None`.

use loadline_java::date_format::day_number;

/// The instant of a date in milliseconds since 1970; `None`: it is invalid.
pub(super) fn unix_ms(text: &str) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_delimiter = |one: char| !(one.is_ascii_alphanumeric() || one == ':' || !one.is_ascii());
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        if time.is_none() && time_of(token).is_some() {
            time = time_of(token);
        } else if day.is_none() && number(token, 2).is_some() {
            day = number(token, 2);
        } else if month.is_none() && month_of(token).is_some() {
            month = month_of(token);
        } else if year.is_none() && number(token, 4).is_some() {
            year = number(token, 4);
        }
    }
    let year = match year? {
        short @ 70..=99 => 1900 + short,
        short @ 0..=69 => 2000 + short,
        year => year,
    };
    let day = day_number(year, month?, day?).filter(|_| year >= 1601)?;
    Some((day * 86_400 + time?) * 1_000)
}

/// The same for a date in the format of Netscape's draft, `Wed, 01-Jan-31 00:00:00 GMT`, with any number of
/// digits in the year; `None`: it has another format.
pub(super) fn unix_ms_by_netscape(text: &str) -> Option<i64> {
    let (weekday, rest) = text.split_once(", ")?;
    let (date, time) = rest.trim_start().split_once(' ')?;
    let [day, month, year] = date.split('-').collect::<Vec<_>>().try_into().ok()?;
    let (time, zone) = time.trim_start().split_once(' ')?;
    let is_name =
        |text: &str| text.len() >= 3 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    if !is_name(weekday) || !is_name(month) || zone.is_empty() {
        return None;
    }
    // A two-digit year is in this century.
    let century = if year.len() == 2 { "20" } else { "" };
    unix_ms(&format!("{day} {month} {century}{year} {time}"))
}

/// Seconds of the day of `hour:minute:second`.
fn time_of(token: &str) -> Option<i64> {
    let mut parts = token.splitn(3, ':');
    let mut next = |most: i64| {
        let found = parts.next().and_then(|part| number(part, 2))?;
        (found <= most).then_some(found)
    };
    Some(next(23)? * 3_600 + next(59)? * 60 + next(59)?)
}

/// The digits at the start of a token, if there are at most `digits_max`.
fn number(token: &str, digits_max: usize) -> Option<i64> {
    let end = token.find(|one: char| !one.is_ascii_digit());
    let digits = &token[..end.unwrap_or(token.len())];
    let least = if digits_max == 4 { 2 } else { 1 };
    let fits = (least..=digits_max).contains(&digits.len());
    fits.then(|| digits.parse().ok()).flatten()
}

/// A month from 1.
fn month_of(token: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let name = token.get(..3)?.to_ascii_lowercase();
    let place = MONTHS.iter().position(|month| *month == name)?;
    i64::try_from(place + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_all_forms_are_read() {
        let ms = Some(784_111_777_000);
        assert_eq!(unix_ms("Sun, 06 Nov 1994 08:49:37 GMT"), ms);
        assert_eq!(unix_ms("Sunday, 06-Nov-94 08:49:37 GMT"), ms);
        assert_eq!(unix_ms("Sun Nov  6 08:49:37 1994"), ms);
        assert_eq!(unix_ms("Thu, 01 Jan 1970 00:00:01 GMT"), Some(1_000));
        assert_eq!(
            unix_ms("Wed, 29-Feb-2000 23:59:59 GMT"),
            Some(951_868_799_000)
        );
        assert_eq!(unix_ms("0"), None);
        assert_eq!(unix_ms("-1"), None);
        assert_eq!(unix_ms("Sun, 06 Nov 1994"), None);
    }
}
