//! Go's quoted strings, parsed and formatted: `strconv.Unquote`, and `%q`.
//!
//! Must not know where the text comes from. Invariant: formatted text parses to the same text.

use std::fmt::Write as _;

/// The position of the closing quote of a text that starts with a quote; `None` if it is not closed on the same
/// line.
#[must_use]
pub fn end_of_quoted(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at),
            _ => {}
        }
    }
    None
}

/// The bytes represented by the inside of a quoted string.
///
/// # Errors
/// An escape that Go does not know.
pub fn unquote(inner: &str, quote: char) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(c) = rest.chars().next() {
        if c != '\\' {
            bytes.extend_from_slice(&rest.as_bytes()[..c.len_utf8()]);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let (piece, length) =
            escape(rest, quote).ok_or_else(|| format!("bad escape in {inner:?}"))?;
        match piece {
            Piece::Byte(byte) => bytes.push(byte),
            Piece::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        rest = &rest[length..];
    }
    Ok(bytes)
}

/// The number of a character constant.
///
/// # Errors
/// It is not a single character.
pub fn character(inner: &str) -> Result<i64, String> {
    let bytes = unquote(inner, '\'')?;
    let bad = || format!("malformed character constant: '{inner}'");
    match std::str::from_utf8(&bytes) {
        Ok(text) => {
            let mut chars = text.chars();
            let c = chars.next().ok_or_else(bad)?;
            if chars.next().is_some() {
                Err(bad())
            } else {
                Ok(i64::from(u32::from(c)))
            }
        }
        Err(_) if bytes.len() == 1 => Ok(i64::from(bytes[0])),
        Err(_) => Err(bad()),
    }
}

enum Piece {
    Byte(u8),
    Char(char),
}

/// The value of the escape at the start of the text, and its length.
fn escape(text: &str, quote: char) -> Option<(Piece, usize)> {
    let kind = text[1..].chars().next()?;
    let simple = |byte: u8| Some((Piece::Byte(byte), 2));
    match kind {
        'a' => simple(7),
        'b' => simple(8),
        'f' => simple(12),
        'n' => simple(b'\n'),
        'r' => simple(b'\r'),
        't' => simple(b'\t'),
        'v' => simple(11),
        '\\' => simple(b'\\'),
        c if c == quote => simple(c as u8),
        'x' => Some((Piece::Byte(u8::try_from(digits(text, 2, 2, 16)?).ok()?), 4)),
        '0'..='7' => Some((Piece::Byte(u8::try_from(digits(text, 1, 3, 8)?).ok()?), 4)),
        'u' => Some((Piece::Char(char::from_u32(digits(text, 2, 4, 16)?)?), 6)),
        'U' => Some((Piece::Char(char::from_u32(digits(text, 2, 8, 16)?)?), 10)),
        _ => None,
    }
}

fn digits(text: &str, from: usize, count: usize, radix: u32) -> Option<u32> {
    let part = text.get(from..from + count)?;
    if !part.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    u32::from_str_radix(part, radix).ok()
}

/// Quoted text in the format of `%q`.
#[must_use]
pub fn quoted(text: &str) -> String {
    quote(text, false)
}

/// Quoted bytes in the format of `%q`: invalid UTF-8 as numbers.
#[must_use]
pub fn quoted_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            push_escaped(&mut out, c, '"', false);
        }
        for byte in chunk.invalid() {
            write!(out, "\\x{byte:02x}").expect("writing to a string cannot fail");
        }
    }
    out.push('"');
    out
}

/// Quoted text in the format of `%q`; `ascii` escapes everything beyond ASCII, like `%+q`.
#[must_use]
pub fn quote(text: &str, ascii: bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        push_escaped(&mut out, c, '"', ascii);
    }
    out.push('"');
    out
}

/// A quoted character, as `%q` formats an integer.
#[must_use]
pub fn quote_character(c: char, ascii: bool) -> String {
    let mut out = String::from("'");
    push_escaped(&mut out, c, '\'', ascii);
    out.push('\'');
    out
}

fn push_escaped(out: &mut String, c: char, quote: char, ascii: bool) {
    let code = u32::from(c);
    let written = match c {
        c if c == quote || c == '\\' => {
            out.push('\\');
            out.push(c);
            Ok(())
        }
        '\u{7}' => out.write_str("\\a"),
        '\u{8}' => out.write_str("\\b"),
        '\u{c}' => out.write_str("\\f"),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        '\u{b}' => out.write_str("\\v"),
        c if is_printable(c) && (c.is_ascii() || !ascii) => {
            out.push(c);
            Ok(())
        }
        _ if code < 0x20 || code == 0x7f => write!(out, "\\x{code:02x}"),
        _ if code < 0x10000 => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
    written.expect("writing to a string cannot fail");
}

/// An approximation of Go's `IsPrint`: control characters, separators other than the space, and unassigned
/// planes are not printable.
#[must_use]
pub fn is_printable(c: char) -> bool {
    !c.is_control()
        && (c == ' ' || !c.is_whitespace())
        && !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e000}'..='\u{f8ff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{fffe}'..='\u{ffff}' | '\u{e0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_follows_go() {
        assert_eq!(
            quote("a\"b\\\n\u{1}é\u{feff}", false),
            r#""a\"b\\\n\x01é\ufeff""#
        );
        assert_eq!(quote("é😀", true), r#""\u00e9\U0001f600""#);
        assert_eq!(quote_character('\'', false), r"'\''");
    }

    #[test]
    fn bytes_that_are_no_text_are_numbers() {
        assert_eq!(
            quoted_bytes(b"a\"b\\\x15\n\xff\xc3\xa9"),
            r#""a\"b\\\x15\n\xffé""#
        );
    }

    #[test]
    fn quoted_text_reads_back() {
        for text in ["", "plain", "a\"b\\c\n\t\u{7}", "é😀\u{feff}"] {
            for ascii in [false, true] {
                let quoted = quote(text, ascii);
                assert_eq!(end_of_quoted(&quoted, '"'), Some(quoted.len() - 1));
                let bytes = unquote(&quoted[1..quoted.len() - 1], '"').expect("reads back");
                assert_eq!(bytes, text.as_bytes());
            }
        }
    }

    #[test]
    fn bad_escapes_are_refused() {
        for bad in [r"\q", r"\x1", r"\u12", r"\U00110000", r"\'", r"\400"] {
            assert!(unquote(bad, '"').is_err(), "{bad}");
        }
        assert_eq!(character("é"), Ok(233));
        assert_eq!(character(r"\xff"), Ok(255));
        assert!(character("ab").is_err() && character("").is_err());
    }
}
