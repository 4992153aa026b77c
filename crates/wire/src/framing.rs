//! Decides how a body is delimited and whether the connection stays open (RFC 9112 §6.3, §9.3).
//!
//! It must not know the bytes of the body. Invariant: an ambiguous head is read in one way by rule, or refused;
//! the bytes of the body never decide.

use crate::chars::{decimal, trim_blanks};
use crate::error::WireError;
use crate::limits::Codings;
use crate::sample::{Sample, TwoValues};
use crate::scan::RawHead;

/// The longest body that can be announced, in bytes: Go's limit, and that of any reader with signed 64-bit
/// numbers.
const LENGTH_MAX: u64 = i64::MAX as u64;

/// The kind of request, as far as it affects the form of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// Any other method.
    Normal,
    /// HEAD: no response has a body.
    Head,
    /// CONNECT: a 2xx response turns the connection into a tunnel.
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
    /// No body, whatever the headers say: HEAD, 1xx, 204, 304.
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

/// What can be done with the connection after a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reuse {
    /// Send the next request on it.
    KeepAlive,
    /// Close it.
    Close,
    /// It uses another protocol now; remaining bytes belong to that.
    Tunnel,
}

/// The header values that matter for framing, and the content type.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Facts<'a> {
    pub(crate) content_type: Option<&'a [u8]>,
    pub(crate) length: LengthField<'a>,
    /// The text of the first Content-Length line, while lines may follow.
    length_text: &'a [u8],
    /// The last Content-Length line that is a number, whatever the others are; `None`: there is none, or a negative one.
    last_length: Option<u64>,
    transfer: TransferField<'a>,
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
    Conflict(&'a [u8], &'a [u8]),
}

impl LengthField<'_> {
    /// The length, if there is one.
    ///
    /// # Errors
    /// It is malformed or contradictory.
    #[inline]
    fn checked(self) -> Result<Option<u64>, WireError> {
        match self {
            Self::Absent => Ok(None),
            Self::Value(length) => Ok(Some(length)),
            Self::Bad(value) => Err(WireError::BadContentLength {
                sample: Sample::of(value),
            }),
            Self::Conflict(first, second) => Err(WireError::ConflictingContentLength {
                values: TwoValues::of(first, second),
            }),
        }
    }

    pub(crate) fn value(self) -> Option<u64> {
        match self {
            Self::Value(length) => Some(length),
            Self::Absent | Self::Bad(_) | Self::Conflict(..) => None,
        }
    }
}

/// The Transfer-Encoding lines seen so far.
#[derive(Debug, Clone, Copy, Default)]
enum TransferField<'a> {
    #[default]
    Absent,
    /// Only `chunked`, in a single line.
    Chunked,
    /// Anything else: the last line, and the last coding in any of them.
    Odd { value: &'a [u8], last: LastCoding },
}

/// The last transfer coding that was named; `identity` does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastCoding {
    None,
    Chunked,
    Other,
}

impl TransferField<'_> {
    fn last(self) -> LastCoding {
        match self {
            Self::Absent => LastCoding::None,
            Self::Chunked => LastCoding::Chunked,
            Self::Odd { last, .. } => last,
        }
    }
}

impl<'a> Facts<'a> {
    /// The same without a content type and without anything else that is borrowed; `None` if a length or a coding is
    /// not as it should be.
    pub(crate) fn unborrowed(&self) -> Option<Facts<'static>> {
        let length = match self.length {
            LengthField::Absent => LengthField::Absent,
            LengthField::Value(length) => LengthField::Value(length),
            LengthField::Bad(_) | LengthField::Conflict(..) => return None,
        };
        let transfer = match self.transfer {
            TransferField::Absent => TransferField::Absent,
            TransferField::Chunked => TransferField::Chunked,
            TransferField::Odd { .. } => return None,
        };
        Some(Facts {
            content_type: None,
            length,
            length_text: b"",
            transfer,
            last_length: self.last_length,
            close: self.close,
            keep_alive: self.keep_alive,
        })
    }

    /// The same once no more lines follow.
    #[inline]
    pub(crate) fn settled(self) -> Self {
        Self {
            length_text: b"",
            ..self
        }
    }

    /// Records one header line.
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
        let length = decimal(value).filter(|&length| length <= LENGTH_MAX);
        self.last_length = match length {
            Some(_) => length,
            None => signed_length(value, self.last_length),
        };
        // Lines agree if their text does, as in Go: `2` and `02` may be two messages to two readers.
        self.length = match (self.length, length) {
            (LengthField::Absent, length) => {
                self.length_text = value;
                length.map_or(LengthField::Bad(value), LengthField::Value)
            }
            (LengthField::Value(_) | LengthField::Bad(_), _) if value != self.length_text => {
                LengthField::Conflict(self.length_text, value)
            }
            (settled, _) => settled,
        };
    }

    fn note_transfer(&mut self, value: &'a [u8]) {
        self.transfer = match self.transfer {
            TransferField::Absent if value.eq_ignore_ascii_case(b"chunked") => {
                TransferField::Chunked
            }
            before => TransferField::Odd {
                value,
                last: last_coding(before.last(), value),
            },
        };
    }
}

/// A length with a sign, as Java reads numbers; `before` if it is no number.
#[cold]
fn signed_length(value: &[u8], before: Option<u64>) -> Option<u64> {
    let number = std::str::from_utf8(value).ok();
    match number.and_then(|number| number.parse::<i64>().ok()) {
        Some(number) => u64::try_from(number).ok(),
        None => before,
    }
}

/// The last coding of a line, if the lines before it ended with `before`.
#[cold]
fn last_coding(before: LastCoding, value: &[u8]) -> LastCoding {
    list(value).fold(before, |last, item| {
        let coding = item.split(|&byte| byte == b';').next().unwrap_or(item);
        match trim_blanks(coding) {
            b"" => last,
            coding if coding.eq_ignore_ascii_case(b"identity") => last,
            coding if coding.eq_ignore_ascii_case(b"chunked") => LastCoding::Chunked,
            _ => LastCoding::Other,
        }
    })
}

/// Elements of a comma-separated list, without surrounding white space.
fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(trim_blanks)
}

/// Whether a status is interim: another response to the same request follows.
pub(crate) fn is_interim(status: u16) -> bool {
    (100..200).contains(&status) && status != 101
}

/// The framing of a final response and the reuse of the connection, by the order of RFC 9112 §6.3; where the
/// RFC leaves a choice, as in Go.
///
/// # Errors
/// A malformed or contradictory Content-Length, and an unsupported transfer coding.
#[inline]
pub(crate) fn decide(
    head: &RawHead<'_>,
    kind: RequestKind,
    codings: Codings,
) -> Result<(Framing, Reuse), WireError> {
    let facts = &head.facts;
    if is_tunnel(head.status, kind) {
        return Ok((Framing::Tunnel, Reuse::Tunnel));
    }
    let length = match codings {
        Codings::ChunkedAlone => facts.length.checked()?,
        Codings::ByTheLast => facts.last_length,
    };
    let persistent = !facts.close && (head.minor >= 1 || facts.keep_alive);
    let last = match facts.transfer {
        TransferField::Absent => LastCoding::None,
        // HTTP/1.0 has no transfer codings.
        _ if head.minor == 0 && codings == Codings::ChunkedAlone => LastCoding::None,
        TransferField::Chunked => LastCoding::Chunked,
        TransferField::Odd { value, last } => odd_coding(value, last, codings)?,
    };
    if kind == RequestKind::Head || matches!(head.status, 204 | 304) {
        return Ok((Framing::Empty, reuse(persistent)));
    }
    Ok(match (last, length) {
        (LastCoding::None, Some(length)) => (Framing::Length(length), reuse(persistent)),
        (LastCoding::None, None) | (LastCoding::Other, _) => (Framing::UntilClose, Reuse::Close),
        // Chunked takes precedence over a length, as in Go and curl.
        (LastCoding::Chunked, _) => (Framing::Chunked, reuse(persistent)),
    })
}

#[cold]
fn odd_coding(value: &[u8], last: LastCoding, codings: Codings) -> Result<LastCoding, WireError> {
    match codings {
        Codings::ByTheLast => Ok(last),
        Codings::ChunkedAlone => Err(WireError::BadTransferEncoding {
            sample: Sample::of(value),
        }),
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
