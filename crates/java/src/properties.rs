//! `java.util.Properties` files: `key=value` lines, with escapes and continued lines.
//!
//! Must not know the use of a key. Invariant: for any bytes, the result is a list of pairs, or the number of
//! the faulty line.

use std::fmt;

/// Why a properties file is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertiesFault {
    /// The line, from 1.
    pub line: usize,
}

impl fmt::Display for PropertiesFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line;
        write!(
            out,
            "line {line}: \\u needs four hexadecimal digits; write a backslash as \\\\"
        )
    }
}

impl std::error::Error for PropertiesFault {}

/// Keys and values in file order. A key may occur again: the last one counts. Bytes are ISO-8859-1.
///
/// # Errors
/// A `\u` is not followed by four hexadecimal digits.
pub fn read(bytes: &[u8]) -> Result<Vec<(String, String)>, PropertiesFault> {
    let mut pairs = Vec::new();
    let mut lines = lines(bytes).enumerate();
    while let Some((index, first)) = lines.next() {
        let first = trim_start(first);
        if matches!(first.first(), None | Some(b'#' | b'!')) {
            continue;
        }
        let mut logical = first.to_vec();
        while goes_on(&logical) {
            logical.pop();
            let Some((_, next)) = lines.next() else {
                break;
            };
            logical.extend_from_slice(trim_start(next));
        }
        let fault = PropertiesFault { line: index + 1 };
        pairs.push(pair(&logical).ok_or(fault)?);
    }
    Ok(pairs)
}

/// The lines, terminated by LF, CR or both.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            rest = None;
            return Some(bytes);
        };
        let broken = if bytes[end..].starts_with(b"\r\n") {
            2
        } else {
            1
        };
        rest = Some(&bytes[end + broken..]);
        Some(&bytes[..end])
    })
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0c)
}

fn trim_start(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|byte| !is_blank(*byte));
    start.map_or(&[], |start| &line[start..])
}

/// Whether a line ends in an unescaped backslash.
fn goes_on(line: &[u8]) -> bool {
    line.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Key and value of a line, separated by the first blank, `=` or `:`.
fn pair(line: &[u8]) -> Option<(String, String)> {
    let mut end = 0;
    while let Some(byte) = line
        .get(end)
        .filter(|byte| !is_blank(**byte) && !b"=:".contains(byte))
    {
        end += if *byte == b'\\' { 2 } else { 1 };
    }
    let end = end.min(line.len());
    let mut value = trim_start(&line[end..]);
    if let [b'=' | b':', rest @ ..] = value {
        value = trim_start(rest);
    }
    Some((unescape(&line[..end])?, unescape(value)?))
}

/// A text with its escapes decoded; `None`: a `\u` without four digits.
fn unescape(bytes: &[u8]) -> Option<String> {
    let mut units: Vec<u16> = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().copied();
    while let Some(byte) = rest.next() {
        let unit = match byte {
            b'\\' => match rest.next() {
                None => break,
                Some(b't') => u16::from(b'\t'),
                Some(b'n') => u16::from(b'\n'),
                Some(b'r') => u16::from(b'\r'),
                Some(b'f') => 0x0c,
                Some(b'u') => {
                    let digits = [rest.next()?, rest.next()?, rest.next()?, rest.next()?];
                    let digits = str::from_utf8(&digits)
                        .ok()
                        .filter(|text| !text.starts_with('+'))?;
                    u16::from_str_radix(digits, 16).ok()?
                }
                Some(other) => u16::from(other),
            },
            plain => u16::from(plain),
        };
        units.push(unit);
    }
    Some(String::from_utf16_lossy(&units))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &[u8]) -> Vec<(String, String)> {
        read(text).expect("the file is well-formed")
    }

    #[test]
    fn keys_end_at_blank_equals_or_colon() {
        let read = pairs(b"a=1\nb:2\n c 3\nd = = 4\ne\n\\=f\\:\\ g=5\nh\\\\=6\n=7\r\ni:=8\rj=9 ");
        let expected = [
            ("a", "1"),
            ("b", "2"),
            ("c", "3"),
            ("d", "= 4"),
            ("e", ""),
            ("=f: g", "5"),
            ("h\\", "6"),
            ("", "7"),
            ("i", "=8"),
            ("j", "9 "),
        ];
        assert_eq!(
            read,
            expected.map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn comments_and_lines_that_go_on() {
        let read = pairs(b"# c\\\n! d\n\n  # e\na=1\\\n   2\\\r\n\t# 3\\\\\nb=4\\");
        let expected = [("a", "12# 3\\"), ("b", "4")];
        assert_eq!(
            read,
            expected.map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn escapes_and_bytes() {
        let read = pairs(b"a=\\t\\u0041\\ud83d\\uDE00\\x\\q\nb=\xe9\n");
        let expected = [("a", "\tA😀xq"), ("b", "é")];
        assert_eq!(
            read,
            expected.map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn a_bad_escape_tells_its_line() {
        assert_eq!(
            read(b"a=1\n\nb=\\\n\\u00g0\n"),
            Err(PropertiesFault { line: 3 })
        );
        assert_eq!(read(b"a=\\u1"), Err(PropertiesFault { line: 1 }));
        assert_eq!(read(b"a=\\u+041"), Err(PropertiesFault { line: 1 }));
    }
}
