//! Builds the head of a request: request line, header lines, blank line.
//!
//! It must not know URLs, bodies or connections. Invariant: [`RequestHead::finish`] returns one well-formed
//! head, whatever the input; no input can inject a line.

use std::fmt;
use std::io::Write as _;

use crate::chars::{decimal, is_token};
use crate::sample::Sample;

/// The four forms of a request target (RFC 9112 §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestTarget<'a> {
    /// Path and query, such as `/a?b=c`: sent to servers.
    Origin(&'a str),
    /// A whole URL: sent to proxies, except with CONNECT.
    Absolute(&'a str),
    /// `host:port`, only with CONNECT.
    Authority(&'a str),
    /// `*`, only with OPTIONS.
    Asterisk,
}

impl<'a> RequestTarget<'a> {
    fn text(self) -> &'a str {
        match self {
            Self::Origin(text) | Self::Absolute(text) | Self::Authority(text) => text,
            Self::Asterisk => "*",
        }
    }

    fn check(self, method: &str) -> Result<(), TargetFault> {
        let text = self.text();
        if text.is_empty() {
            return Err(TargetFault::Empty);
        }
        if !text
            .bytes()
            .all(|byte| (byte.is_ascii_graphic() && byte != b'#') || byte >= 0x80)
        {
            return Err(TargetFault::Byte);
        }
        let well_formed = match self {
            Self::Origin(path) => path.starts_with('/'),
            Self::Absolute(url) => url.contains("://"),
            Self::Authority(authority) => is_host_with_port(authority),
            Self::Asterisk => true,
        };
        if !well_formed {
            return Err(TargetFault::Form);
        }
        let fits = match self {
            Self::Authority(_) => method == "CONNECT",
            Self::Asterisk => method == "OPTIONS",
            Self::Origin(_) | Self::Absolute(_) => method != "CONNECT",
        };
        if fits {
            Ok(())
        } else {
            Err(TargetFault::Method)
        }
    }
}

/// A request head under construction. The first mistake is stored and returned by [`finish`](Self::finish), so
/// calls can be chained.
#[derive(Debug)]
pub struct RequestHead {
    bytes: Vec<u8>,
    mistake: Option<RequestError>,
    host: bool,
    content_length: bool,
    transfer_encoding: bool,
}

impl RequestHead {
    /// Starts an HTTP/1.1 request.
    #[must_use]
    pub fn new(method: &str, target: RequestTarget<'_>) -> Self {
        Self::reusing(Vec::new(), method, target)
    }

    /// Like [`new`](Self::new), but reuses the memory of `buffer`, whose content is discarded.
    #[must_use]
    pub fn reusing(mut buffer: Vec<u8>, method: &str, target: RequestTarget<'_>) -> Self {
        buffer.clear();
        let mistake = check_line(method, target).err();
        if mistake.is_none() {
            for part in [method, " ", target.text(), " HTTP/1.1\r\n"] {
                buffer.extend_from_slice(part.as_bytes());
            }
        }
        Self {
            bytes: buffer,
            mistake,
            host: false,
            content_length: false,
            transfer_encoding: false,
        }
    }

    /// Adds `Host`: a host, followed by the port if it is not the scheme's default.
    #[must_use]
    pub fn host(self, host: &str) -> Self {
        self.header("Host", host)
    }

    /// Adds `Content-Length` in bytes.
    #[must_use]
    pub fn content_length(self, length: u64) -> Self {
        // 20 digits hold any `u64`.
        let mut digits = [0; 20];
        let mut unwritten = &mut digits[..];
        write!(unwritten, "{length}").expect("twenty bytes hold any u64");
        let free = unwritten.len();
        let used = digits.len() - free;
        self.header("Content-Length", &digits[..used])
    }

    /// Adds `Transfer-Encoding: chunked`. The body is then sent with [`chunk_header`](crate::chunk_header)s.
    #[must_use]
    pub fn chunked(self) -> Self {
        self.header("Transfer-Encoding", "chunked")
    }

    /// Adds a header line. Name and value are sent as given; lines keep the order of the calls.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        if self.mistake.is_none() {
            self.mistake = self.push(name, value.as_ref()).err();
        }
        self
    }

    /// The bytes of the head with its closing blank line.
    ///
    /// # Errors
    /// The first input that cannot be sent, or a head without `Host`, or one with two ways to delimit its body.
    pub fn finish(mut self) -> Result<Vec<u8>, RequestError> {
        if let Some(mistake) = self.mistake {
            return Err(mistake);
        }
        if !self.host {
            return Err(RequestError::MissingHost);
        }
        if self.content_length && self.transfer_encoding {
            return Err(RequestError::LengthAndTransferEncoding);
        }
        self.bytes.extend_from_slice(b"\r\n");
        Ok(self.bytes)
    }

    fn push(&mut self, name: &str, value: &[u8]) -> Result<(), RequestError> {
        if !is_token(name.as_bytes()) {
            return Err(RequestError::HeaderName {
                name: Sample::of(name.as_bytes()),
            });
        }
        let sample = Sample::of(name.as_bytes());
        if let Some(at) = value.iter().position(|&byte| !is_value_byte(byte)) {
            return Err(RequestError::HeaderValue {
                name: sample,
                byte: value[at],
                at,
            });
        }
        self.note(name, value)?;
        for part in [name.as_bytes(), b": ", value, b"\r\n"] {
            self.bytes.extend_from_slice(part);
        }
        Ok(())
    }

    /// Checks headers that may occur only once and matter for the message itself.
    fn note(&mut self, name: &str, value: &[u8]) -> Result<(), RequestError> {
        let (seen, valid, name) = if name.eq_ignore_ascii_case("host") {
            (&mut self.host, is_host(value), "Host")
        } else if name.eq_ignore_ascii_case("content-length") {
            (
                &mut self.content_length,
                decimal(value).is_some(),
                "Content-Length",
            )
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            (
                &mut self.transfer_encoding,
                !value.is_empty(),
                "Transfer-Encoding",
            )
        } else {
            return Ok(());
        };
        if std::mem::replace(seen, true) {
            return Err(RequestError::Repeated { name });
        }
        if !valid {
            return Err(RequestError::Unusable {
                name,
                value: Sample::of(value),
            });
        }
        Ok(())
    }
}

fn check_line(method: &str, target: RequestTarget<'_>) -> Result<(), RequestError> {
    if !is_token(method.as_bytes()) {
        return Err(RequestError::Method {
            method: Sample::of(method.as_bytes()),
        });
    }
    target.check(method).map_err(|fault| RequestError::Target {
        target: Sample::of(target.text().as_bytes()),
        fault,
    })
}

/// `field-vchar`, space or tab (RFC 9110 §5.5); bytes above 127 are opaque and allowed.
fn is_value_byte(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

/// Bytes of `uri-host [":" port]`, including brackets of IPv6. An empty host is legal: it means that the target
/// has no authority.
fn is_host(value: &[u8]) -> bool {
    value
        .iter()
        .all(|&byte| byte.is_ascii_graphic() && !b"/?#@\\\"<>^`{|}".contains(&byte))
}

fn is_host_with_port(authority: &str) -> bool {
    authority.rsplit_once(':').is_some_and(|(host, port)| {
        let bracketed = host.starts_with('[') && host.ends_with(']');
        !host.is_empty()
            && (bracketed || !host.contains(':'))
            && is_host(host.as_bytes())
            && decimal(port.as_bytes()).is_some_and(|port| u16::try_from(port).is_ok())
    })
}

/// Why a request head cannot be sent. The user's input is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestError {
    /// The method is not a token.
    Method {
        /// The method.
        method: Sample,
    },
    /// The request target cannot be sent like this.
    Target {
        /// The target.
        target: Sample,
        /// What is wrong with it.
        fault: TargetFault,
    },
    /// A header's name is not a token.
    HeaderName {
        /// The name.
        name: Sample,
    },
    /// A header's value contains a control byte.
    HeaderValue {
        /// The header's name.
        name: Sample,
        /// The byte.
        byte: u8,
        /// Its position in the value, from 0.
        at: usize,
    },
    /// A header that may occur only once was repeated.
    Repeated {
        /// The header's name.
        name: &'static str,
    },
    /// A header that frames or routes the message has an invalid value.
    Unusable {
        /// The header's name.
        name: &'static str,
        /// The value.
        value: Sample,
    },
    /// There is no `Host` header.
    MissingHost,
    /// There are both `Content-Length` and `Transfer-Encoding`.
    LengthAndTransferEncoding,
}

impl fmt::Display for RequestError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method { method } => {
                write!(
                    out,
                    "method {method} is not a token; use letters such as GET"
                )
            }
            Self::Target { target, fault } => write!(out, "request target {target} {fault}"),
            Self::HeaderName { name } => write!(
                out,
                "header name {name} is not a token; use letters, digits and !#$%&'*+-.^_`|~"
            ),
            Self::HeaderValue { name, byte, at } => write!(
                out,
                "header {name}: byte \"{}\" at {at} of its value may not be sent; remove it",
                byte.escape_ascii()
            ),
            Self::Repeated { name } => {
                write!(out, "header {name} is given more than once; give it once")
            }
            Self::Unusable { name, value } => {
                write!(out, "header {name} cannot have the value {value}")
            }
            Self::MissingHost => out.write_str("there is no Host header; HTTP/1.1 demands one"),
            Self::LengthAndTransferEncoding => {
                out.write_str("Content-Length and Transfer-Encoding are both given; give one")
            }
        }
    }
}

impl std::error::Error for RequestError {}

/// What is wrong with a request target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetFault {
    /// It is empty.
    Empty,
    /// It contains a space, a control byte or `#`.
    Byte,
    /// It does not match its form: origin starts with `/`, absolute has a scheme, authority is `host:port`.
    Form,
    /// The method does not allow this form.
    Method,
}

impl fmt::Display for TargetFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Empty => "is empty; the shortest is /",
            Self::Byte => "contains a byte that must be percent-encoded",
            Self::Form => "is neither /path, scheme://host/path nor an allowed host:port",
            Self::Method => "does not go with the method",
        })
    }
}
