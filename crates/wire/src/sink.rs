//! Where the parts of a response go.
//!
//! It must not know how they were framed. Invariant: the order of calls is `interim`*, `head`,
//! `body`*, `trailers`?; no call has an empty body piece.

use crate::head::{Fields, Head};

/// Receives the parts of one response while its bytes are parsed.
pub trait ResponseSink {
    /// An interim response (1xx other than 101), such as 100 Continue or 103 Early Hints.
    fn interim(&mut self, _head: &Head<'_>) {}

    /// The final head. Whatever is wanted of it must be taken now: it borrows the input.
    fn head(&mut self, head: &Head<'_>);

    /// A piece of the body, without chunk framing. Pieces follow the caller's reads and mean
    /// nothing by themselves; none is empty.
    fn body(&mut self, piece: &[u8]);

    /// The trailers of a chunked body, called only when there are any.
    fn trailers(&mut self, _fields: Fields<'_>) {}
}

/// Keeps the status and the length of the body and throws the rest away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Discard {
    /// The status of the last final head; `None` until one came.
    pub status: Option<u16>,
    /// Body bytes of all responses since this value was made, chunk framing not counted.
    pub body_bytes: u64,
}

impl ResponseSink for Discard {
    #[inline]
    fn head(&mut self, head: &Head<'_>) {
        self.status = Some(head.status());
    }

    #[inline]
    fn body(&mut self, piece: &[u8]) {
        self.body_bytes += piece.len() as u64;
    }
}
