//! One request and its answer on an HTTP/2 connection of a script; the protocol itself is the `h2`
//! crate's.
//!
//! Must not know who shares a connection. Invariant: a stream that is given up is reset, and its
//! window is given back.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::client::SendRequest;
use h2::{Reason, RecvStream};
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use loadline_model::url::Scheme;
use loadline_model::{ErrorClass, Nanos};
use loadline_script::hop::{HopProtocol, HopRequest, HopTls};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use super::message::{Delimiting, delimiting, is_framing};
use super::received::Received;
use crate::client::{Around, Broken, Instants, Receiver, Stop, StopSign};
use crate::exchange::{head_bytes, send_piece};
use crate::net::{Failure, Http2Fault, Reach, Stage, Stream};

/// What Go lets a peer send ahead on one stream, and on a connection.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 1 << 30;
/// Go's bound on an answer's head.
const HEAD_BYTES_MAX: u32 = 10 << 20;

/// One connection; clones share it.
#[derive(Clone)]
pub(super) struct Http2 {
    sender: SendRequest<Bytes>,
    pub(super) remote: Option<SocketAddr>,
    pub(super) tls: Option<HopTls>,
    end: Rc<End>,
}

/// How a connection ended.
#[derive(Default)]
struct End {
    is_over: Cell<bool>,
    over: Notify,
    /// What the peer said when it did not want any more: code and text.
    goodbye: RefCell<Option<(u32, String)>>,
}

impl Http2 {
    /// Speaks HTTP/2 on a stream.
    pub(super) async fn open(
        stream: Stream,
        remote: Option<SocketAddr>,
        tls: Option<HopTls>,
    ) -> Result<Http2, Failure> {
        let local = stream.local_addr();
        let (sender, connection) = h2::client::Builder::new()
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(HEAD_BYTES_MAX)
            .enable_push(false)
            .handshake::<_, Bytes>(Quiet(stream))
            .await
            .map_err(|error| match error.get_io() {
                Some(io) => Failure::on_connection(Stage::Sending, io, local).at(remote),
                None => Failure::new(ErrorClass::Http2, error.to_string()).at(remote),
            })?;
        let end = Rc::new(End::default());
        let note = Rc::clone(&end);
        tokio::task::spawn_local(async move {
            let outcome = connection.await;
            if let Err(error) = outcome
                && error.is_go_away()
                && error.is_remote()
            {
                let reason = error.reason().map_or(0, u32::from);
                *note.goodbye.borrow_mut() = Some((reason, debug_text(&error)));
            }
            note.is_over.set(true);
            note.over.notify_waiters();
        });
        Ok(Http2 {
            sender,
            remote,
            tls,
            end,
        })
    }

    /// Whether it takes requests.
    pub(super) fn is_usable(&self) -> bool {
        !self.end.is_over.get()
    }

    /// Whether both are handles of one connection.
    pub(super) fn is_same(&self, other: &Http2) -> bool {
        Rc::ptr_eq(&self.end, &other.end)
    }

    /// Sends a request and reads its answer.
    pub(super) async fn exchange(
        &mut self,
        around: &Around<'_, impl StopSign>,
        request: &HopRequest,
        received: &mut Received,
        instants: &mut Instants,
    ) -> Result<(), Broken> {
        let (head, delimiting) = (head(request)?, delimiting(request));
        let ready = poll_fn(|cx| self.sender.poll_ready(cx));
        let ready = around.stop.guard(ready).await?;
        ready.map_err(|_| unsent())?;
        let bodiless = matches!(delimiting, Delimiting::Nothing | Delimiting::Length(0));
        let body_bytes = request.body.as_ref().map_or(0, |body| body.len() as u64);
        instants.sent_bytes = head_bytes(&head) + body_bytes;
        let (response, stream) = self
            .sender
            .send_request(head, bodiless)
            .map_err(|_| unsent())?;
        let id = response.stream_id().as_u32();
        if !bodiless {
            let body = request.body.clone().unwrap_or_default();
            // Where sending breaks off, the answer, or why there is none, tells more.
            drop(around.stop.guard(send_piece(stream, body, true)).await?);
        }
        instants.sent = around.clock.now();
        let answer = around.stop.guard(response).await?;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                self.await_goodbye(around, &error).await?;
                return Err(self.failed(&error, id).into());
            }
        };
        instants.first_byte = around.clock.now();
        instants.done = instants.first_byte;
        let (head, body) = answer.into_parts();
        take_head(&head, received);
        let outcome = around.stop.guard(read_body(body, received)).await??;
        instants.done = around.clock.now().max(Nanos(1));
        if let Err(error) = outcome {
            self.await_goodbye(around, &error).await?;
            return Err(within_body(self.cut_off(&error, id)).into());
        }
        Ok(())
    }

    /// Waits until it is known why the connection ended, when a stream only knows that it did.
    async fn await_goodbye(
        &self,
        around: &Around<'_, impl StopSign>,
        error: &h2::Error,
    ) -> Result<(), Stop> {
        let knows = error.get_io().is_none_or(|io| io.raw_os_error().is_some());
        while !knows && !self.end.is_over.get() {
            around.stop.guard(self.end.over.notified()).await?;
        }
        Ok(())
    }

    /// A request without an answer; [`Reach::Unsent`] where Go sends it again on another connection.
    fn failed(&self, error: &h2::Error, stream: u32) -> Failure {
        let reason = error.reason().map_or(0, u32::from);
        let is_refused = matches!(
            error.reason(),
            Some(Reason::REFUSED_STREAM | Reason::PROTOCOL_ERROR)
        );
        let is_turned_away = error.is_go_away() && error.is_remote();
        let mut failure = match is_turned_away {
            true => fault(Http2Fault::TurnedAway { reason }, error),
            false => self.cut_off(error, stream),
        };
        let is_reset = error.is_reset() && error.is_remote() && is_refused;
        if is_reset || (is_turned_away && reason == 0) {
            failure.reach = Reach::Unsent;
        }
        failure
    }

    /// An exchange that ended too early.
    fn cut_off(&self, error: &h2::Error, stream: u32) -> Failure {
        let reason = error.reason().map_or(0, u32::from);
        if error.is_reset() && error.is_remote() {
            return fault(Http2Fault::StreamReset { stream, reason }, error);
        }
        if error.is_go_away() && error.is_library() {
            let broken = match error.reason() {
                Some(Reason::FRAME_SIZE_ERROR) => Http2Fault::FrameTooLarge,
                _ => Http2Fault::BrokenProtocol { reason },
            };
            return fault(broken, error);
        }
        if let Some(io) = error.get_io()
            && (io.raw_os_error().is_some() || io.kind() == io::ErrorKind::ConnectionReset)
        {
            return Failure::io(Stage::Reading, io).at(self.remote);
        }
        let ended = match &*self.end.goodbye.borrow() {
            Some((reason, debug)) => Http2Fault::Gone {
                stream,
                reason: *reason,
                debug: debug.clone(),
            },
            None => Http2Fault::Ended,
        };
        fault(ended, error)
    }
}

/// The same failure after the head of the answer had come.
fn within_body(mut failure: Failure) -> Failure {
    if failure.class == ErrorClass::Closed {
        failure.class = ErrorClass::Truncated;
    }
    failure
}

fn fault(fault: Http2Fault, error: &h2::Error) -> Failure {
    Failure::http2(fault, error.to_string())
}

/// A stream that ends without fuss: one that the peer closed without TLS's closing message has ended
/// like any other, as in Go, and nothing is told of an end that cannot be said to the peer. Else the
/// peer's last words would be lost behind such an error.
struct Quiet(Stream);

impl AsyncRead for Quiet {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match ready!(Pin::new(&mut self.0).poll_read(cx, buffer)) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
            outcome => Poll::Ready(outcome),
        }
    }
}

impl AsyncWrite for Quiet {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, data)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx).map(|_| Ok(()))
    }
}

/// A request that did not get onto the connection.
fn unsent() -> Failure {
    let mut failure = Failure::http2(
        Http2Fault::Unsent,
        "the connection was lost before the request",
    );
    failure.reach = Reach::Unsent;
    failure
}

/// The text that came with a peer's goodbye, which the `h2` crate gives in its message alone.
fn debug_text(error: &h2::Error) -> String {
    let message = error.to_string();
    let text = message.split_once("(b\"").map(|(_, rest)| rest);
    text.and_then(|rest| rest.strip_suffix("\")"))
        .unwrap_or_default()
        .to_owned()
}

/// A request's head: what belongs to HTTP/1.1's framing is left out (RFC 9113 section 8.2.2).
fn head(request: &HopRequest) -> Result<Request<()>, Failure> {
    let host = request
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let scheme = match request.origin.scheme {
        Scheme::Http => "http",
        Scheme::Https => "https",
    };
    let authority = match host {
        Some((_, host)) => host.clone(),
        None => request.origin.authority(),
    };
    let uri = format!("{scheme}://{authority}{}", request.target);
    let unfit = |what: &str| Failure::new(ErrorClass::Request, format!("http2: invalid {what}"));
    let mut head = Request::new(());
    *head.version_mut() = http::Version::HTTP_2;
    *head.method_mut() =
        Method::from_bytes(request.method.as_bytes()).map_err(|_| unfit("method"))?;
    *head.uri_mut() = uri.parse::<Uri>().map_err(|_| unfit("request :path"))?;
    let fields = head.headers_mut();
    for (name, value) in &request.headers {
        if is_framing(name) || is_of_http1(name) {
            continue;
        }
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unfit("header name"))?;
        let value = HeaderValue::from_bytes(value.trim_ascii().as_bytes())
            .map_err(|_| unfit("header value"))?;
        if name == http::header::COOKIE {
            append_crumbs(fields, &value);
            continue;
        }
        fields.append(name, value);
    }
    if let Delimiting::Length(length) = delimiting(request) {
        fields.insert(http::header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    Ok(head)
}

/// Each cookie goes in a field of its own (RFC 9113 section 8.2.3), as Go sends them.
fn append_crumbs(fields: &mut http::HeaderMap, value: &HeaderValue) {
    for crumb in value.as_bytes().split(|byte| *byte == b';') {
        if let Ok(crumb) = HeaderValue::from_bytes(crumb.trim_ascii()) {
            fields.append(http::header::COOKIE, crumb);
        }
    }
}

fn is_of_http1(name: &str) -> bool {
    [
        "host",
        "connection",
        "proxy-connection",
        "keep-alive",
        "upgrade",
        "te",
    ]
    .iter()
    .any(|other| name.eq_ignore_ascii_case(other))
}

fn take_head(head: &http::response::Parts, received: &mut Received) {
    received.status = head.status.as_u16();
    received.protocol = Some(HopProtocol::Http2);
    for (name, value) in &head.headers {
        received
            .headers
            .push(name.as_str().as_bytes(), value.as_bytes());
    }
    let length = head.headers.get(http::header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
    received.expect_body(length);
}

/// Reads a body to its end, or to where it breaks off.
async fn read_body(
    mut body: RecvStream,
    received: &mut Received,
) -> Result<Result<(), h2::Error>, Failure> {
    while let Some(piece) = body.data().await {
        let length = match piece {
            Ok(piece) => {
                received.take_body(&piece);
                piece.len()
            }
            Err(error) => return Ok(Err(error)),
        };
        if let Err(error) = body.flow_control().release_capacity(length) {
            return Ok(Err(error));
        }
        received.wish()?;
    }
    Ok(Ok(()))
}
