//! A response head as the sink sees it: borrowed, already checked, nothing copied.
//!
//! It must not know where the bytes are or how the head was found. Invariant: [`Fields`] contains only lines
//! that the scanner accepted, so iterating over them again cannot fail.

use memchr::memchr;

use crate::chars::trim_blanks;
use crate::framing::Framing;
use crate::scan::RawHead;

/// A complete response head.
#[derive(Debug, Clone)]
pub struct Head<'a> {
    raw: RawHead<'a>,
    framing: Framing,
}

impl<'a> Head<'a> {
    #[inline]
    pub(crate) fn new(raw: RawHead<'a>, framing: Framing) -> Self {
        Self { raw, framing }
    }

    /// The status code, 100 to 999.
    #[inline]
    #[must_use]
    pub fn status(&self) -> u16 {
        self.raw.status
    }

    /// The digit after `HTTP/1.`; 1 for a later version, 0 for an earlier one.
    #[must_use]
    pub fn minor_version(&self) -> u8 {
        self.raw.minor
    }

    /// The reason phrase, often empty; `None` if not even a space follows the status.
    #[must_use]
    pub fn reason(&self) -> Option<&'a [u8]> {
        self.raw.reason
    }

    /// The header lines in their original order and case.
    #[must_use]
    pub fn headers(&self) -> Fields<'a> {
        self.raw.fields
    }

    /// The value of the first header called `name`, ignoring case. Each call searches the lines again.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.raw.fields.get(name)
    }

    /// The first Content-Type; it was found while parsing the head, so it costs nothing.
    #[inline]
    #[must_use]
    pub fn content_type(&self) -> Option<&'a [u8]> {
        self.raw.facts.content_type
    }

    /// The Content-Length in bytes; `None` if absent, malformed or contradictory. For HEAD and 304 it is the
    /// length of a body that is not sent.
    #[inline]
    #[must_use]
    pub fn content_length(&self) -> Option<u64> {
        self.raw.facts.length.value()
    }

    /// How the body that follows is delimited.
    #[must_use]
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Bytes of the head on the wire, including its closing blank line but not blank lines before it.
    #[must_use]
    pub fn wire_len(&self) -> usize {
        self.raw.len
    }
}

/// Header or trailer lines as (name, value), without white space around values.
///
/// If a value was folded over several lines, each line end in it has become one space.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a> {
    lines: &'a [u8],
}

impl<'a> Fields<'a> {
    /// `lines` must be checked, complete lines with their line ends.
    #[inline]
    pub(crate) fn new(lines: &'a [u8]) -> Self {
        Self { lines }
    }

    /// The value of the first field called `name`, ignoring case.
    #[must_use]
    pub fn get(self, name: &str) -> Option<&'a [u8]> {
        let wanted = name.as_bytes();
        self.into_iter()
            .find_map(|(name, value)| name.eq_ignore_ascii_case(wanted).then_some(value))
    }

    /// The lines as they came.
    pub(crate) fn lines(self) -> &'a [u8] {
        self.lines
    }

    /// Whether there are no fields.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.lines.is_empty()
    }
}

impl<'a> IntoIterator for Fields<'a> {
    type Item = (&'a [u8], &'a [u8]);
    type IntoIter = FieldIter<'a>;

    fn into_iter(self) -> FieldIter<'a> {
        FieldIter { lines: self.lines }
    }
}

/// Iterates over [`Fields`].
#[derive(Debug, Clone)]
pub struct FieldIter<'a> {
    lines: &'a [u8],
}

impl<'a> Iterator for FieldIter<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let end = memchr(b'\n', self.lines)?;
        let (line, rest) = self.lines.split_at(end);
        self.lines = &rest[1..];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let colon = memchr(b':', line)?;
        Some((&line[..colon], trim_blanks(&line[colon + 1..])))
    }
}
