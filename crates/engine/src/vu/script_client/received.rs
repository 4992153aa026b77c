//! The received part of a response, for either protocol.
//!
//! Must not know connections. Invariant: a body that nobody needs is counted by its reader and not kept.

use loadline_go::redirect::is_redirect;
use loadline_model::ErrorClass;
use loadline_script::hop::{HopHeaders, HopProtocol, PartialBody};
use loadline_wire::{Head, ResponseSink};

use crate::client::{Passing, Receiver, Wish, announced};
use crate::net::Failure;

/// Maximum bytes that are reserved because a response announces them.
const RESERVE_MAX: u64 = 1 << 20;
/// Number of fields that most responses do not exceed.
const FIELDS_USUAL: usize = 12;

/// A response so far.
#[derive(Debug, Default)]
pub(super) struct Received {
    /// Zero until a head arrived.
    pub(super) status: u16,
    pub(super) reason: Option<String>,
    pub(super) protocol: Option<HopProtocol>,
    pub(super) headers: HopHeaders,
    pub(super) body: Vec<u8>,
    /// Bytes of the body that are kept; `None`: it is not needed.
    keep_max: Option<u64>,
    passing: Passing,
}

impl Receiver for Received {
    fn http2_head(&mut self, head: &http::response::Parts) {
        self.status = head.status.as_u16();
        self.protocol = Some(HopProtocol::Http2);
        for (name, value) in &head.headers {
            self.headers
                .push(name.as_str().as_bytes(), value.as_bytes());
        }
        self.expect_body(announced(&head.headers));
    }

    #[inline]
    fn wish(&self) -> Result<Wish, Failure> {
        match self.keep_max {
            Some(most) if self.body.len() as u64 > most => Err(too_long(most)),
            _ => Ok(self.passing.wish()),
        }
    }

    fn is_content(&self) -> bool {
        self.passing.is_passed()
    }
}

#[cold]
fn too_long(most: u64) -> Failure {
    let why = format!(
        "the body is longer than {} bytes: raise --max-body, or leave it unread (responseType: 'none')",
        most
    );
    Failure::new(ErrorClass::TooLarge, why)
}

impl Received {
    /// A response whose body is kept up to a length; `None`: not at all.
    pub(super) fn new(keep_max: Option<u64>, passing: Passing) -> Received {
        Received {
            keep_max,
            passing,
            ..Received::default()
        }
    }

    /// The body as far as it arrived; `None` without a head.
    pub(super) fn into_partial_body(self) -> Option<PartialBody> {
        let encoding = self.headers.get("Content-Encoding").map(<[u8]>::to_vec);
        (self.status != 0).then_some(PartialBody {
            bytes: self.body,
            encoding,
        })
    }

    /// Makes room for a body that is announced.
    #[inline]
    fn expect_body(&mut self, length: Option<u64>) {
        if is_redirect(self.status) {
            let location = self.headers.get("Location");
            self.passing.head(self.status, location, length);
        }
        if let Some(length) = length
            && self.keep_max.is_some()
        {
            self.body.reserve_exact(length.min(RESERVE_MAX) as usize);
        }
    }
}

impl ResponseSink for Received {
    #[inline]
    fn head(&mut self, head: &Head<'_>) {
        self.status = head.status();
        self.reason = head
            .reason()
            .map(|reason| String::from_utf8_lossy(reason).into_owned());
        self.protocol = Some(match head.minor_version() {
            0 => HopProtocol::Http10,
            _ => HopProtocol::Http11,
        });
        self.headers.block.reserve_exact(head.wire_len());
        self.headers.fields.reserve_exact(FIELDS_USUAL);
        for (name, value) in head.headers() {
            self.headers.push(name, value);
        }
        self.expect_body(head.content_length());
    }

    #[inline]
    fn body(&mut self, piece: &[u8]) {
        self.passing.body(piece);
        if self.keep_max.is_some() {
            self.body.extend_from_slice(piece);
        }
    }
}
