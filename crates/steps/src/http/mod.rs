//! HTTP samplers: what is sent, and what comes of the answer, without a socket.
//!
//! Must not know connections. Invariant: a run ends with one sample, whatever the answers are.

mod body;
mod cookies;
mod run;
mod url;

pub use cookies::{CookieManager, PresetCookie};
pub use run::{HttpMemory, HttpRun, HttpStep};

use crate::text::Text;

/// A request as the plan has it, defaults merged in.
#[derive(Debug, Default)]
pub struct HttpRequestPlan {
    /// `http` or `https`; empty: `http`.
    pub protocol: Text,
    /// Host.
    pub domain: Text,
    /// Port; empty: the protocol's.
    pub port: Text,
    /// Path, or a whole URL.
    pub path: Text,
    /// Method; empty: `GET`.
    pub method: Text,
    /// Encoding of arguments and bodies; empty: UTF-8.
    pub encoding: Text,
    /// Milliseconds; empty or 0: no limit.
    pub connect_timeout: Text,
    /// Milliseconds; empty or 0: no limit.
    pub response_timeout: Text,
    /// Arguments, those of defaults behind the sampler's own.
    pub arguments: Vec<HttpArgument>,
    /// Whether the arguments' values are the body as it is.
    pub raw_body: bool,
    /// Whether a form goes as multipart.
    pub multipart: bool,
    /// Whether the parts of a form say no more than their name.
    pub browser_compatible: bool,
    /// Files that are sent.
    pub files: Vec<HttpFile>,
    /// Whether redirects are followed, each with a sample of its own.
    pub follow_redirects: bool,
    /// Whether redirects are followed without samples of their own.
    pub auto_redirects: bool,
    /// Whether the connection is kept.
    pub keep_alive: bool,
}

/// What an HTTP sampler sends, and what it keeps with other samplers.
#[derive(Debug, Default)]
pub struct HttpSamplerPlan {
    /// The request, defaults merged in.
    pub request: HttpRequestPlan,
    /// Header fields of all managers in scope, merged.
    pub headers: Vec<HeaderField>,
    /// The cookie manager; `None`: cookies are ignored.
    pub cookies: Option<std::sync::Arc<CookieManager>>,
    /// Users and passwords by URL.
    pub authorizations: Vec<std::sync::Arc<Authorization>>,
}

/// An argument of a request.
#[derive(Debug, Default)]
pub struct HttpArgument {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: Text,
    /// Whether it is encoded, or sent as typed.
    pub encode: bool,
    /// What stands between name and value: `=`, or nothing.
    pub equals: &'static str,
    /// The content type of its part; empty: text.
    pub content_type: Text,
}

/// A file that is sent.
#[derive(Debug, Default)]
pub struct HttpFile {
    /// The file.
    pub path: Text,
    /// The parameter; empty: the file is the body.
    pub parameter: Text,
    /// Its content type.
    pub content_type: Text,
}

/// A header field of a request.
#[derive(Clone, Debug)]
pub struct HeaderField {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: Text,
}

/// A user and password for URLs that begin with a prefix.
#[derive(Debug)]
pub struct Authorization {
    /// The prefix.
    pub url: Text,
    /// The user.
    pub user: Text,
    /// The password.
    pub password: Text,
}

/// One exchange that is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpAsk {
    /// `http` or `https`.
    pub scheme: String,
    /// Host without brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// All header fields, in their order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Limit for making a connection, in milliseconds; `None`: none.
    pub connect_timeout_ms: Option<u64>,
    /// Longest silence while an answer is awaited, in milliseconds; `None`: no limit.
    pub response_timeout_ms: Option<u64>,
    /// Whether the connection may be used again.
    pub keep_alive: bool,
    /// Whether connections kept from before are closed first: it is another user now.
    pub anew: bool,
}

/// What came of an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// When it began: milliseconds since 1970.
    pub start_ms: i64,
    /// From its start to its end.
    pub elapsed_ms: u64,
    /// From its start to the first byte of the answer.
    pub latency_ms: u64,
    /// How long connecting took; zero where a connection was used again.
    pub connect_ms: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// The answer.
    pub reply: Result<HttpReply, HttpFault>,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpReply {
    /// Status.
    pub status: u16,
    /// What stands behind the status.
    pub reason: String,
    /// Header fields, in their order.
    pub headers: Vec<(String, String)>,
    /// Bytes of the head on the wire.
    pub header_bytes: u64,
    /// Bytes of the body on the wire.
    pub body_bytes: u64,
    /// The decoded body.
    pub body: Vec<u8>,
}

impl HttpReply {
    /// The first header field of a name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.headers.iter();
        let field = fields.find(|(field, _)| field.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.as_str())
    }
}

/// Why there is no answer, in Java's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpFault {
    /// The class of the exception.
    pub class: String,
    /// Its message.
    pub message: String,
}

/// Whether nothing is written.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
