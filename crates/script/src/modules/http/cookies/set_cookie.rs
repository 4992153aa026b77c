//! Parses one `Set-Cookie` line as Go's `net/http` does.
//!
//! Must not keep anything. Invariant: a line without a valid name or value gives no cookie; an invalid
//! attribute is ignored.

use time::Date;

use super::Cookie;
use crate::hop::HopHeaders;

/// Maximum `Set-Cookie` lines of a response; if there are more, Go ignores all of them.
const LINES_MAX: usize = 3_000;

/// The cookies of a response.
pub(crate) fn set_cookies(headers: &HopHeaders) -> impl Iterator<Item = Cookie> {
    let lines = || {
        let fields = headers.iter();
        fields.filter(|(name, _)| name.eq_ignore_ascii_case(b"Set-Cookie"))
    };
    let are_too_many = headers.fields.len() > LINES_MAX && lines().nth(LINES_MAX).is_some();
    lines()
        .take(if are_too_many { 0 } else { LINES_MAX })
        .filter_map(|(_, value)| parse_set_cookie(&String::from_utf8_lossy(value)))
}

/// The cookie of a line; `None` if it is invalid.
pub(super) fn parse_set_cookie(line: &str) -> Option<Cookie> {
    let mut parts = line.trim().split(';').map(str::trim);
    let (name, value) = parts.next()?.split_once('=')?;
    let name = name.trim_end();
    if name.is_empty() || !name.bytes().all(is_token_byte) {
        return None;
    }
    let value = unquoted(value);
    if !value.bytes().all(is_value_byte) {
        return None;
    }
    let mut cookie = Cookie {
        name: name.to_owned(),
        value: value.to_owned(),
        ..Cookie::default()
    };
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        if value.bytes().all(is_value_byte) {
            add_attribute(&mut cookie, key, value);
        }
    }
    Some(cookie)
}

fn add_attribute(cookie: &mut Cookie, key: &str, value: &str) {
    match key.to_ascii_lowercase().as_str() {
        "domain" => value.clone_into(&mut cookie.domain),
        "path" => value.clone_into(&mut cookie.path),
        "secure" => cookie.secure = true,
        "httponly" => cookie.http_only = true,
        "expires" => cookie.expires_ms = date_ms(value).or(cookie.expires_ms),
        "max-age" => {
            let seconds = value.parse::<i64>().ok();
            let seconds = seconds.filter(|seconds| *seconds == 0 || !value.starts_with('0'));
            if let Some(seconds) = seconds {
                cookie.max_age = Some(if seconds <= 0 { -1 } else { seconds });
            }
        }
        _ => {}
    }
}

fn unquoted(value: &str) -> &str {
    value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(value)
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_value_byte(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte) && !b"\";\\".contains(&byte)
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Digits of a year: a date with fewer, as in `01-Jan-70`, is invalid.
const YEAR_DIGITS: usize = 4;

/// Milliseconds since 1970 of a date such as `Wed, 21 Oct 2035 07:28:00 GMT`; dashes between day, month and
/// year are accepted too. `None` if it is invalid.
pub(crate) fn date_ms(text: &str) -> Option<i64> {
    let (_, rest) = text.split_once(", ")?;
    let mut fields = rest.split([' ', '-']).filter(|field| !field.is_empty());
    let day = fields.next()?.parse().ok()?;
    let month = fields.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as u8 + 1;
    let year = fields.next().filter(|year| year.len() == YEAR_DIGITS)?;
    let year: u16 = year.parse().ok()?;
    let date = Date::from_calendar_date(year.into(), month.try_into().ok()?, day).ok()?;
    let mut clock = fields.next()?.split(':').map(str::parse::<u8>);
    let [hour, minute, second] = [clock.next()?, clock.next()?, clock.next()?];
    fields.next()?;
    let at = date.with_hms(hour.ok()?, minute.ok()?, second.ok()?).ok()?;
    (year > 0).then(|| at.assume_utc().unix_timestamp() * 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_read_as_k6_reads_them() {
        let cookie =
            parse_set_cookie("a=1; Domain=.example.com; Path=/x; Max-Age=100; Secure; HttpOnly");
        let expected = Cookie {
            name: "a".into(),
            value: "1".into(),
            domain: ".example.com".into(),
            path: "/x".into(),
            max_age: Some(100),
            secure: true,
            http_only: true,
            ..Cookie::default()
        };
        assert_eq!(cookie, Some(expected));
        let dated = parse_set_cookie("b=\"q w\"; Expires=Wed, 21 Oct 2035 07:28:00 GMT").unwrap();
        assert_eq!(
            (dated.value.as_str(), dated.expires_ms),
            ("q w", Some(2_076_564_480_000))
        );
        assert_eq!(parse_set_cookie("=d"), None);
        assert_eq!(parse_set_cookie("\"g\"=h"), None);
        assert_eq!(parse_set_cookie("f=1; max-age=x").unwrap().max_age, None);
        assert_eq!(
            parse_set_cookie("e=1; max-age=0").unwrap().max_age,
            Some(-1)
        );
        assert_eq!(date_ms("Thu, 01-Jan-1970 00:00:01 GMT"), Some(1_000));
        assert_eq!(date_ms("Thu, 01-Jan-70 00:00:01 GMT"), None);
    }

    #[test]
    fn too_many_lines_give_no_cookie() {
        let mut headers = HopHeaders::default();
        for number in 0..LINES_MAX {
            headers.push(b"X-Other", b"a=b");
            headers.push(b"set-cookie", format!("c{number}=d").as_bytes());
        }
        assert_eq!(set_cookies(&headers).count(), LINES_MAX);
        headers.push(b"Set-Cookie", b"one=more");
        assert_eq!(set_cookies(&headers).count(), 0);
    }

    proptest! {
        #[test]
        fn any_line_is_read_to_its_end(line in "\\PC{0,80}|[a-z]=[a-z\"]*; (expires|max-age)=[-0-9A-Za-z:, ]{0,30}") {
            if let Some(cookie) = parse_set_cookie(&line) {
                prop_assert!(!cookie.name.is_empty());
            }
        }
    }
}
