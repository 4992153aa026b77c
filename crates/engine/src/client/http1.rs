//! An HTTP/1.1 connection: one write and one read for a small request and its response.
//!
//! Reads go into a buffer that all connections of a worker share: between reads a connection only holds its
//! parser. Must not know why a request is sent, nor by which front end. Invariant: after an error or a stop the
//! connection is not reused.

use std::fs::File;
use std::future::{Future, poll_fn};
use std::io::{self, Read};
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use loadline_model::{ErrorClass, Nanos};
use loadline_wire::{
    CHUNK_END, LAST_CHUNK, Limits, RequestKind, ResponseParser, Reuse, State, WireError,
    chunk_header,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{Around, Broken, GivenUp, Instants, Keepable, Receiver, Stop, StopSign, Usage, Wish};
use crate::net::{Failure, Reach, Stage, Stream};

/// Bytes of a streamed body that are sent in one chunk.
const CHUNK_BYTES: usize = 64 * 1024;

/// The bytes of a request.
pub(crate) struct Message<'a> {
    pub(crate) kind: RequestKind,
    /// The head, possibly followed by a short body.
    pub(crate) head: &'a [u8],
    pub(crate) body: Body<'a>,
}

/// What is sent after the head.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    /// As it is; empty: the body was sent with the head, or there is none.
    Bytes(&'a [u8]),
    /// In chunks from memory.
    Chunks(&'a [u8]),
    /// In chunks from a file that is read again.
    ChunkedFile(&'a Path),
}

/// How long a peer that has already responded may take to accept the rest of the request, so that the
/// connection can be reused: as in Go.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the sending of a request needs beside its connection.
struct Desk<'a, S, R> {
    around: &'a Around<'a, S>,
    receiver: &'a mut R,
    instants: &'a mut Instants,
    /// The response that arrived completely while the request was being sent.
    early: Option<EarlyAnswer>,
}

struct EarlyAnswer {
    reuse: Reuse,
    patience: Pin<Box<tokio::time::Sleep>>,
}

/// Why no more of a request is sent.
enum Halt {
    /// The peer accepts no more data; it may have responded.
    Unsent(Failure),
    /// There is nothing to read either.
    Over(Broken),
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Halt {
        Halt::Over(stop.into())
    }
}

/// One connection.
pub(crate) struct Http1Connection {
    stream: Stream,
    parser: ResponseParser,
    address: Option<SocketAddr>,
    usage: Usage,
}

impl Http1Connection {
    /// Uses HTTP/1.1 on a stream that was connected at `made_at`.
    pub(crate) fn new(
        stream: Stream,
        address: Option<SocketAddr>,
        limits: Limits,
        made_at: Nanos,
    ) -> Http1Connection {
        Http1Connection {
            stream,
            parser: ResponseParser::new(limits),
            address,
            usage: Usage {
                made_at,
                requests: 0,
                is_reusable: true,
                given_up: None,
            },
        }
    }

    /// Whether a request was sent on it before the last one.
    pub(crate) fn was_kept(&self) -> bool {
        self.usage.requests > 1
    }

    /// Remote address; `None` for a Unix-domain socket.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Sends a message and reads its response; a failure's [`Reach`] decides whether the request may be
    /// retried.
    pub(crate) async fn exchange(
        &mut self,
        around: &Around<'_, impl StopSign>,
        message: Message<'_>,
        receiver: &mut impl Receiver,
        instants: &mut Instants,
    ) -> Result<(), Broken> {
        self.usage.requests += 1;
        self.usage.is_reusable = false;
        self.parser.start(message.kind);
        let mut desk = Desk {
            around,
            receiver,
            instants,
            early: None,
        };
        let sent = self.send(&mut desk, &message).await;
        desk.instants.is_sent = sent.is_ok();
        let unsent = match (sent, desk.early.map(|early| early.reuse)) {
            (Ok(()), Some(reuse)) => {
                self.usage.is_reusable = reuse == Reuse::KeepAlive;
                return Ok(());
            }
            // The peer responded without reading the whole request: that counts as a response.
            (Err(_), Some(_)) => {
                self.usage.given_up = Some(GivenUp::HalfSent);
                return Ok(());
            }
            (Ok(()), None) => None,
            (Err(Halt::Unsent(failure)), None) => Some(failure),
            (Err(Halt::Over(broken)), None) => return Err(broken),
        };
        let outcome = poll_fn(|cx| self.poll_answer(cx, around, receiver, instants)).await;
        match (outcome, unsent) {
            (Ok(reuse), None) => {
                self.usage.is_reusable = reuse == Reuse::KeepAlive;
                Ok(())
            }
            (Ok(_), Some(_)) => Ok(()),
            (Err(Broken::Failed(reading)), Some(mut sending)) => {
                sending.reach = match instants.sent_bytes {
                    0 => Reach::Unsent,
                    _ => reading.reach,
                };
                Err(sending.into())
            }
            (Err(broken), _) => Err(broken),
        }
    }

    #[inline]
    async fn send<S: StopSign, R: Receiver>(
        &mut self,
        desk: &mut Desk<'_, S, R>,
        message: &Message<'_>,
    ) -> Result<(), Halt> {
        self.send_all(desk, message.head).await?;
        match message.body {
            Body::Bytes([]) => Ok(()),
            Body::Bytes(bytes) => self.send_all(desk, bytes).await,
            Body::Chunks(bytes) => {
                for piece in bytes.chunks(CHUNK_BYTES) {
                    self.send_chunk(desk, piece).await?;
                }
                self.send_all(desk, LAST_CHUNK).await
            }
            Body::ChunkedFile(path) => self.send_file(desk, path).await,
        }
    }

    async fn send_file<S: StopSign, R: Receiver>(
        &mut self,
        desk: &mut Desk<'_, S, R>,
        path: &Path,
    ) -> Result<(), Halt> {
        let unreadable = |error: io::Error| {
            let why = format!("body file {}: {error}", path.display());
            Halt::Over(Failure::new(ErrorClass::Request, why).into())
        };
        let mut file = File::open(path).map_err(unreadable)?;
        let mut piece = vec![0_u8; CHUNK_BYTES];
        loop {
            let length = file.read(&mut piece).map_err(unreadable)?;
            if length == 0 {
                return self.send_all(desk, LAST_CHUNK).await;
            }
            self.send_chunk(desk, &piece[..length]).await?;
        }
    }

    async fn send_chunk<S: StopSign, R: Receiver>(
        &mut self,
        desk: &mut Desk<'_, S, R>,
        piece: &[u8],
    ) -> Result<(), Halt> {
        let Some(length) = NonZeroU64::new(piece.len() as u64) else {
            return Ok(());
        };
        self.send_all(desk, chunk_header(length).as_ref()).await?;
        self.send_all(desk, piece).await?;
        self.send_all(desk, CHUNK_END).await
    }

    #[inline]
    async fn send_all<S: StopSign, R: Receiver>(
        &mut self,
        desk: &mut Desk<'_, S, R>,
        bytes: &[u8],
    ) -> Result<(), Halt> {
        let mut left = bytes;
        poll_fn(|cx| {
            desk.around.stop.check(cx)?;
            match self.poll_send(cx, desk, &mut left) {
                Poll::Ready(sent) => Poll::Ready(
                    sent.map_err(|error| Halt::Unsent(self.broken(Stage::Sending, &error))),
                ),
                Poll::Pending => self.poll_early_answer(cx, desk).map(Err),
            }
        })
        .await
    }

    #[inline]
    fn poll_send<S: StopSign, R: Receiver>(
        &mut self,
        cx: &mut Context<'_>,
        desk: &mut Desk<'_, S, R>,
        left: &mut &[u8],
    ) -> Poll<io::Result<()>> {
        while !left.is_empty() {
            if desk.instants.first_byte == Nanos::ZERO {
                desk.instants.sent = desk.around.clock.now();
            }
            match ready!(Pin::new(&mut self.stream).poll_write(cx, left))? {
                0 => return Poll::Ready(Err(io::Error::from_raw_os_error(libc::EPIPE))),
                length => {
                    *left = &left[length..];
                    desk.instants.sent_bytes += length as u64;
                }
            }
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    /// Reads while the peer accepts no data: it may respond first, or wait for its response to be read. Ready
    /// when no more is to be sent.
    #[cold]
    fn poll_early_answer<S: StopSign, R: Receiver>(
        &mut self,
        cx: &mut Context<'_>,
        desk: &mut Desk<'_, S, R>,
    ) -> Poll<Halt> {
        let early = match &mut desk.early {
            Some(early) => early,
            early => {
                let answer = self.poll_answer(cx, desk.around, desk.receiver, desk.instants);
                match ready!(answer) {
                    Ok(reuse) => early.insert(EarlyAnswer {
                        reuse,
                        patience: Box::pin(tokio::time::sleep(PATIENCE)),
                    }),
                    Err(broken) => return Poll::Ready(Halt::Over(broken)),
                }
            }
        };
        ready!(early.patience.as_mut().poll(cx));
        Poll::Ready(Halt::Unsent(Failure::new(
            ErrorClass::ResetSending,
            "the target took no more of the request after its response",
        )))
    }

    fn poll_answer(
        &mut self,
        cx: &mut Context<'_>,
        around: &Around<'_, impl StopSign>,
        receiver: &mut impl Receiver,
        instants: &mut Instants,
    ) -> Poll<Result<Reuse, Broken>> {
        loop {
            around.stop.check(cx)?;
            let mut scratch = around.scratch.borrow_mut();
            let mut buffer = ReadBuf::new(&mut scratch);
            let outcome = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer));
            let bytes = buffer.filled();
            let now = around.clock.now();
            let began = instants.first_byte != Nanos::ZERO;
            if !bytes.is_empty() && !began {
                instants.first_byte = now;
            }
            instants.done = now;
            instants.received_bytes += bytes.len() as u64;
            let taken = match outcome {
                // TLS that ends without its closing message ends like anything else, as in Go.
                Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                    Err(self.broken_reading(&error))
                }
                _ => self.take_bytes(bytes, receiver),
            };
            match taken {
                Ok(None) => {}
                Ok(Some(reuse)) => {
                    instants.done = around.clock.now();
                    return Poll::Ready(Ok(reuse));
                }
                Err(_) if receiver.is_content() => return Poll::Ready(Ok(Reuse::Close)),
                Err(mut failure) => {
                    if !began && bytes.is_empty() {
                        failure.reach = Reach::Unanswered;
                    }
                    return Poll::Ready(Err(failure.at(self.address).into()));
                }
            }
        }
    }

    /// Feeds read bytes to the parser; an empty read is the end of the stream.
    #[inline]
    fn take_bytes(
        &mut self,
        bytes: &[u8],
        receiver: &mut impl Receiver,
    ) -> Result<Option<Reuse>, Failure> {
        if bytes.is_empty() {
            let ended = self.parser.finish();
            return ended
                .map(|()| Some(Reuse::Close))
                .map_err(|error| Failure::wire(&error));
        }
        let progress = self
            .parser
            .feed(bytes, receiver)
            .map_err(|error| Failure::wire(&error))?;
        if let State::Done { reuse } = progress.state {
            return match &bytes[progress.consumed..] {
                // As in Go, a redirect's long body costs its connection however much of it came at once.
                [] if receiver.is_content() && receiver.wish()? == Wish::Enough => {
                    Ok(Some(Reuse::Close))
                }
                [] => Ok(Some(reuse)),
                // They belong to no response: the connection is not reused, as in Go, curl and Java.
                _ => {
                    self.usage.given_up = Some(GivenUp::Surplus);
                    Ok(Some(Reuse::Close))
                }
            };
        }
        Ok(match receiver.wish()? {
            Wish::More => None,
            Wish::Enough => Some(Reuse::Close),
        })
    }

    /// A connection that broke, with what had come of a head.
    #[cold]
    fn broken_reading(&mut self, error: &io::Error) -> Failure {
        let failure = self.broken(Stage::Reading, error);
        match self.parser.finish() {
            Ok(()) | Err(WireError::ClosedBeforeResponse | WireError::TruncatedBody { .. }) => {
                failure
            }
            Err(part) => failure.within_head(part),
        }
    }

    #[cold]
    fn broken(&self, stage: Stage, error: &io::Error) -> Failure {
        Failure::on_connection(stage, error, self.stream.local_addr()).at(self.address)
    }
}

impl Keepable for Http1Connection {
    fn usage(&self) -> Usage {
        self.usage
    }

    /// Costs no system call when nothing has happened.
    fn is_stale(&mut self, cx: &mut Context<'_>) -> bool {
        let mut byte = [0_u8; 1];
        let mut buffer = ReadBuf::new(&mut byte);
        let looked = Pin::new(&mut self.stream).poll_read(cx, &mut buffer);
        if !buffer.filled().is_empty() {
            self.usage.given_up = Some(GivenUp::Surplus);
        }
        looked.is_ready()
    }
}
