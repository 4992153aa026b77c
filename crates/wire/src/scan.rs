//! Finds the lines of a head or of trailers in bytes that may end anywhere.
//!
//! It must not know limits of lengths, parser states or where the bytes are stored. Invariant: a line is judged
//! only once its LF has arrived, and lines are judged in order, so more bytes never change the result for
//! fewer.

use memchr::{memchr, memchr3};

use crate::chars::{decimal, is_blank, is_token_byte, trim_blanks};
use crate::error::{HeaderFault, WireError};
use crate::foreign::speaks_http;
use crate::framing::Facts;
use crate::head::Fields;
use crate::limits::{Limits, ValueBytes};
use crate::sample::Sample;

/// What was found.
pub(crate) enum Scan<T> {
    /// All of it, up to its blank line.
    Complete(T),
    /// The blank line has not arrived.
    Incomplete,
    /// All of it, but with continuation lines (`obs-fold`): call [`unfold`] and scan again. That cannot find an
    /// error, because each line was already checked: the first line of a field for its name and colon, every
    /// line for its bytes.
    Folded,
}

/// A checked head whose framing is not decided yet.
#[derive(Debug, Clone)]
pub(crate) struct RawHead<'a> {
    pub(crate) status: u16,
    pub(crate) minor: u8,
    /// The text after the status and a space; `None` if the line ends with the status.
    pub(crate) reason: Option<&'a [u8]>,
    pub(crate) fields: Fields<'a>,
    pub(crate) facts: Facts<'a>,
    pub(crate) len: usize,
}

/// Checked trailers; `len` includes the blank line that closes them.
#[derive(Clone, Copy)]
pub(crate) struct Trailers<'a> {
    pub(crate) fields: Fields<'a>,
    pub(crate) len: usize,
}

/// Scans a response head that starts at the first byte.
///
/// # Errors
/// Another protocol, a malformed status line or header line, or too many header lines.
#[inline]
pub(crate) fn scan_head<'a>(
    bytes: &'a [u8],
    limits: &Limits,
) -> Result<Scan<RawHead<'a>>, WireError> {
    if !speaks_http(bytes)? {
        return Ok(Scan::Incomplete);
    }
    let (start, line) = match line_end(bytes, 0) {
        LineEnd::At { end, next } => (next, &bytes[..end]),
        LineEnd::Missing => return Ok(Scan::Incomplete),
        // A reason may contain any byte.
        LineEnd::BadByte => {
            let line = rest_of_line(bytes, 0);
            (line.len() + 1, line.strip_suffix(b"\r").unwrap_or(line))
        }
    };
    let (minor, status, reason) = status_line(line)?;
    let mut facts = Facts::default();
    let scan = scan_fields(bytes, start, limits, |name, value| {
        facts.note(name, value);
    })?;
    Ok(scan.map(|block| RawHead {
        status,
        minor,
        reason,
        fields: Fields::new(&bytes[start..block.fields_end]),
        facts: facts.settled(),
        len: block.next,
    }))
}

/// Scans trailers that start at the first byte.
///
/// # Errors
/// A malformed line, or too many lines.
pub(crate) fn scan_trailers<'a>(
    bytes: &'a [u8],
    limits: &Limits,
) -> Result<Scan<Trailers<'a>>, WireError> {
    let scan = scan_fields(bytes, 0, limits, |_, _| {})?;
    Ok(scan.map(|block| Trailers {
        fields: Fields::new(&bytes[..block.fields_end]),
        len: block.next,
    }))
}

/// Joins each value with its continuation lines by one space (RFC 9112 §5.2), as Go does, up to the first blank line.
/// Nothing becomes shorter: the room left over is white space before the value.
pub(crate) fn unfold(bytes: &mut [u8]) {
    let (mut field, mut from) = (0, 0);
    while let Some(found) = memchr(b'\n', &bytes[from..]) {
        let at = from + found;
        from = at + 1;
        match bytes.get(from) {
            Some(&byte) if is_blank(byte) => join(bytes, field, at),
            Some(b'\n') => return,
            Some(b'\r') if bytes.get(from + 1) == Some(&b'\n') => return,
            _ => field = from,
        }
    }
}

/// Moves the value of the field that begins at `field` beside its continuation, after the line end at `at`.
fn join(bytes: &mut [u8], field: usize, at: usize) {
    let blanks = |bytes: &[u8]| bytes.iter().take_while(|&&byte| is_blank(byte)).count();
    let after = at + 1 + blanks(&bytes[at + 1..]);
    let before = &bytes[..at];
    let before = before.strip_suffix(b"\r").unwrap_or(before);
    let end = before.len()
        - before
            .iter()
            .rev()
            .take_while(|&&byte| is_blank(byte))
            .count();
    let colon = memchr(b':', &bytes[field..end]).map_or(end, |colon| field + colon + 1);
    let value = (colon + blanks(&bytes[colon..end])).min(end);
    let moved = after - 1 - (end - value);
    bytes.copy_within(value..end, moved);
    bytes[value..moved].fill(b' ');
    bytes[after - 1] = b' ';
}

impl<T> Scan<T> {
    #[inline]
    fn map<U>(self, then: impl FnOnce(T) -> U) -> Scan<U> {
        match self {
            Self::Complete(found) => Scan::Complete(then(found)),
            Self::Incomplete => Scan::Incomplete,
            Self::Folded => Scan::Folded,
        }
    }
}

/// Where a block of field lines ends, before and after its blank line.
struct Block {
    fields_end: usize,
    next: usize,
}

#[inline]
fn scan_fields<'a>(
    bytes: &'a [u8],
    start: usize,
    limits: &Limits,
    mut each: impl FnMut(&'a [u8], &'a [u8]),
) -> Result<Scan<Block>, WireError> {
    let limit = limits.header_count;
    let mut at = start;
    let mut left = limit;
    let mut folded = false;
    loop {
        let (end, next) = match line_end(bytes, at) {
            LineEnd::At { end, next } => (end, next),
            LineEnd::Missing => return Ok(Scan::Incomplete),
            LineEnd::BadByte => return Err(bad_header(HeaderFault::ValueByte, bytes, at)),
        };
        if end == at {
            let block = Block {
                fields_end: at,
                next,
            };
            return Ok(if folded {
                Scan::Folded
            } else {
                Scan::Complete(block)
            });
        }
        left = left
            .checked_sub(1)
            .ok_or(WireError::TooManyHeaders { limit })?;
        if !is_blank(bytes[at]) {
            let (name, value) =
                field(&bytes[at..end]).map_err(|fault| bad_header(fault, bytes, at))?;
            each(name, value);
        } else if at > start {
            folded = true;
        } else {
            return Err(bad_header(HeaderFault::FoldWithoutHeader, bytes, at));
        }
        if limits.values == ValueBytes::NoControls && bytes[at..end].iter().any(is_control) {
            return Err(bad_header(HeaderFault::ValueByte, bytes, at));
        }
        at = next;
    }
}

/// Control bytes that can be forbidden in a line.
fn is_control(byte: &u8) -> bool {
    byte.is_ascii_control() && *byte != b'\t'
}

#[cold]
fn bad_header(fault: HeaderFault, bytes: &[u8], at: usize) -> WireError {
    WireError::BadHeader {
        fault,
        sample: Sample::of(rest_of_line(bytes, at)),
    }
}

/// The line that starts at `at`, without its LF.
fn rest_of_line(bytes: &[u8], at: usize) -> &[u8] {
    let rest = &bytes[at..];
    &rest[..memchr(b'\n', rest).unwrap_or(rest.len())]
}

enum LineEnd {
    /// The line's content ends at `end`; the next line starts at `next`.
    At { end: usize, next: usize },
    /// There is no LF yet.
    Missing,
    /// The line has its LF, but NUL or a bare CR before it.
    BadByte,
}

/// A single search finds the line end and the bytes that no line may contain.
#[inline]
fn line_end(bytes: &[u8], from: usize) -> LineEnd {
    let Some(found) = memchr3(b'\n', b'\r', 0, &bytes[from..]) else {
        return LineEnd::Missing;
    };
    let at = from + found;
    match (bytes[at], bytes.get(at + 1)) {
        (b'\n', _) => LineEnd::At {
            end: at,
            next: at + 1,
        },
        (b'\r', Some(b'\n')) => LineEnd::At {
            end: at,
            next: at + 2,
        },
        _ if memchr(b'\n', &bytes[at..]).is_some() => LineEnd::BadByte,
        _ => LineEnd::Missing,
    }
}

/// Splits a field line. NUL and CR are already ruled out; whether other control bytes are kept in a value, as
/// RFC 9110 §5.5 allows a recipient to do, is a limit.
#[inline]
fn field(line: &[u8]) -> Result<(&[u8], &[u8]), HeaderFault> {
    match line.iter().position(|&byte| !is_token_byte(byte)) {
        Some(at) if line[at] == b':' && at > 0 => Ok((&line[..at], trim_blanks(&line[at + 1..]))),
        _ => odd_field(line),
    }
}

/// A name that contains spaces, or has one before its colon, is a separate name, as in Go: `A : b` and `A: b`
/// are two fields.
#[cold]
fn odd_field(line: &[u8]) -> Result<(&[u8], &[u8]), HeaderFault> {
    let Some(colon) = memchr(b':', line) else {
        return Err(HeaderFault::NoColon);
    };
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    if name.is_empty() {
        return Err(HeaderFault::EmptyName);
    }
    match name.iter().all(|&byte| byte == b' ' || is_token_byte(byte)) {
        true => Ok((name, trim_blanks(value))),
        false => Err(HeaderFault::NameByte),
    }
}

/// Minor version, status and reason of `HTTP/1.x nnn[ reason]`.
#[inline]
fn status_line(line: &[u8]) -> Result<(u8, u16, Option<&[u8]>), WireError> {
    match line {
        [
            b'H',
            b'T',
            b'T',
            b'P',
            b'/',
            b'1',
            b'.',
            minor,
            b' ',
            a,
            b,
            c,
            rest @ ..,
        ] if minor.is_ascii_digit()
            && a.is_ascii_digit()
            && b.is_ascii_digit()
            && c.is_ascii_digit()
            && [*a, *b, *c] != *b"000"
            && rest.first().is_none_or(|&byte| byte == b' ') =>
        {
            let digit = |byte: &u8| u16::from(byte - b'0');
            let status = digit(a) * 100 + digit(b) * 10 + digit(c);
            Ok((minor - b'0', status, rest.get(1..)))
        }
        _ => odd_status_line(line),
    }
}

/// What Go and curl accept in addition: any version of two digits, and more than one space before the status. A
/// version above 1.x is treated as 1.1, whose form the response has; one below as 1.0.
#[cold]
fn odd_status_line(line: &[u8]) -> Result<(u8, u16, Option<&[u8]>), WireError> {
    let [
        b'H',
        b'T',
        b'T',
        b'P',
        b'/',
        major,
        b'.',
        minor,
        b' ',
        rest @ ..,
    ] = line
    else {
        return Err(bad_status_line(line));
    };
    let spaces = rest.iter().take_while(|&&byte| byte == b' ').count();
    let status = match &rest[spaces..] {
        [first, second, third, after @ ..]
            if [*first, *second, *third] != *b"000"
                && after.first().is_none_or(|&byte| byte == b' ') =>
        {
            decimal(&[*first, *second, *third]).map(|status| (status as u16, after))
        }
        _ => None,
    };
    match (major, minor, status) {
        (b'0'..=b'9', b'0'..=b'9', Some((status, after))) => {
            let minor = match major {
                b'0' => 0,
                b'1' => minor - b'0',
                _ => 1,
            };
            Ok((minor, status, after.get(1..)))
        }
        _ => Err(bad_status_line(line)),
    }
}

#[cold]
fn bad_status_line(line: &[u8]) -> WireError {
    let sample = Sample::of(line);
    match line {
        [b'H', b'T', b'T', b'P', b'/', major, ..] if major.is_ascii_digit() && *major != b'1' => {
            WireError::UnsupportedVersion { sample }
        }
        _ => WireError::BadStatusLine { sample },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfold_stops_at_the_blank_line() {
        let mut bytes = *b"A: b\r\n c\n\td\r\n\r\nbody\r\n kept";
        unfold(&mut bytes);
        assert_eq!(&bytes, b"A:    b c d\r\n\r\nbody\r\n kept");
        let mut bytes = *b"A:\r\n  b  \r\n\t c\r\nB: d\r\n  e\r\n\r\n";
        unfold(&mut bytes);
        assert_eq!(&bytes, b"A:         b c\r\nB:    d e\r\n\r\n");
    }

    #[test]
    fn a_bad_byte_is_told_only_when_its_line_is_whole() {
        assert!(matches!(line_end(b"a\0b", 0), LineEnd::Missing));
        assert!(matches!(line_end(b"a\rb", 0), LineEnd::Missing));
        assert!(matches!(line_end(b"a\r", 0), LineEnd::Missing));
        assert!(matches!(line_end(b"a\0b\n", 0), LineEnd::BadByte));
        assert!(matches!(line_end(b"a\r\r\n", 0), LineEnd::BadByte));
        assert!(matches!(
            line_end(b"a\r\nb", 0),
            LineEnd::At { end: 1, next: 3 }
        ));
        assert!(matches!(
            line_end(b"a\nb", 0),
            LineEnd::At { end: 1, next: 2 }
        ));
    }
}
