//! Where the parts of a response go.
//!
//! It must not know how they were framed. Invariant: the order of calls is `interim`*, `head`, `body`*,
//! `trailers`?; no call has an empty body piece.

use crate::head::{Fields, Head};

/// Receives the parts of one response while its bytes are parsed.
pub trait ResponseSink {
    /// An interim response (1xx other than 101), such as 100 Continue or 103 Early Hints.
    fn interim(&mut self, _head: &Head<'_>) {}

    /// The final head. Whatever is wanted of it must be taken now: it borrows the input.
    fn head(&mut self, head: &Head<'_>);

    /// A piece of the body, without chunk framing. Pieces follow the caller's reads and have no meaning of
    /// their own; none is empty.
    fn body(&mut self, piece: &[u8]);

    /// The trailers of a chunked body; called only if there are any.
    fn trailers(&mut self, _fields: Fields<'_>) {}
}

/// Stores the status and the length of the body and discards the rest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Discard {
    /// The status of the last final head; `None` before the first one.
    pub status: Option<u16>,
    /// Body bytes of all responses so far, without chunk framing.
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
