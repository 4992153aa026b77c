//! One HTTP exchange as a script's client asks for it, and what comes back.
//!
//! Redirects, cookies, authentication, content codings and metrics lie in front of it, in
//! `modules::http`. Must not know sockets. Invariant: what is here can be sent
//! to another thread or made up by a test.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
pub use loadline_metric::HttpTimes as HopTimes;
use loadline_model::url::Origin;
use loadline_model::{ErrorClass, Nanos};

/// One request to send over some connection of the virtual user.
#[derive(Clone, Debug)]
pub struct HopRequest {
    /// Method as it is to be sent.
    pub method: Arc<str>,
    /// Scheme, host and port.
    pub origin: Arc<Origin>,
    /// Path and query, or `*`.
    pub target: String,
    /// Fields in the order in which they are to be sent; `Host` and `User-Agent` are among them,
    /// framing (`Content-Length`, `Transfer-Encoding`) is not.
    pub headers: Vec<(Arc<str>, String)>,
    /// The body; `None` sends no `Content-Length`, an empty one sends zero.
    pub body: Option<Bytes>,
    /// When the answer must be complete, if nothing holds the request back.
    pub deadline: Nanos,
    /// Whether an answer led here: a limit of requests per second counts what the script asked for.
    pub follows: bool,
    /// Whether the body of the answer is kept; else it is read and forgotten.
    pub keep_body: bool,
    /// Whether a redirect is followed without a look at its body.
    pub leads_on: bool,
}

/// The version of HTTP that was spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HopProtocol {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2.
    Http2,
}

impl HopProtocol {
    /// As k6 writes it in `res.proto` and the tag `proto`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            HopProtocol::Http10 => "HTTP/1.0",
            HopProtocol::Http11 => "HTTP/1.1",
            HopProtocol::Http2 => "HTTP/2.0",
        }
    }
}

/// What TLS agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopTls {
    /// `tls1.2` or `tls1.3`.
    pub version: &'static str,
    /// Name of the cipher suite, as Go spells it (`TLS_AES_128_GCM_SHA256`).
    pub cipher_suite: &'static str,
}

/// Header fields as they were received: one block of bytes, and where names and values lie in it.
#[derive(Clone, Debug, Default)]
pub struct HopHeaders {
    /// The bytes.
    pub block: Vec<u8>,
    /// Name and value of each field, in the order of the wire.
    pub fields: Vec<(Range<u32>, Range<u32>)>,
}

impl HopHeaders {
    /// Adds a field.
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        let name = self.append(name);
        let value = self.append(value);
        self.fields.push((name, value));
    }

    /// The fields in the order of the wire.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.fields
            .iter()
            .map(|(name, value)| (self.slice(name), self.slice(value)))
    }

    /// The first value of a field; its name is matched without regard to case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.iter()
            .find(|(other, _)| other.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| value)
    }

    fn append(&mut self, bytes: &[u8]) -> Range<u32> {
        let start = self.block.len() as u32;
        self.block.extend_from_slice(bytes);
        start..self.block.len() as u32
    }

    fn slice(&self, range: &Range<u32>) -> &[u8] {
        &self.block[range.start as usize..range.end as usize]
    }
}

/// A complete answer.
#[derive(Clone, Debug)]
pub struct HopAnswer {
    /// Status code.
    pub status: u16,
    /// Reason phrase as received, its blanks too; `None` where not even a space follows the status, and over HTTP/2.
    pub reason: Option<String>,
    /// Version of HTTP.
    pub protocol: HopProtocol,
    /// Header fields.
    pub headers: HopHeaders,
    /// The body as it was on the wire, its content coding not undone; empty when not kept.
    pub body: Vec<u8>,
    /// The other end; `None` when it is not an internet address.
    pub remote: Option<SocketAddr>,
    /// `None` without TLS.
    pub tls: Option<HopTls>,
    /// Where the time went.
    pub times: HopTimes,
    /// When the last byte came.
    pub done_at: Nanos,
    /// Bytes of the request as it was sent; of HTTP/2 before its head was packed.
    pub sent_bytes: u64,
}

/// Why there is no complete answer.
#[derive(Clone, Debug)]
pub struct HopFailure {
    /// Whose doing it is, decided where it happened.
    pub class: ErrorClass,
    /// k6's error code, 1000 to 1701.
    pub code: u16,
    /// The value of the tag `error`: the same for all failures of a kind.
    pub tag: String,
    /// What happened, in Go's words, without method and URL
    /// (`dial tcp 127.0.0.1:1: connect: connection refused`).
    pub detail: String,
    /// Version of HTTP, if it came to that.
    pub protocol: Option<HopProtocol>,
    /// The other end, if it came to that.
    pub remote: Option<SocketAddr>,
    /// What TLS agreed on, if it came to that.
    pub tls: Option<HopTls>,
    /// Where the time went until then.
    pub times: HopTimes,
    /// When it failed.
    pub done_at: Nanos,
    /// The body as far as it came, when the failure came after the head: k6 gives it to the script,
    /// and logs such a failure without method and URL. `None` without a head.
    pub partial_body: Option<Vec<u8>>,
}

/// What came of a hop.
pub type HopOutcome = Result<HopAnswer, HopFailure>;
