//! Numbers and strings as formatted by Go's `encoding/json`.
//!
//! Must not know documents. Invariant: the output is valid JSON; numbers without a JSON representation become
//! null (Go fails for the whole text).

use std::fmt::Write as _;
use std::io::Write as _;

/// Whether the characters with a meaning in HTML are escaped in strings: `<`, `>` and `&`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HtmlEscape {
    /// Like `json.Marshal`, and encoders by default.
    On,
    /// Like an encoder after `SetEscapeHTML(false)`.
    Off,
}

/// A quoted string, with HTML characters escaped.
#[must_use]
pub fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(text, HtmlEscape::On, &mut out);
    out
}

/// Appends a quoted string.
pub fn push_string(text: &str, html: HtmlEscape, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..'\u{20}' | '\u{2028}' | '\u{2029}' => push_unicode(c, out),
            '<' | '>' | '&' if html == HtmlEscape::On => push_unicode(c, out),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn push_unicode(c: char, out: &mut String) {
    write!(out, "\\u{:04x}", u32::from(c)).expect("a string takes all text");
}

/// JSON without white space, with HTML characters escaped: `json.Compact` and `HTMLEscape`. The input must be
/// valid JSON.
#[must_use]
pub fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_string, mut is_escaped) = (false, false);
    for c in json.chars() {
        match c {
            ' ' | '\t' | '\n' | '\r' if !in_string => continue,
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => push_unicode(c, &mut out),
            c => out.push(c),
        }
        in_string ^= c == '"' && !is_escaped;
        is_escaped = in_string && c == '\\' && !is_escaped;
    }
    out
}

/// A number: the shortest digits that parse to the same value, with an exponent below 1e-6 and from 1e21 on.
#[must_use]
pub fn number(value: f64) -> String {
    let mut out = Vec::new();
    push_number(value, &mut out);
    String::from_utf8(out).expect("digits are text")
}

/// Appends a number.
pub fn push_number(value: f64, out: &mut Vec<u8>) {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        return push_decimal(value, out);
    }
    if !value.is_finite() {
        return out.extend(b"null");
    }
    let text = format!("{value:e}");
    match magnitude < 1.0 {
        true => out.extend(text.as_bytes()),
        false => out.extend(text.replacen('e', "e+", 1).as_bytes()),
    }
}

/// Appends the shortest digits that parse to the same value, without an exponent whatever the magnitude.
pub fn push_decimal(value: f64, out: &mut Vec<u8>) {
    match millionths(value) {
        Some(millionths) => push_millionths(millionths, out),
        None => write!(out, "{value}").expect("a vector takes all bytes"),
    }
}

/// The value in millionths, if it is an integer number of them with at most 15 digits: counts, and times
/// measured in nanoseconds. No two such numbers are the same `f64`, so these digits are the shortest.
fn millionths(value: f64) -> Option<u64> {
    const LIMIT: f64 = 1e15;
    let scaled = (value * 1e6).round();
    let is_exact = scaled / 1e6 == value && scaled < LIMIT && value.is_sign_positive();
    is_exact.then_some(scaled as u64)
}

fn push_millionths(millionths: u64, out: &mut Vec<u8>) {
    /// Maximum characters of a number, including the point.
    const WIDTH: usize = 24;
    let (mut whole, mut fraction) = (millionths / 1_000_000, millionths % 1_000_000);
    let mut text = [0; WIDTH];
    let mut at = WIDTH;
    let mut push_left = |digit: u8| {
        at -= 1;
        text[at] = digit;
    };
    if fraction > 0 {
        let mut left = 6;
        while fraction % 10 == 0 {
            fraction /= 10;
            left -= 1;
        }
        for _ in 0..left {
            push_left(b'0' + (fraction % 10) as u8);
            fraction /= 10;
        }
        push_left(b'.');
    }
    loop {
        push_left(b'0' + (whole % 10) as u8);
        whole /= 10;
        if whole == 0 {
            break;
        }
    }
    out.extend(&text[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_written_as_in_go() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.348_768, "0.348768"),
            (0.000_075_242, "0.000075242"),
            (0.000_001, "0.000001"),
            (0.000_000_1, "1e-7"),
            (-1.5e-9, "-1.5e-9"),
            (0.1 + 0.2, "0.30000000000000004"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (1e21, "1e+21"),
            (f64::NAN, "null"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn strings_are_written_as_in_go() {
        assert_eq!(
            string("a\"<\u{1}é\n\u{2028}"),
            r#""a\"\u003c\u0001é\n\u2028""#
        );
        let mut plain = String::new();
        push_string("<&>", HtmlEscape::Off, &mut plain);
        assert_eq!(plain, "\"<&>\"");
    }

    #[test]
    fn compact_text_keeps_its_strings() {
        assert_eq!(
            compact(r#"{ "z" : [1.50, " \" <"] }"#),
            r#"{"z":[1.50," \" \u003c"]}"#
        );
    }

    proptest! {
        #[test]
        fn the_short_way_writes_what_the_long_way_writes(
            millionths in 0..1_000_000_000_000_000_u64,
            digits in 0..7_u32,
            other in proptest::num::f64::NORMAL,
        ) {
            let written = |value: f64| {
                let mut out = Vec::new();
                push_decimal(value, &mut out);
                String::from_utf8(out).expect("digits are text")
            };
            let value = (millionths / 10_u64.pow(digits)) as f64 / 1e6;
            prop_assert_eq!(written(value), value.to_string());
            prop_assert_eq!(written(other), other.to_string());
        }
    }
}
