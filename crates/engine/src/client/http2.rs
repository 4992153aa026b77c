//! An HTTP/2 connection, and one request with its response on it; the protocol is implemented by the `h2`
//! crate.
//!
//! Must not know who shares a connection, nor the front end. Invariant: an abandoned stream is reset, and its
//! window is released; every error is a [`Failure`] with a class.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use h2::client::SendRequest;
use h2::{Reason, RecvStream};
use loadline_model::{ErrorClass, Nanos};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use super::http2_message::{Http2Body, Http2Message, Outgoing, head_bytes, send_body};
use super::{Around, Broken, Instants, Receiver, Stop, StopSign, Wish};
use crate::connections_seen::ConnectionsSeen;
use crate::net::{Failure, Http2Fault, Reach, Stage, Stream};

/// Bytes that a peer may send ahead on a connection; also Go's.
const CONNECTION_WINDOW: u32 = 1 << 30;
/// The stream of a connection's first request (RFC 9113 section 5.1.1).
const FIRST_STREAM: u32 = 1;
/// SETTINGS, the type of a peer's first frame (RFC 9113 sections 3.4 and 6.5).
const SETTINGS: u8 = 4;
/// The longest frame that a peer may send (RFC 9113 section 4.2).
const FRAME_BYTES_MAX: u32 = 1 << 14;
/// Go's limit on a response's head.
const HEAD_BYTES_MAX: u32 = 10 << 20;
/// Concurrent streams if the peer sets no limit; Go's number.
const STREAMS_MAX: usize = 1000;

/// One connection; clones share it.
#[derive(Clone)]
pub(crate) struct Http2Connection {
    sender: SendRequest<Bytes>,
    pub(crate) address: Option<SocketAddr>,
    end: Rc<End>,
    requests: Rc<Cell<u64>>,
    in_use: Rc<Cell<usize>>,
    wire: Weak<Wire>,
}

/// The stream under a connection; the kernel's data on it is read once, when it or the run ends.
struct Wire {
    stream: RefCell<Stream>,
    seen: Rc<ConnectionsSeen>,
    is_recorded: Cell<bool>,
}

impl Wire {
    fn record(&self) {
        if !self.is_recorded.replace(true) {
            self.seen.ended(|| self.stream.borrow().facts());
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.record();
    }
}

/// A stream slot of a connection, held until the exchange has ended.
pub(crate) struct Place {
    /// Whether it had to be waited for.
    pub(crate) was_waited_for: bool,
    in_use: Rc<Cell<usize>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.in_use.set(self.in_use.get() - 1);
    }
}

/// How a connection ended.
#[derive(Default)]
struct End {
    is_over: Cell<bool>,
    /// Whether a request was refused or asked for the end, so that the connection gets no further ones.
    is_closing: Cell<bool>,
    over: Notify,
    opening: Opening,
    /// How reading failed, if the stream under the connection broke instead of ending.
    broke: RefCell<Option<io::Error>>,
}

/// Length and type of the peer's first frame, as far as they were read.
#[derive(Default)]
struct Opening {
    head: Cell<[u8; 4]>,
    read: Cell<usize>,
}

impl Opening {
    fn look(&self, bytes: &[u8]) {
        let (mut head, read) = (self.head.get(), self.read.get());
        let count = bytes.len().min(head.len() - read);
        head[read..read + count].copy_from_slice(&bytes[..count]);
        self.head.set(head);
        self.read.set(read + count);
    }

    /// Whether another frame than SETTINGS came first. What is too long for a frame is left to be told as that.
    fn is_wrong(&self) -> bool {
        let [a, b, c, kind] = self.head.get();
        let is_frame = u32::from_be_bytes([0, a, b, c]) <= FRAME_BYTES_MAX;
        self.read.get() == self.head.get().len() && is_frame && kind != SETTINGS
    }
}

impl Http2Connection {
    /// Uses HTTP/2 on a stream; `stream_window`: bytes that the peer may send on one stream before it has to
    /// wait.
    pub(crate) async fn open(
        stream: Stream,
        address: Option<SocketAddr>,
        stream_window: u32,
        seen: Rc<ConnectionsSeen>,
    ) -> Result<Http2Connection, Failure> {
        let local = stream.local_addr();
        let end = Rc::new(End::default());
        let wire = Rc::new(Wire {
            stream: RefCell::new(stream),
            seen,
            is_recorded: Cell::new(false),
        });
        let known = Rc::downgrade(&wire);
        let (sender, connection) = h2::client::Builder::new()
            .initial_window_size(stream_window)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(HEAD_BYTES_MAX)
            .enable_push(false)
            .handshake::<_, Bytes>(Quiet(wire, Rc::clone(&end)))
            .await
            .map_err(|error| match error.get_io() {
                Some(io) => Failure::on_connection(Stage::Sending, io, local).at(address),
                None => Failure::new(ErrorClass::Http2, error.to_string()).at(address),
            })?;
        let note = Rc::clone(&end);
        tokio::task::spawn_local(async move {
            // Errors are reported on each stream; the peer's last message is fetched here.
            let _ = connection.await;
            note.is_over.set(true);
            note.over.notify_waiters();
        });
        Ok(Http2Connection {
            sender,
            address,
            end,
            requests: Rc::default(),
            in_use: Rc::default(),
            wire: known,
        })
    }

    /// Records the kernel's data on the connection, as at its end.
    pub(crate) fn record(&self) {
        if let Some(wire) = self.wire.upgrade() {
            wire.record();
        }
    }

    /// Whether another request may be sent on it.
    pub(crate) fn is_usable(&self) -> bool {
        !self.end.is_over.get() && !self.end.is_closing.get() && !self.is_shut()
    }

    /// Whether the peer allows no stream any more, and none is open: whoever waited for one might wait for ever. The
    /// first request waits, as in Go: its peer may not have told its limit yet.
    fn is_shut(&self) -> bool {
        self.requests.get() > 0 && self.in_use.get() == 0 && self.streams_max() == 0
    }

    /// Allows no further requests; it ends with the last one that uses it.
    pub(crate) fn retire(&self) {
        self.end.is_closing.set(true);
    }

    /// Requests sent on it so far.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.get()
    }

    /// Concurrent streams that the peer allows.
    pub(crate) fn streams_max(&self) -> usize {
        self.sender.current_max_send_streams().min(STREAMS_MAX)
    }

    /// Whether another request would have to wait for one in flight.
    pub(crate) fn is_full(&self) -> bool {
        let in_use = self.in_use.get();
        in_use > 0 && in_use >= self.streams_max()
    }

    /// Waits for a free stream.
    ///
    /// # Errors
    /// The connection has ended, or a stop came first.
    pub(crate) async fn reserve(
        &mut self,
        around: &Around<'_, impl StopSign>,
    ) -> Result<Place, Broken> {
        self.in_use.set(self.in_use.get() + 1);
        let mut place = Place {
            was_waited_for: false,
            in_use: Rc::clone(&self.in_use),
        };
        let ready = poll_fn(|cx| {
            around.stop.check(cx)?;
            let ready = self.sender.poll_ready(cx).map(Ok::<_, Stop>);
            place.was_waited_for |= ready.is_pending();
            ready
        });
        ready.await?.map_err(|_| self.unsent())?;
        self.requests.set(self.requests.get() + 1);
        Ok(place)
    }

    /// Sends a request on the reserved stream and reads its response.
    pub(crate) async fn exchange(
        &mut self,
        _place: Place,
        around: &Around<'_, impl StopSign>,
        message: Http2Message,
        receiver: &mut impl Receiver,
        instants: &mut Instants,
    ) -> Result<(), Broken> {
        let Http2Message { head, body } = message;
        let is_head = head.method() == http::Method::HEAD;
        let is_bodiless = matches!(body, Http2Body::None);
        instants.sent_bytes = head_bytes(&head);
        let (response, stream) = self
            .sender
            .send_request(head, is_bodiless)
            .map_err(|_| self.unsent())?;
        let id = response.stream_id().as_u32();
        // The response is awaited meanwhile: if it comes first, the rest of the body is not sent.
        let handed = Cell::new(0);
        let mut outgoing = Outgoing::new(send_body(stream, body, &handed), &handed);
        let answer = match outgoing.beside(around, instants, response).await? {
            Ok(answer) => answer,
            Err(error) => {
                self.await_goodbye(around, &error).await?;
                return Err(self.unanswered(&error, id).into());
            }
        };
        instants.first_byte = around.clock.now().max(Nanos(1));
        instants.done = instants.first_byte;
        if !instants.is_sent {
            instants.sent = instants.first_byte;
        }
        let (head, body) = answer.into_parts();
        receiver.http2_head(&head);
        let is_whole = is_head || matches!(head.status.as_u16(), 204 | 304);
        let has_length = head.headers.contains_key(http::header::CONTENT_LENGTH);
        if body.is_end_stream() {
            return Ok(());
        }
        let reading = read_body(body, receiver);
        let read = outgoing.beside(around, instants, reading).await??;
        instants.done = around.clock.now().max(instants.first_byte);
        // What follows a head that has no body does no harm, as in Go.
        if let Err(error) = read
            && !is_whole
            && !receiver.is_content()
        {
            self.await_goodbye(around, &error).await?;
            let failure = match error.is_reset() && error.is_library() {
                true => self.fault(broken_body(has_length, &error, id)),
                false => within_body(self.cut_off(&error, id)),
            };
            return Err(failure.into());
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

    /// A request that was not sent on the connection.
    #[cold]
    fn unsent(&self) -> Failure {
        self.end.is_closing.set(true);
        if self.end.opening.is_wrong() {
            return self.wrongly_opened();
        }
        let mut failure = self.fault(Http2Fault::Unsent);
        failure.reach = Reach::Unsent;
        failure
    }

    /// A request without a response; [`Reach::Unsent`] if Go would retry it on another connection.
    #[cold]
    fn unanswered(&self, error: &h2::Error, stream: u32) -> Failure {
        let reason = error.reason().map_or(0, u32::from);
        let is_turned_away = error.is_go_away() && error.is_remote();
        let reset = error
            .reason()
            .filter(|_| error.is_reset() && error.is_remote());
        if is_turned_away {
            self.end.is_closing.set(true);
        }
        let mut failure = if is_turned_away {
            self.fault(Http2Fault::TurnedAway {
                reason,
                debug: debug_text(error),
            })
        } else if error.is_reset() && error.is_library() {
            self.fault(Http2Fault::BrokenStream { stream, reason })
        } else {
            self.cut_off(error, stream)
        };
        let is_refused = matches!(reset, Some(Reason::REFUSED_STREAM | Reason::PROTOCOL_ERROR));
        // A GOAWAY with a reason may be meant for the first request, but not for a later one.
        if is_refused || (is_turned_away && (reason == 0 || stream != FIRST_STREAM)) {
            failure.reach = Reach::Unsent;
        }
        failure
    }

    /// Any exchange on a connection that the peer did not begin with SETTINGS. As in Go it is not tried again: the
    /// `h2` crate would take a GOAWAY in its place for one that asks for that.
    fn wrongly_opened(&self) -> Failure {
        self.fault(Http2Fault::BrokenProtocol {
            reason: Reason::PROTOCOL_ERROR.into(),
            debug: String::new(),
        })
    }

    /// An exchange that ended too early.
    #[cold]
    fn cut_off(&self, error: &h2::Error, stream: u32) -> Failure {
        if self.end.opening.is_wrong() {
            return self.wrongly_opened();
        }
        let reason = error.reason().map_or(0, u32::from);
        if error.is_reset() && error.is_remote() {
            // A stream that is reset says nothing about others, unless it is for a violation of the protocol.
            if error.reason() == Some(Reason::PROTOCOL_ERROR) {
                self.end.is_closing.set(true);
            }
            return self.fault(Http2Fault::StreamReset { stream, reason });
        }
        if error.is_go_away() && error.is_library() {
            let broken = match error.reason() {
                Some(Reason::FRAME_SIZE_ERROR) => Http2Fault::FrameTooLarge,
                _ => Http2Fault::BrokenProtocol {
                    reason,
                    debug: debug_text(error),
                },
            };
            return self.fault(broken);
        }
        if let Some(io) = error.get_io()
            && (io.raw_os_error().is_some() || io.kind() == io::ErrorKind::ConnectionReset)
        {
            return Failure::io(Stage::Reading, io).at(self.address);
        }
        if let Some((reason, debug)) = self.goodbye() {
            let gone = Http2Fault::Gone {
                stream,
                reason,
                debug,
            };
            return self.fault(gone);
        }
        match &*self.end.broke.borrow() {
            Some(io) => Failure::io(Stage::Reading, io).at(self.address),
            None => self.fault(Http2Fault::Ended),
        }
    }

    /// What the peer's GOAWAY said: code and text.
    fn goodbye(&self) -> Option<(u32, String)> {
        let mut cx = Context::from_waker(Waker::noop());
        match self.sender.clone().poll_ready(&mut cx) {
            Poll::Ready(Err(error)) if error.is_go_away() && error.is_remote() => {
                let reason = error.reason().map_or(0, u32::from);
                Some((reason, debug_text(&error)))
            }
            _ => None,
        }
    }

    fn fault(&self, fault: Http2Fault) -> Failure {
        Failure::http2(fault).at(self.address)
    }
}

/// The peer's error in a body on a connection that stays usable.
fn broken_body(has_length: bool, error: &h2::Error, stream: u32) -> Http2Fault {
    match error.reason() {
        Some(Reason::PROTOCOL_ERROR) if has_length => Http2Fault::WrongLength,
        reason => Http2Fault::BrokenStream {
            stream,
            reason: reason.map_or(0, u32::from),
        },
    }
}

/// The same failure after the head of the response had arrived.
fn within_body(mut failure: Failure) -> Failure {
    if failure.class == ErrorClass::Closed {
        failure.class = ErrorClass::Truncated;
    }
    failure
}

/// The text of a peer's GOAWAY, which the `h2` crate only gives in its message.
fn debug_text(error: &h2::Error) -> String {
    let message = error.to_string();
    let text = message.split_once("(b\"").map(|(_, rest)| rest);
    text.and_then(|rest| rest.strip_suffix("\")"))
        .unwrap_or_default()
        .to_owned()
}

/// Reads a body to its end, to where it breaks off, or as far as it is needed.
async fn read_body(
    mut body: RecvStream,
    receiver: &mut impl Receiver,
) -> Result<Result<(), h2::Error>, Failure> {
    while receiver.wish()? == Wish::More {
        let Some(piece) = body.data().await else {
            break;
        };
        let released = piece.and_then(|piece| {
            receiver.body(&piece);
            body.flow_control().release_capacity(piece.len())
        });
        if let Err(error) = released {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

/// A stream that ends quietly: a stream that the peer reset, or closed without TLS's closing message, counts as
/// ended, and a shutdown that cannot be sent to the peer is no error. Otherwise such an error would hide the peer's
/// GOAWAY; if there was none, the reset is reported after all. What does not begin with SETTINGS ends there too.
struct Quiet(Rc<Wire>, Rc<End>);

impl AsyncRead for Quiet {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        match ready!(Pin::new(&mut *self.0.stream.borrow_mut()).poll_read(cx, buffer)) {
            Ok(()) if self.1.opening.read.get() < 4 || self.1.opening.is_wrong() => {
                self.1.opening.look(&buffer.filled()[before..]);
                if self.1.opening.is_wrong() {
                    buffer.set_filled(before);
                }
                Poll::Ready(Ok(()))
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                *self.1.broke.borrow_mut() = Some(error);
                Poll::Ready(Ok(()))
            }
            outcome => Poll::Ready(outcome),
        }
    }
}

impl AsyncWrite for Quiet {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0.stream.borrow_mut()).poll_write(cx, data)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0.stream.borrow_mut()).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.stream.borrow().is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.stream.borrow_mut()).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.stream.borrow_mut())
            .poll_shutdown(cx)
            .map(|_| Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened_with(pieces: &[&[u8]]) -> bool {
        let opening = Opening::default();
        for piece in pieces {
            opening.look(piece);
        }
        opening.is_wrong()
    }

    #[test]
    fn a_peer_begins_with_settings() {
        let go_away = [0, 0, 8, 7, 0, 0, 0, 0, 0];
        assert!(opened_with(&[&go_away]));
        assert!(opened_with(&[&go_away[..1], &go_away[1..]]));
        assert!(!opened_with(&[&go_away[..3]]));
        assert!(!opened_with(&[&[0, 0, 0, 4, 0], &go_away]));
        assert!(!opened_with(&[b"HTTP/1.1 400 Bad Request"]));
    }
}
