//! What can be wrong with a response, as messages and as classes for counting.
//!
//! It must not know what the caller does about it. Invariant: a [`WireError`] is `Copy` and owns no heap
//! memory, so a run full of errors costs no more than a run without.

use std::fmt;

use crate::sample::{Sample, TwoValues};

/// Why a response could not be read. The connection must be closed afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireError {
    /// The connection ended before the first byte of the response (blank lines not counted).
    ClosedBeforeResponse,
    /// The connection ended inside a head, or after nothing but interim responses.
    TruncatedHead {
        /// Bytes of the incomplete head received.
        received: usize,
        /// Whether the status line had ended.
        has_status: bool,
        /// The line that broke off, empty between two lines.
        line: Sample,
    },
    /// The connection ended inside a body.
    TruncatedBody {
        /// Announced body length in bytes; `None` if the body was chunked.
        expected: Option<u64>,
        /// Body bytes received, without chunk framing.
        received: u64,
    },
    /// A head, or all interim heads together, exceed [`Limits::head_bytes`](crate::Limits::head_bytes).
    HeadTooLarge {
        /// The limit in bytes.
        limit: u32,
    },
    /// A head or the trailers exceed [`Limits::header_count`](crate::Limits::header_count).
    TooManyHeaders {
        /// The limit in header lines.
        limit: u32,
    },
    /// A chunk-size line exceeds [`Limits::chunk_line_bytes`](crate::Limits::chunk_line_bytes).
    ChunkLineTooLong {
        /// The limit in bytes.
        limit: u32,
    },
    /// The trailers exceed [`Limits::trailer_bytes`](crate::Limits::trailer_bytes).
    TrailersTooLarge {
        /// The limit in bytes.
        limit: u32,
    },
    /// The response does not begin like HTTP/1.x nor like any other protocol known here.
    NotHttp {
        /// The first bytes.
        sample: Sample,
    },
    /// The response is a TLS record: plain HTTP was sent to a TLS port.
    TlsAnswer {
        /// The first bytes.
        sample: Sample,
    },
    /// The response is an HTTP/2 frame: the target expects HTTP/2 with prior knowledge.
    Http2Answer {
        /// The first bytes.
        sample: Sample,
    },
    /// The status line names an HTTP version other than 1.x.
    UnsupportedVersion {
        /// The status line.
        sample: Sample,
    },
    /// The status line is not `HTTP/1.x nnn reason`.
    BadStatusLine {
        /// The status line.
        sample: Sample,
    },
    /// A header or trailer line violates RFC 9112 §5.
    BadHeader {
        /// What is wrong with the line.
        fault: HeaderFault,
        /// The line.
        sample: Sample,
    },
    /// A Content-Length that is not a single decimal number below 2^63.
    BadContentLength {
        /// The field's value.
        sample: Sample,
    },
    /// A Transfer-Encoding that [`Limits::codings`](crate::Limits::codings) does not allow.
    BadTransferEncoding {
        /// The field's value.
        sample: Sample,
    },
    /// Two Content-Length values differ.
    ConflictingContentLength {
        /// The first value, and the one that differs.
        values: TwoValues,
    },
    /// A chunk-size line with no size, more than 16 digits, trailing garbage, or a bare LF.
    BadChunkSize {
        /// The line, from the start of the current piece.
        sample: Sample,
    },
    /// A chunk's bytes are not followed by CR and LF.
    BadChunkEnd {
        /// What was there instead.
        sample: Sample,
    },
    /// Bytes arrived while no response was expected.
    Unsolicited {
        /// The first bytes.
        sample: Sample,
    },
}

impl WireError {
    /// The class under which this error is counted.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::ClosedBeforeResponse => ErrorClass::ClosedBeforeResponse,
            Self::TruncatedHead { .. } | Self::TruncatedBody { .. } => ErrorClass::Truncated,
            Self::HeadTooLarge { .. }
            | Self::TooManyHeaders { .. }
            | Self::ChunkLineTooLong { .. }
            | Self::TrailersTooLarge { .. } => ErrorClass::TooLarge,
            Self::NotHttp { .. }
            | Self::TlsAnswer { .. }
            | Self::Http2Answer { .. }
            | Self::UnsupportedVersion { .. } => ErrorClass::WrongProtocol,
            Self::BadStatusLine { .. }
            | Self::BadHeader { .. }
            | Self::BadContentLength { .. }
            | Self::BadTransferEncoding { .. }
            | Self::ConflictingContentLength { .. }
            | Self::BadChunkSize { .. }
            | Self::BadChunkEnd { .. } => ErrorClass::Malformed,
            Self::Unsolicited { .. } => ErrorClass::Unsolicited,
        }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClosedBeforeResponse
            | Self::TruncatedHead { .. }
            | Self::TruncatedBody { .. } => write_truncation(self, out),
            Self::HeadTooLarge { .. }
            | Self::TooManyHeaders { .. }
            | Self::ChunkLineTooLong { .. }
            | Self::TrailersTooLarge { .. } => write_breach(self, out),
            _ => write_malformation(self, out),
        }
    }
}

impl std::error::Error for WireError {}

fn write_truncation(error: &WireError, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match error {
        WireError::TruncatedHead { received, .. } => {
            write!(
                out,
                "the target closed the connection {received} bytes into the response head"
            )
        }
        WireError::TruncatedBody {
            expected: Some(expected),
            received,
        } => write!(
            out,
            "the target closed the connection after {received} of {expected} body bytes"
        ),
        WireError::TruncatedBody {
            expected: None,
            received,
        } => write!(
            out,
            "the target closed the connection after {received} body bytes, before the last chunk"
        ),
        _ => out.write_str("the target closed the connection before it sent any of the response"),
    }
}

fn write_breach(error: &WireError, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    match error {
        WireError::HeadTooLarge { limit } => {
            write!(
                out,
                "the target's response head is longer than {limit} bytes"
            )
        }
        WireError::TooManyHeaders { limit } => {
            write!(out, "the target sent more than {limit} header lines")
        }
        WireError::ChunkLineTooLong { limit } => {
            write!(
                out,
                "the target sent a chunk-size line longer than {limit} bytes"
            )
        }
        WireError::TrailersTooLarge { limit } => {
            write!(out, "the target sent trailers longer than {limit} bytes")
        }
        other => write_malformation(other, out),
    }
}

fn write_malformation(error: &WireError, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (wrong, sample) = match error {
        WireError::ConflictingContentLength { values } => {
            return write!(out, "the target sent two Content-Length values: {values}");
        }
        WireError::BadHeader { fault, sample } => {
            return write!(
                out,
                "the target sent a malformed header line ({fault}): {sample}"
            );
        }
        WireError::NotHttp { sample } => ("the target's response is not HTTP/1.x", sample),
        WireError::TlsAnswer { sample } => (
            "the target speaks TLS on this port; use https://. It answered",
            sample,
        ),
        WireError::Http2Answer { sample } => (
            "the target speaks HTTP/2 only; ask with HTTP/2. It answered",
            sample,
        ),
        WireError::UnsupportedVersion { sample } => (
            "the target answered with an HTTP version other than 1.x",
            sample,
        ),
        WireError::BadStatusLine { sample } => ("the target sent a malformed status line", sample),
        WireError::BadContentLength { sample } => {
            ("the target sent a malformed Content-Length", sample)
        }
        WireError::BadTransferEncoding { sample } => {
            ("the target sent an unsupported Transfer-Encoding", sample)
        }
        WireError::BadChunkSize { sample } => ("the target sent a malformed chunk size", sample),
        WireError::BadChunkEnd { sample } => {
            ("the target sent no line end after a chunk but", sample)
        }
        WireError::Unsolicited { sample } => {
            ("the target sent bytes that belong to no response", sample)
        }
        other => return write_truncation(other, out),
    };
    write!(out, "{wrong}: {sample}")
}

/// What is wrong with a header line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HeaderFault {
    /// The line has no colon.
    NoColon,
    /// The line starts with its colon.
    EmptyName,
    /// A byte before the colon is not allowed in a name, usually white space.
    NameByte,
    /// The line contains NUL, a CR that does not end it, or a control byte that [`Limits::values`](crate::Limits::values)
    /// forbids.
    ValueByte,
    /// The first line starts with white space, so there is no line that it could continue.
    FoldWithoutHeader,
}

impl fmt::Display for HeaderFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NoColon => "no colon",
            Self::EmptyName => "empty name",
            Self::NameByte => "a byte that may not stand in a name",
            Self::ValueByte => "a control byte",
            Self::FoldWithoutHeader => "white space before the first name",
        })
    }
}

/// The closed set of classes under which [`WireError`]s are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorClass {
    /// Closed without a response; on a kept-alive connection often a race with its timeout.
    ClosedBeforeResponse,
    /// Closed inside a response.
    Truncated,
    /// HTTP/1.x, but violates its grammar.
    Malformed,
    /// Beyond one of the [`Limits`](crate::Limits).
    TooLarge,
    /// Not HTTP/1.x: TLS, HTTP/2, HTTP/0.9 or anything else.
    WrongProtocol,
    /// Bytes outside any response.
    Unsolicited,
}

impl ErrorClass {
    /// Every class, in the order of declaration; the index is the class `as usize`.
    pub const ALL: [Self; 6] = [
        Self::ClosedBeforeResponse,
        Self::Truncated,
        Self::Malformed,
        Self::TooLarge,
        Self::WrongProtocol,
        Self::Unsolicited,
    ];

    /// A stable name in snake case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClosedBeforeResponse => "closed_before_response",
            Self::Truncated => "truncated",
            Self::Malformed => "malformed",
            Self::TooLarge => "too_large",
            Self::WrongProtocol => "wrong_protocol",
            Self::Unsolicited => "unsolicited",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_say_who_and_what() {
        let sample = Sample::of(b"\x15\x03\x01");
        let cases: [(WireError, &str); 6] = [
            (
                WireError::ClosedBeforeResponse,
                "before it sent any of the response",
            ),
            (
                WireError::TruncatedBody {
                    expected: Some(9),
                    received: 4,
                },
                "4 of 9 body bytes",
            ),
            (
                WireError::TruncatedBody {
                    expected: None,
                    received: 4,
                },
                "before the last chunk",
            ),
            (WireError::HeadTooLarge { limit: 7 }, "longer than 7 bytes"),
            (
                WireError::TlsAnswer { sample },
                r#"use https://. It answered: "\x15\x03\x01""#,
            ),
            (
                WireError::BadHeader {
                    fault: HeaderFault::NoColon,
                    sample,
                },
                r#"header line (no colon): "\x15\x03\x01""#,
            ),
        ];
        for (error, part) in cases {
            let text = error.to_string();
            assert!(text.starts_with("the target"), "{text}");
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn classes_are_numbered_in_order_and_named_apart() {
        for (place, class) in ErrorClass::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, place);
        }
        let names: std::collections::BTreeSet<_> =
            ErrorClass::ALL.iter().map(|class| class.name()).collect();
        assert_eq!(names.len(), ErrorClass::ALL.len());
    }

    #[test]
    fn an_error_stays_small() {
        assert!(size_of::<WireError>() <= 72, "{}", size_of::<WireError>());
    }
}
