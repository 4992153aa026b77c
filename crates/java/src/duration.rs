//! `java.time.Duration.parse`: `P1DT2H3M4.5S`.
//!
//! Must not know calendars: a day has 24 hours. Invariant: a duration that does not fit 64-bit milliseconds is
//! refused.

/// Milliseconds of a duration; `None` if Java throws.
#[must_use]
pub fn parse_ms(text: &str) -> Option<i64> {
    let text = text.to_ascii_uppercase();
    let (negative, unsigned) = signed(&text);
    let (days, time) = match unsigned.strip_prefix('P')?.split_once('T') {
        Some((days, time)) => (days, Some(time)),
        None => (unsigned.strip_prefix('P')?, None),
    };
    if time.map_or(days, |time| time).is_empty() {
        return None;
    }
    let (day, rest) = part(days, 'D', 86_400_000)?;
    if !rest.is_empty() {
        return None;
    }
    let (hour, rest) = part(time.unwrap_or(""), 'H', 3_600_000)?;
    let (minute, rest) = part(rest, 'M', 60_000)?;
    let total = day
        .checked_add(hour)?
        .checked_add(minute)?
        .checked_add(seconds(rest)?)?;
    if negative {
        total.checked_neg()
    } else {
        Some(total)
    }
}

/// Takes the number before a letter from the start, in milliseconds; zero if missing.
fn part(text: &str, letter: char, unit_ms: i64) -> Option<(i64, &str)> {
    let Some((number, rest)) = text.split_once(letter) else {
        return Some((0, text));
    };
    let number: i64 = number.parse().ok()?;
    Some((number.checked_mul(unit_ms)?, rest))
}

/// `4.5S` in milliseconds.
fn seconds(text: &str) -> Option<i64> {
    if text.is_empty() {
        return Some(0);
    }
    let number = text.strip_suffix('S')?;
    let (whole, fraction) = number.split_once(['.', ',']).unwrap_or((number, ""));
    if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let ms: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let ms = if whole.starts_with('-') { -ms } else { ms };
    whole
        .parse::<i64>()
        .ok()?
        .checked_mul(1000)?
        .checked_add(ms)
}

fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_ms;

    #[test]
    fn durations() {
        let cases = [
            ("P1D", 86_400_000),
            ("-P1D", -86_400_000),
            ("P-1D", -86_400_000),
            ("PT25H30M", 91_800_000),
            ("PT1.5S", 1500),
            ("PT-1.5S", -1500),
            ("p1dt1m", 86_460_000),
            ("P1DT-1M", 86_340_000),
            ("+PT0,25S", 250),
            ("-PT-6H+3M", 21_420_000),
        ];
        for (text, ms) in cases {
            assert_eq!(parse_ms(text), Some(ms), "{text}");
        }
        for refused in [
            "",
            "P",
            "PT",
            "P1DT",
            "P1M",
            "P1Y",
            "P1W",
            "bad",
            "1D",
            "PT1",
            "PT1S1M",
            "P1H",
            " P1D",
            "PT1.S5",
            "P99999999999999999D",
            "PTS",
            "PD",
        ] {
            assert_eq!(parse_ms(refused), None, "{refused}");
        }
    }
}
