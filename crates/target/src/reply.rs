//! A response as returned by an endpoint: head, body, and the instant before which it must not be sent.
//!
//! It must not know connections or clocks. Invariant: building a reply never waits; all waiting is data
//! (`not_before_ns`, pauses between chunks) that the server performs.

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::Duration;

/// JSON as go-httpbin labels it.
pub(crate) const JSON: &str = "application/json; charset=utf-8";
/// Plain text as go-httpbin labels it.
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";

/// One piece of a body that is produced while it is sent.
#[derive(Debug, Clone)]
pub(crate) enum Chunk {
    /// Bytes, sent after a pause.
    Data {
        /// The pause before the bytes.
        pause: Duration,
        /// The bytes.
        bytes: Bytes,
    },
    /// The body breaks off here and the stream or connection with it.
    Abort,
}

/// Produces a body piece by piece.
pub(crate) type Chunks = Box<dyn Iterator<Item = Chunk> + Send>;

/// A body.
pub(crate) enum ReplyBody {
    /// All of it.
    Full(Bytes),
    /// Produced while it is sent; without a length it is chunked.
    Chunks {
        /// The pieces.
        chunks: Chunks,
        /// The length told to the client.
        length: Option<u64>,
    },
}

/// A whole answer.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: ReplyBody,
    /// The answer leaves at this instant of the server's clock, or at once when `None` or past.
    pub(crate) not_before_ns: Option<u64>,
}

impl Reply {
    /// An empty answer.
    pub(crate) fn new(status: StatusCode) -> Self {
        let body = ReplyBody::Full(Bytes::new());
        Self {
            status,
            headers: HeaderMap::new(),
            body,
            not_before_ns: None,
        }
    }

    /// An answer of the given type.
    pub(crate) fn full(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Self {
        let mut reply = Self::new(status);
        reply
            .headers
            .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        reply.body = ReplyBody::Full(body.into());
        reply
    }

    /// JSON, indented, with a line end.
    pub(crate) fn json(status: StatusCode, value: &Value) -> Self {
        Self::full(status, JSON, pretty(value))
    }

    /// Plain text.
    pub(crate) fn text(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self::full(status, TEXT, body)
    }

    /// An error in go-httpbin's form.
    pub(crate) fn error(status: StatusCode, detail: &str) -> Self {
        let mut value = json!({
            "status_code": status.as_u16(),
            "error": status.canonical_reason().unwrap_or("Error"),
        });
        if !detail.is_empty() {
            value["detail"] = Value::String(detail.to_owned());
        }
        Self::json(status, &value)
    }

    /// 400 with a reason.
    pub(crate) fn bad_request(detail: impl AsRef<str>) -> Self {
        Self::error(StatusCode::BAD_REQUEST, detail.as_ref())
    }

    /// A body that is produced while it is sent.
    pub(crate) fn streamed(kind: &'static str, chunks: Chunks, length: Option<u64>) -> Self {
        let mut reply = Self::full(StatusCode::OK, kind, Bytes::new());
        reply.body = ReplyBody::Chunks { chunks, length };
        reply
    }

    /// Adds a header whose value is known to be legal, or drops it when it is not.
    pub(crate) fn with(mut self, name: &'static str, value: impl AsRef<str>) -> Self {
        if let Ok(value) = HeaderValue::from_str(value.as_ref()) {
            self.headers.append(HeaderName::from_static(name), value);
        }
        self
    }

    /// Codes the body and says so in the head; a streamed body stays as it is.
    pub(crate) fn coded(mut self, coding: Coding) -> Self {
        if let (ReplyBody::Full(body), Some(name)) = (&self.body, coding.name()) {
            self.body = ReplyBody::Full(coding.encode(body).into());
            self.headers
                .insert(CONTENT_ENCODING, HeaderValue::from_static(name));
        }
        self
    }
}

/// Indented JSON with a line end.
pub(crate) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// A content coding (RFC 9110 §8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    /// No coding.
    Identity,
    /// gzip (RFC 1952).
    Gzip,
    /// deflate, that is the zlib format (RFC 1950).
    Deflate,
    /// Brotli (RFC 7932).
    Brotli,
}

impl Coding {
    /// All codings with their names in files and headers.
    pub(crate) const NAMES: [(&str, Self); 4] = [
        ("identity", Self::Identity),
        ("gzip", Self::Gzip),
        ("deflate", Self::Deflate),
        ("br", Self::Brotli),
    ];

    /// The value of `Content-Encoding`; `None` for identity.
    pub(crate) fn name(self) -> Option<&'static str> {
        let (name, coding) = Self::NAMES.iter().find(|(_, coding)| *coding == self)?;
        (*coding != Self::Identity).then_some(name)
    }

    /// Codes a body.
    pub(crate) fn encode(self, body: &[u8]) -> Vec<u8> {
        let written = match self {
            Self::Identity => Ok(body.to_vec()),
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(body).and_then(|()| encoder.finish())
            }
            Self::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(body).and_then(|()| encoder.finish())
            }
            Self::Brotli => {
                let mut out = Vec::new();
                let mut input = body;
                let params = brotli::enc::BrotliEncoderParams {
                    quality: 5,
                    ..Default::default()
                };
                brotli::BrotliCompress(&mut input, &mut out, &params).map(|_| out)
            }
        };
        written.expect("writing to memory cannot fail")
    }
}

/// True for headers that describe how the message travels; answers must set them rightly.
pub(crate) fn is_framing(name: &HeaderName) -> bool {
    const FRAMING: [HeaderName; 4] = [
        http::header::CONTENT_LENGTH,
        http::header::TRANSFER_ENCODING,
        http::header::CONNECTION,
        http::header::UPGRADE,
    ];
    FRAMING.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read as _;

    fn decode(coding: Coding, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        match coding {
            Coding::Identity => out.extend_from_slice(body),
            Coding::Gzip => drop(
                flate2::read::GzDecoder::new(body)
                    .read_to_end(&mut out)
                    .unwrap(),
            ),
            Coding::Deflate => {
                flate2::read::ZlibDecoder::new(body)
                    .read_to_end(&mut out)
                    .unwrap();
            }
            Coding::Brotli => brotli::BrotliDecompress(&mut &body[..], &mut out).unwrap(),
        }
        out
    }

    proptest! {
        #[test]
        fn codings_are_reversible(body in prop::collection::vec(any::<u8>(), 0..2_000)) {
            for (_, coding) in Coding::NAMES {
                prop_assert_eq!(decode(coding, &coding.encode(&body)), &body[..]);
            }
        }
    }

    #[test]
    fn errors_have_the_known_shape() {
        let ReplyBody::Full(body) = Reply::bad_request("why").body else {
            panic!("not full")
        };
        let expected =
            "{\n  \"status_code\": 400,\n  \"error\": \"Bad Request\",\n  \"detail\": \"why\"\n}\n";
        assert_eq!(body, expected);
    }
}
