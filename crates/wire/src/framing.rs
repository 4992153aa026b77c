//! Decides how a body is delimited and whether the connection lives on (RFC 9112 §6.3, §9.3).
//!
//! It must not know the bytes of the body. Invariant: a message whose framing is in any doubt
//! never leaves the connection for reuse.

use crate::chars::{decimal, trim_blanks};
use crate::error::WireError;
use crate::sample::Sample;
use crate::scan::RawHead;

/// What was asked, as far as it changes the shape of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// Any method but the two below.
    Normal,
    /// HEAD: no answer has a body.
    Head,
    /// CONNECT: a 2xx answer turns the connection into a tunnel.
    Connect,
}

impl RequestKind {
    /// The kind of a request with this method; methods are case-sensitive.
    #[must_use]
    pub fn of(method: &str) -> Self {
        match method {
            "HEAD" => Self::Head,
            "CONNECT" => Self::Connect,
            _ => Self::Normal,
        }
    }
}

/// How a response body is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Framing {
    /// There is no body, whatever the headers say: HEAD, 1xx, 204, 304.
    Empty,
    /// Exactly this many bytes.
    Length(u64),
    /// Chunked transfer coding.
    Chunked,
    /// Everything until the connection closes.
    UntilClose,
    /// HTTP ends here: 101, or 2xx to CONNECT.
    Tunnel,
}

/// What may be done with the connection after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reuse {
    /// Send the next request on it.
    KeepAlive,
    /// Close it.
    Close,
    /// It speaks another protocol now; bytes left over belong to that.
    Tunnel,
}

/// What the header lines say that matters to framing, and the content type on the way.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Facts<'a> {
    pub(crate) content_type: Option<&'a [u8]>,
    pub(crate) length: LengthField<'a>,
    transfer: TransferField,
    close: bool,
    keep_alive: bool,
}

/// The Content-Length lines seen so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum LengthField<'a> {
    #[default]
    Absent,
    Value(u64),
    Bad(&'a [u8]),
    Conflict(u64, u64),
}

impl LengthField<'_> {
    pub(crate) fn value(self) -> Option<u64> {
        match self {
            Self::Value(length) => Some(length),
            Self::Absent | Self::Bad(_) | Self::Conflict(..) => None,
        }
    }
}

/// The transfer codings named so far, in order; `identity` names none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum TransferField {
    #[default]
    Absent,
    /// Chunked, once and last.
    Chunked,
    /// Chunked last, but named before as well. Two layers of a service that each add the header
    /// are commoner than two layers of chunks, so one layer is taken off.
    ChunkedTwice,
    /// Something else is last.
    Other,
}

impl<'a> Facts<'a> {
    /// Takes note of one header line.
    #[inline]
    pub(crate) fn note(&mut self, name: &[u8], value: &'a [u8]) {
        match name.len() {
            10 if name.eq_ignore_ascii_case(b"connection") => self.note_connection(value),
            12 if name.eq_ignore_ascii_case(b"content-type") => {
                self.content_type.get_or_insert(value);
            }
            14 if name.eq_ignore_ascii_case(b"content-length") => self.note_length(value),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => self.note_transfer(value),
            _ => {}
        }
    }

    fn note_connection(&mut self, value: &[u8]) {
        for option in list(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn note_length(&mut self, value: &'a [u8]) {
        for item in list(value) {
            self.length = match (self.length, decimal(item)) {
                (LengthField::Absent, Some(length)) => LengthField::Value(length),
                (LengthField::Value(first), Some(second)) if first != second => {
                    LengthField::Conflict(first, second)
                }
                (LengthField::Absent | LengthField::Value(_), None) => LengthField::Bad(value),
                (settled, _) => settled,
            };
        }
    }

    fn note_transfer(&mut self, value: &[u8]) {
        for item in list(value) {
            let coding = item.split(|&byte| byte == b';').next().unwrap_or(item);
            let coding = trim_blanks(coding);
            if coding.is_empty() || coding.eq_ignore_ascii_case(b"identity") {
                continue;
            }
            let chunked = coding.eq_ignore_ascii_case(b"chunked");
            self.transfer = match self.transfer {
                TransferField::Chunked | TransferField::ChunkedTwice if chunked => {
                    TransferField::ChunkedTwice
                }
                _ if chunked => TransferField::Chunked,
                _ => TransferField::Other,
            };
        }
    }
}

/// Elements of a comma-separated list without the white space around them.
fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(trim_blanks)
}

/// Whether a status is interim: another response to the same request follows.
pub(crate) fn is_interim(status: u16) -> bool {
    (100..200).contains(&status) && status != 101
}

/// The framing of a final response and what becomes of the connection, by the order of
/// RFC 9112 §6.3.
///
/// # Errors
/// A Content-Length that is malformed or contradicts itself, when it would delimit the body.
#[inline]
pub(crate) fn decide(head: &RawHead<'_>, kind: RequestKind) -> Result<(Framing, Reuse), WireError> {
    let facts = &head.facts;
    if is_tunnel(head.status, kind) {
        return Ok((Framing::Tunnel, Reuse::Tunnel));
    }
    let persistent = !facts.close && (head.minor >= 1 || facts.keep_alive);
    if kind == RequestKind::Head || matches!(head.status, 204 | 304) {
        return Ok((Framing::Empty, reuse(persistent)));
    }
    match (facts.transfer, facts.length) {
        (TransferField::Absent, LengthField::Value(length)) => {
            Ok((Framing::Length(length), reuse(persistent)))
        }
        (TransferField::Absent, LengthField::Absent) | (TransferField::Other, _) => {
            Ok((Framing::UntilClose, Reuse::Close))
        }
        (TransferField::Absent, LengthField::Bad(value)) => Err(WireError::BadContentLength {
            sample: Sample::of(value),
        }),
        (TransferField::Absent, LengthField::Conflict(first, second)) => {
            Err(WireError::ConflictingContentLength { first, second })
        }
        // HTTP/1.0 has no chunks: RFC 9112 §6.1 calls such framing faulty.
        (TransferField::Chunked, LengthField::Absent) if head.minor >= 1 => {
            Ok((Framing::Chunked, reuse(persistent)))
        }
        (TransferField::Chunked | TransferField::ChunkedTwice, _) => {
            Ok((Framing::Chunked, Reuse::Close))
        }
    }
}

fn is_tunnel(status: u16, kind: RequestKind) -> bool {
    status == 101 || (kind == RequestKind::Connect && (200..300).contains(&status))
}

fn reuse(persistent: bool) -> Reuse {
    if persistent {
        Reuse::KeepAlive
    } else {
        Reuse::Close
    }
}
