//! Numbers as parsed and formatted by Java.
//!
//! Must not know what a number counts. Invariant: [`parse_double`] parses the output of [`double_to_string`] to
//! the same number.

use std::fmt;

/// `Integer.parseInt`: a sign and digits, without surrounding blanks; `None` if it throws.
#[must_use]
pub fn parse_int(text: &str) -> Option<i32> {
    text.parse().ok()
}

/// `Long.parseLong`; `None` if it throws.
#[must_use]
pub fn parse_long(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// `Double.parseDouble` without its hexadecimal form: surrounding blanks and a suffix `d` or `f` are allowed;
/// `None` if it throws.
#[must_use]
pub fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim_matches(|character: char| character <= ' ');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned {
        "NaN" => return Some(f64::NAN),
        "Infinity" if text.starts_with('-') => return Some(f64::NEG_INFINITY),
        "Infinity" => return Some(f64::INFINITY),
        _ => {}
    }
    // Rust accepts words that Java does not (`inf`), and Java a suffix that Rust does not.
    let digits = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let allowed = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    digits.bytes().all(allowed).then(|| digits.parse().ok())?
}

/// `Long.decode` truncated to 32 bits, which equals `Integer.decode` for numbers that fit: `0x` and `#` mean
/// base 16, a leading `0` base 8; `None` if it throws.
#[must_use]
pub fn decode(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let prefixed = ["0x", "0X", "#"]
        .iter()
        .find_map(|prefix| digits.strip_prefix(prefix));
    let (digits, radix) = match prefixed {
        Some(digits) => (digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        None => (digits, 10),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = i64::from_str_radix(digits, radix).ok()?;
    Some(if negative { -value } else { value })
}

/// A 32-bit integer, or 0 if the text is invalid: how JMeter parses the numbers of its elements.
#[must_use]
pub fn int_or_zero(text: &str) -> i32 {
    parse_int(text).unwrap_or(0)
}

/// A 64-bit integer, or 0 if the text is invalid.
#[must_use]
pub fn long_or_zero(text: &str) -> i64 {
    parse_long(text).unwrap_or(0)
}

/// A fraction, or 0 if the text is invalid.
#[must_use]
pub fn double_or_zero(text: &str) -> f64 {
    parse_double(text).unwrap_or(0.0)
}

/// The message of `NumberFormatException` for a text.
#[must_use]
pub fn complaint(text: &str) -> String {
    format!("For input string: \"{text}\"")
}

/// `Double.toString`: the shortest digits for the number, such as `1.0E10` from ten million on and below a
/// thousandth.
#[must_use]
pub fn double_to_string(number: f64) -> String {
    shortest(number)
}

/// `Float.toString`: the same in the digits of a float.
#[must_use]
pub fn float_to_string(number: f32) -> String {
    shortest(number)
}

fn shortest(number: impl Copy + fmt::Debug + fmt::LowerExp + Into<f64>) -> String {
    let wide: f64 = number.into();
    if wide.is_nan() {
        return "NaN".to_owned();
    }
    if wide.is_infinite() {
        return if wide > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let size = wide.abs();
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        return format!("{number:?}");
    }
    let written = format!("{number:e}");
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let fraction = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{fraction}E{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_allow_nothing_around_them() {
        assert_eq!(parse_int("+2"), Some(2));
        assert_eq!(parse_int("-2147483648"), Some(i32::MIN));
        for refused in ["", " 1", "1 ", "x", "1.0", "2147483648", "+", "0x1"] {
            assert_eq!(parse_int(refused), None, "{refused}");
            assert_eq!(int_or_zero(refused), 0);
        }
        assert_eq!(parse_long("9223372036854775807"), Some(i64::MAX));
    }

    #[test]
    fn floats_are_written_in_their_own_digits() {
        for (number, text) in [
            (0.1, "0.1"),
            (1e-3, "0.001"),
            (-1e7, "-1.0E7"),
            (9_999_999.0, "9999999.0"),
            (1.5e-5, "1.5E-5"),
            (f32::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(float_to_string(number), text);
        }
        assert_eq!(double_to_string(f64::from(0.1_f32)), "0.10000000149011612");
    }

    #[test]
    fn fractions_allow_blanks_and_a_suffix() {
        assert_eq!(parse_double(" 1.5 "), Some(1.5));
        assert_eq!(parse_double("1e10d"), Some(1e10));
        assert_eq!(parse_double("-Infinity"), Some(f64::NEG_INFINITY));
        for refused in ["", "inf", "nan", "infinity", "1,5", "x", "d"] {
            assert_eq!(parse_double(refused), None, "{refused}");
        }
    }

    #[test]
    fn prefixes_tell_the_base() {
        let read = ["0xC", "#41", "0101", "65", "-0x1", "0"].map(decode);
        assert_eq!(read, [12, 65, 65, 65, -1, 0].map(Some));
        assert_eq!(
            ["08", "x", "", "65.5", "--1", "0x-1"].map(decode),
            [None; 6]
        );
    }

    #[test]
    fn fractions_are_written_as_java_does() {
        let written = [
            0.1 + 0.2,
            1e20,
            1.0000000002e10,
            3.0,
            1e-3,
            9.99e-4,
            1e7,
            -0.0,
            100.0,
        ];
        let expected = [
            "0.30000000000000004",
            "1.0E20",
            "1.0000000002E10",
            "3.0",
            "0.001",
            "9.99E-4",
            "1.0E7",
            "-0.0",
            "100.0",
        ];
        assert_eq!(written.map(double_to_string), expected);
    }
}
