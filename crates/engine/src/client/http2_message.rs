//! A request for HTTP/2: its head, its body, and sending the body.
//!
//! Must not know the purpose of a request. Invariant: a head never contains HTTP/1.1 framing (RFC 9113 section
//! 8.2.2).

use std::cell::Cell;
use std::fs::File;
use std::future::{Future, poll_fn};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::task::Poll;

use bytes::Bytes;
use h2::{Reason, SendStream};
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use loadline_model::{ErrorClass, Nanos};

use super::{Around, Broken, Instants, StopSign};
use crate::net::Failure;

/// Bytes of a body that do not wait for the peer's windows: the connection writes them together with the head. Well
/// below every peer's initial window (RFC 9113 section 6.9.2), so that the measured time of sending stays correct.
const LEFT_TO_CONNECTION_MAX: usize = 16 << 10;
/// Bytes of a streamed file that are read at a time.
const FILE_PIECE: usize = 64 * 1024;

/// A request for HTTP/2.
#[derive(Clone, Debug)]
pub(crate) struct Http2Message {
    pub(crate) head: Request<()>,
    pub(crate) body: Http2Body,
}

/// A body for HTTP/2.
#[derive(Clone, Debug)]
pub(crate) enum Http2Body {
    None,
    Bytes(Bytes),
    /// Read again.
    File(PathBuf),
}

/// A request head: fields of HTTP/1.1 framing are dropped, and each cookie is sent in a separate field (RFC
/// 9113 section 8.2.3), as in Go.
///
/// # Errors
/// Content that must not be sent.
pub(crate) fn http2_head<'a>(
    method: &str,
    uri: &str,
    fields: impl Iterator<Item = (&'a str, &'a [u8])>,
) -> Result<Request<()>, String> {
    let mut head = Request::new(());
    *head.version_mut() = http::Version::HTTP_2;
    *head.method_mut() =
        Method::from_bytes(method.as_bytes()).map_err(|_| format!("method {method:?}"))?;
    *head.uri_mut() = uri
        .parse::<Uri>()
        .map_err(|error| format!("{uri:?}: {error}"))?;
    for (name, value) in fields.filter(|(name, _)| !is_of_connection(name)) {
        let field =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("header name {name:?}"))?;
        let value = HeaderValue::from_bytes(value).map_err(|_| format!("value of {name}"))?;
        if field == http::header::COOKIE {
            append_crumbs(head.headers_mut(), &value)?;
        } else {
            append(head.headers_mut(), field, value)?;
        }
    }
    Ok(head)
}

fn append_crumbs(fields: &mut HeaderMap, value: &HeaderValue) -> Result<(), String> {
    for crumb in value.as_bytes().split(|byte| *byte == b';') {
        if let Ok(crumb) = HeaderValue::from_bytes(crumb.trim_ascii()) {
            append(fields, http::header::COOKIE, crumb)?;
        }
    }
    Ok(())
}

fn append(fields: &mut HeaderMap, name: HeaderName, value: HeaderValue) -> Result<(), String> {
    match fields.try_append(name, value) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("headers: more than {} of them", fields.len())),
    }
}

/// The body length that the head of a response announces.
pub(crate) fn announced(head: &HeaderMap) -> Option<u64> {
    head.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn is_of_connection(name: &str) -> bool {
    [
        "connection",
        "keep-alive",
        "transfer-encoding",
        "upgrade",
        "proxy-connection",
    ]
    .iter()
    .any(|other| name.eq_ignore_ascii_case(other))
}

/// Bytes of a head's fields before compression, including pseudo-header fields.
pub(super) fn head_bytes(head: &Request<()>) -> u64 {
    const PSEUDO_NAMES: usize = ":method:scheme:authority:path".len();
    let uri = head.uri();
    let pseudo = PSEUDO_NAMES
        + head.method().as_str().len()
        + uri.scheme_str().map_or(0, str::len)
        + uri
            .authority()
            .map_or(0, |authority| authority.as_str().len())
        + uri.path_and_query().map_or(1, |path| path.as_str().len());
    let fields = head.headers().iter();
    let fields = fields.map(|(name, value)| name.as_str().len() + value.len());
    (pseudo + fields.sum::<usize>()) as u64
}

/// A body that is sent while waiting for the response; if the response ends first, the rest is not sent.
pub(super) struct Outgoing<'a, F> {
    body: Option<Pin<Box<F>>>,
    /// Bytes handed over that are not counted yet.
    handed: &'a Cell<u64>,
}

impl<'a, F: Future<Output = Result<(), Failure>>> Outgoing<'a, F> {
    pub(super) fn new(body: F, handed: &'a Cell<u64>) -> Outgoing<'a, F> {
        Outgoing {
            body: Some(Box::pin(body)),
            handed,
        }
    }

    /// Waits for `future` while sending.
    ///
    /// # Errors
    /// The body cannot be read, or a stop came first.
    pub(super) async fn beside<T>(
        &mut self,
        around: &Around<'_, impl StopSign>,
        instants: &mut Instants,
        future: impl Future<Output = T>,
    ) -> Result<T, Broken> {
        let mut future = pin!(future);
        poll_fn(|cx| {
            around.stop.check(cx)?;
            if let Some(body) = &mut self.body {
                let sent = body.as_mut().poll(cx);
                instants.sent_bytes += self.handed.take();
                if let Poll::Ready(sent) = sent {
                    self.body = None;
                    sent?;
                    instants.is_sent = true;
                    if instants.first_byte == Nanos::ZERO {
                        instants.sent = around.clock.now();
                    }
                }
            }
            future.as_mut().poll(cx).map(Ok)
        })
        .await
    }
}

/// Sends a body, and counts its bytes. If sending is cut off, the response, or the reason for its absence, is
/// more informative.
///
/// # Errors
/// The file of the body cannot be read.
pub(super) async fn send_body(
    stream: SendStream<Bytes>,
    body: Http2Body,
    handed: &Cell<u64>,
) -> Result<(), Failure> {
    match body {
        Http2Body::None => Ok(()),
        Http2Body::Bytes(bytes) => {
            drop(send_piece(stream, bytes, true, handed).await);
            Ok(())
        }
        Http2Body::File(path) => send_file(stream, &path, handed).await,
    }
}

/// Sends a piece of a body as the windows allow, and returns the stream; `last`: the body ends with it.
async fn send_piece(
    mut stream: SendStream<Bytes>,
    mut body: Bytes,
    last: bool,
    handed: &Cell<u64>,
) -> Result<SendStream<Bytes>, h2::Error> {
    let hand_over = |stream: &mut SendStream<Bytes>, piece: Bytes, end| {
        let length = piece.len() as u64;
        stream.send_data(piece, end)?;
        handed.set(handed.get() + length);
        Ok::<_, h2::Error>(())
    };
    if body.len() <= LEFT_TO_CONNECTION_MAX {
        if last || !body.is_empty() {
            hand_over(&mut stream, body, last)?;
        }
        return Ok(stream);
    }
    while !body.is_empty() {
        stream.reserve_capacity(body.len());
        let room = match poll_fn(|cx| stream.poll_capacity(cx)).await {
            Some(room) => room?,
            None => return Err(Reason::STREAM_CLOSED.into()),
        };
        let piece = body.split_to(room.min(body.len()));
        let end = last && body.is_empty();
        hand_over(&mut stream, piece, end)?;
    }
    Ok(stream)
}

async fn send_file(
    mut stream: SendStream<Bytes>,
    path: &Path,
    handed: &Cell<u64>,
) -> Result<(), Failure> {
    let unreadable = |error: io::Error| {
        let why = format!("body file {}: {error}", path.display());
        Failure::new(ErrorClass::Request, why)
    };
    let mut file = File::open(path).map_err(unreadable)?;
    loop {
        let mut piece = vec![0_u8; FILE_PIECE];
        let length = file.read(&mut piece).map_err(unreadable)?;
        piece.truncate(length);
        match send_piece(stream, piece.into(), length == 0, handed).await {
            Ok(open) if length > 0 => stream = open,
            _ => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_leave_http1_behind() {
        let fields = [
            ("Connection", "close"),
            ("Cookie", "a=1; b=2"),
            ("X-One", "1"),
        ];
        let fields = fields.map(|(name, value)| (name, value.as_bytes()));
        let head = http2_head("GET", "http://h/", fields.into_iter()).expect("a good head");
        let sent: Vec<_> = head.headers().iter().collect();
        let field = |name: &'static str, value: &'static str| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        let expected = [
            field("cookie", "a=1"),
            field("cookie", "b=2"),
            field("x-one", "1"),
        ];
        assert_eq!(sent.len(), expected.len());
        for ((name, value), (expected_name, expected_value)) in sent.into_iter().zip(&expected) {
            assert_eq!((name, value), (expected_name, expected_value));
        }
        let bad = [("X One", &b"1"[..])];
        let why = http2_head("GET", "http://h/", bad.into_iter()).expect_err("a space in a name");
        assert_eq!(why, "header name \"X One\"");
        let names: Vec<String> = (0..100_000).map(|n| format!("x-{n}")).collect();
        let many = names.iter().map(|name| (name.as_str(), &b"v"[..]));
        let why = http2_head("GET", "http://h/", many).expect_err("more than a message holds");
        assert!(why.starts_with("headers: more than"), "{why}");
    }
}
