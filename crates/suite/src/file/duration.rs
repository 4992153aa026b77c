//! Lengths of time as files write them: `30s`, `1m30s`, `500ms`, `24h`, `1d`.
//!
//! Must not know what they are for. Invariant: what is written is read again as the same length.

use std::time::Duration;

/// Units with their length in nanoseconds, the longer names of one letter first.
const UNITS: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
];

/// Reads a length of time; every number needs its unit, `0` alone needs none.
///
/// # Errors
/// It is none, or longer than can be held; the text says what to write.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let fix = || "write a number with its unit, such as 30s, 1m30s or 500ms".to_owned();
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let number: f64 = rest[..end].parse().map_err(|_| fix())?;
        rest = &rest[end..];
        let unit = UNITS.iter().find(|(unit, _)| rest.starts_with(unit));
        let (name, length) = unit.ok_or_else(fix)?;
        rest = &rest[name.len()..];
        total += number * *length as f64;
    }
    let fits = !text.is_empty() && total < u64::MAX as f64;
    if fits {
        Ok(Duration::from_nanos(total.round() as u64))
    } else {
        Err(fix())
    }
}

/// A length of time in its largest whole units: `90s` as `1m30s`.
#[must_use]
pub fn duration_text(span: Duration) -> String {
    const LARGEST_FIRST: [(&str, u128); 7] = [
        ("d", 86_400_000_000_000),
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ];
    let mut rest = span.as_nanos();
    let mut text = String::new();
    for (unit, length) in LARGEST_FIRST {
        let whole = rest / length;
        if whole > 0 {
            text += &format!("{whole}{unit}");
            rest %= length;
        }
    }
    if text.is_empty() {
        text.push_str("0s");
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_again(ms in 0..100_000_000_000_u64) {
            let span = Duration::from_millis(ms);
            prop_assert_eq!(parse_duration(&duration_text(span)), Ok(span));
        }
    }

    #[test]
    fn lengths_as_people_write_them() {
        for (text, ms) in [
            ("30s", 30_000),
            ("1m30s", 90_000),
            ("0.5s", 500),
            ("1d", 86_400_000),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_millis(ms)),
                "{text}"
            );
        }
        for text in ["", "30", "s", "1x", "-1s", "1s 2s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
