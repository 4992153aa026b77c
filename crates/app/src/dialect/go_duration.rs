//! Durations as Go's `time.ParseDuration` reads them.
//!
//! Source: the documentation of Go's package time. Must not know flags. Invariant: what Go refuses is
//! refused, in its words.

use super::go_text::quoted;

/// Nanoseconds of a text such as `300ms`, `-1.5h` or `2h45m`.
///
/// # Errors
/// Go's message.
pub fn parse(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", quoted(text));
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if digits == "0" {
        return Ok(0);
    }
    if digits.is_empty() {
        return Err(invalid());
    }
    let mut sum: u128 = 0;
    let mut rest = digits;
    while !rest.is_empty() {
        let (part, after) = take_part(text, rest)?;
        sum += part;
        if sum > 1 << 63 {
            return Err(invalid());
        }
        rest = after;
    }
    let sum = i128::try_from(sum).map_err(|_| invalid())?;
    i64::try_from(if negative { -sum } else { sum }).map_err(|_| invalid())
}

/// One number with its unit, in nanoseconds, and what follows.
fn take_part<'a>(text: &str, rest: &'a str) -> Result<(u128, &'a str), String> {
    let invalid = || format!("time: invalid duration {}", quoted(text));
    let number_end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    let (number, after) = rest.split_at(number_end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(invalid());
    }
    let unit_end = after
        .find(|c: char| c.is_ascii_digit() || c == '.')
        .unwrap_or(after.len());
    let (unit, after) = after.split_at(unit_end);
    let scale: u128 = match unit {
        "" => return Err(format!("time: missing unit in duration {}", quoted(text))),
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        other => {
            let unit = quoted(other);
            return Err(format!(
                "time: unknown unit {unit} in duration {}",
                quoted(text)
            ));
        }
    };
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| invalid())?
    };
    // Go drops digits beyond what fits; nineteen are enough for a nanosecond of any unit.
    let fraction = &fraction[..fraction.len().min(19)];
    let tail: u128 = if fraction.is_empty() {
        0
    } else {
        fraction.parse().map_err(|_| invalid())?
    };
    let places = 10_u128.pow(fraction.len() as u32);
    Ok((u128::from(whole) * scale + tail * scale / places, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_go_takes() {
        for (text, nanoseconds) in [
            ("0", 0),
            ("5m", 300_000_000_000),
            ("-1.5h", -5_400_000_000_000),
            ("2h45m", 9_900_000_000_000),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("+3µs", 3_000),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
            ("0.3333333333333333333h", 1_200_000_000_000 - 1),
        ] {
            assert_eq!(parse(text), Ok(nanoseconds), "{text}");
        }
    }

    #[test]
    fn what_go_refuses() {
        for (text, message) in [
            ("", "time: invalid duration \"\""),
            ("abc", "time: invalid duration \"abc\""),
            ("5", "time: missing unit in duration \"5\""),
            ("5d", "time: unknown unit \"d\" in duration \"5d\""),
            (".s", "time: invalid duration \".s\""),
            ("1..5s", "time: invalid duration \"1..5s\""),
            (
                "9223372036854775808ns",
                "time: invalid duration \"9223372036854775808ns\"",
            ),
            ("9999999999h", "time: invalid duration \"9999999999h\""),
        ] {
            assert_eq!(parse(text), Err(message.to_owned()));
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "[-+]?[0-9.a-zµ]{0,30}") {
            let _ = parse(&text);
        }
    }
}
