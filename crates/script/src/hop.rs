//! One HTTP exchange as requested by a script's client, and its result.
//!
//! Redirects, cookies, authentication, content codings and metrics are handled in `modules::http`. Must not
//! know sockets. Invariant: these types can be sent to another thread or built by a test.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
pub use loadline_metric::HttpTimes as HopTimes;
use loadline_model::url::Origin;
use loadline_model::{ErrorClass, Nanos};

/// One request, to be sent on any connection of the virtual user.
#[derive(Clone, Debug)]
pub struct HopRequest {
    /// Method to send.
    pub method: Arc<str>,
    /// Scheme, host and port.
    pub origin: Arc<Origin>,
    /// Path and query, or `*`.
    pub target: String,
    /// Fields in the order in which they are sent, including `Host` and `User-Agent`, without framing
    /// (`Content-Length`, `Transfer-Encoding`).
    pub headers: Vec<(Arc<str>, String)>,
    /// The body; `None` sends no `Content-Length`, an empty one sends zero.
    pub body: Option<Bytes>,
    /// Deadline for the complete response, unless the request is delayed by a limit.
    pub deadline: Nanos,
    /// Whether a response caused this request: a limit of requests per second only counts those of the script.
    pub follows: bool,
    /// Whether to keep the response body; otherwise it is read and discarded.
    pub keep_body: bool,
    /// Whether a redirect is followed without a look at its body.
    pub leads_on: bool,
}

/// The HTTP version in use.
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
    /// As k6 writes it in `res.proto` and in the `proto` tag.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            HopProtocol::Http10 => "HTTP/1.0",
            HopProtocol::Http11 => "HTTP/1.1",
            HopProtocol::Http2 => "HTTP/2.0",
        }
    }
}

/// The negotiated TLS parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopTls {
    /// `tls1.2` or `tls1.3`.
    pub version: &'static str,
    /// Name of the cipher suite, as Go spells it (`TLS_AES_128_GCM_SHA256`).
    pub cipher_suite: &'static str,
}

/// Header fields as received: one block of bytes, and the positions of names and values in it.
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

    /// The first value of a field; its name is case-insensitive.
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

/// A complete response.
#[derive(Clone, Debug)]
pub struct HopAnswer {
    /// Status code.
    pub status: u16,
    /// Reason phrase as received, including blanks; `None` if not even a space follows the status, and for
    /// HTTP/2.
    pub reason: Option<String>,
    /// Version of HTTP.
    pub protocol: HopProtocol,
    /// Header fields.
    pub headers: HopHeaders,
    /// The body as received, with its content coding; empty if not kept.
    pub body: Vec<u8>,
    /// The peer's address; `None` if it is not an internet address.
    pub remote: Option<SocketAddr>,
    /// `None` without TLS.
    pub tls: Option<HopTls>,
    /// Where the time went.
    pub times: HopTimes,
    /// When the last byte arrived.
    pub done_at: Nanos,
    /// Bytes of the request as sent; for HTTP/2 before header compression.
    pub sent_bytes: u64,
}

/// Why there is no complete response.
#[derive(Clone, Debug)]
pub struct HopFailure {
    /// The error class, determined where the error occurred.
    pub class: ErrorClass,
    /// k6's error code, 1000 to 1701.
    pub code: u16,
    /// The value of the `error` tag: the same for all failures of a kind.
    pub tag: String,
    /// The error in Go's words, without method and URL (`dial tcp 127.0.0.1:1: connect: connection refused`).
    pub detail: String,
    /// HTTP version, if known.
    pub protocol: Option<HopProtocol>,
    /// The peer's address, if known.
    pub remote: Option<SocketAddr>,
    /// The negotiated TLS parameters, if any.
    pub tls: Option<HopTls>,
    /// Timings up to the failure.
    pub times: HopTimes,
    /// When it failed.
    pub done_at: Nanos,
    /// The body received so far, if the failure came after the head: k6 passes it to the script, and logs such
    /// a failure without method and URL. `None` without a head.
    pub partial_body: Option<PartialBody>,
}

/// A body that broke off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialBody {
    /// As received, with its content coding; empty if not kept.
    pub bytes: Vec<u8>,
    /// The value of `Content-Encoding`; `None` without one.
    pub encoding: Option<Vec<u8>>,
}

/// The result of a hop.
pub type HopOutcome = Result<HopAnswer, HopFailure>;
