//! An HTTP/1.1 connection: one write, one read, for a small request and its answer.
//!
//! Reads go into a buffer that all connections of a worker share: between reads a connection
//! holds nothing but its parser. Must not know why a request is sent. Invariant: after an error or
//! a stop the connection is not used again.

use std::cell::RefCell;
use std::fs::File;
use std::future::poll_fn;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use loadline_model::{ErrorClass, Nanos};
use loadline_wire::{
    CHUNK_END, LAST_CHUNK, Limits, RequestKind, ResponseParser, Reuse, State, chunk_header,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::answer::AnswerSink;
use super::{Answer, Instants, PreparedBody, Wants};
use crate::clock::Clock;
use crate::net::{Failure, Stage, Stream};
use crate::vu::slot::{Stop, VuSlot};

/// Bytes of a streamed body that are sent in one chunk.
const CHUNK_BYTES: usize = 64 * 1024;

/// What an exchange borrows from its virtual user and worker.
pub(crate) struct Surroundings<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) slot: &'a VuSlot,
    pub(crate) scratch: &'a RefCell<Box<[u8]>>,
    pub(crate) wants: &'a Wants,
    /// Bytes of a body after which no more is read; `None`: all are.
    pub(crate) body_read_max: Option<u64>,
}

/// Why an exchange has no answer.
#[derive(Debug)]
pub(crate) enum Broken {
    Failed(Failure),
    Stopped(Stop),
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Broken {
        Broken::Failed(failure)
    }
}

impl From<Stop> for Broken {
    fn from(stop: Stop) -> Broken {
        Broken::Stopped(stop)
    }
}

/// One connection.
pub(crate) struct Http1Connection {
    stream: Stream,
    parser: ResponseParser,
    address: Option<SocketAddr>,
    requests: u64,
    /// Bytes sent of the request under way.
    sent_bytes: u64,
    reusable: bool,
}

impl Http1Connection {
    pub(crate) fn new(stream: Stream, address: Option<SocketAddr>) -> Http1Connection {
        let parser = ResponseParser::new(Limits::default());
        Http1Connection {
            stream,
            parser,
            address,
            requests: 0,
            sent_bytes: 0,
            reusable: true,
        }
    }

    /// Requests sent on it so far.
    pub(crate) fn requests(&self) -> u64 {
        self.requests
    }

    /// Whether another request may be sent on it.
    pub(crate) fn is_reusable(&self) -> bool {
        self.reusable
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Whether the peer has closed, or sent something, while nothing was asked; costs no system
    /// call when nothing has happened.
    pub(crate) fn is_stale(&mut self, cx: &mut Context<'_>) -> bool {
        let mut byte = [0_u8; 1];
        let mut buffer = ReadBuf::new(&mut byte);
        Pin::new(&mut self.stream)
            .poll_read(cx, &mut buffer)
            .is_ready()
    }

    /// Sends `message`, then the streamed body if there is one, and reads the answer.
    ///
    /// `answer_began` tells the caller whether a byte of the answer came, which decides whether a
    /// request may be tried again.
    pub(crate) async fn exchange(
        &mut self,
        around: &Surroundings<'_>,
        kind: RequestKind,
        message: &[u8],
        body: &PreparedBody,
        answer: &mut Answer,
    ) -> Result<Instants, Broken> {
        self.requests += 1;
        self.reusable = false;
        self.sent_bytes = 0;
        self.parser.start(kind);
        let sent = match self.send(around, message, body).await {
            Ok(()) => None,
            Err(Broken::Failed(failure)) if failure.class == ErrorClass::ResetSending => {
                Some(failure)
            }
            Err(other) => return Err(other),
        };
        let mut instants = Instants {
            sent: around.clock.now(),
            sent_bytes: self.sent_bytes,
            ..Instants::default()
        };
        let outcome = poll_fn(|cx| self.poll_answer(cx, around, answer, &mut instants)).await;
        match (outcome, sent) {
            (Ok(reuse), None) => {
                self.reusable = reuse == Reuse::KeepAlive;
                Ok(instants)
            }
            // The target answered without reading the whole request: an answer it is.
            (Ok(_), Some(_)) => Ok(instants),
            (Err(Broken::Stopped(stop)), _) => Err(Broken::Stopped(stop)),
            (Err(_), Some(sending)) => Err(sending.at(self.address).into()),
            (Err(Broken::Failed(failure)), None) => Err(failure.at(self.address).into()),
        }
    }

    async fn send(
        &mut self,
        around: &Surroundings<'_>,
        message: &[u8],
        body: &PreparedBody,
    ) -> Result<(), Broken> {
        self.send_all(around.slot, message).await?;
        match body {
            PreparedBody::Inline => Ok(()),
            PreparedBody::Chunks(bytes) => {
                for piece in bytes.chunks(CHUNK_BYTES) {
                    self.send_chunk(around.slot, piece).await?;
                }
                self.send_all(around.slot, LAST_CHUNK).await
            }
            PreparedBody::ChunkedFile(path) => {
                let unreadable = |error: io::Error| {
                    Failure::new(
                        ErrorClass::Request,
                        format!("body file {}: {error}", path.display()),
                    )
                };
                let mut file = File::open(path).map_err(unreadable)?;
                let mut piece = vec![0_u8; CHUNK_BYTES];
                loop {
                    let length = file.read(&mut piece).map_err(unreadable)?;
                    if length == 0 {
                        break;
                    }
                    self.send_chunk(around.slot, &piece[..length]).await?;
                }
                self.send_all(around.slot, LAST_CHUNK).await
            }
        }
    }

    async fn send_chunk(&mut self, slot: &VuSlot, piece: &[u8]) -> Result<(), Broken> {
        let Some(length) = NonZeroU64::new(piece.len() as u64) else {
            return Ok(());
        };
        self.send_all(slot, chunk_header(length).as_ref()).await?;
        self.send_all(slot, piece).await?;
        self.send_all(slot, CHUNK_END).await
    }

    #[inline]
    async fn send_all(&mut self, slot: &VuSlot, bytes: &[u8]) -> Result<(), Broken> {
        let mut sent = 0;
        poll_fn(|cx| {
            slot.check(cx)?;
            while sent < bytes.len() {
                match ready!(Pin::new(&mut self.stream).poll_write(cx, &bytes[sent..])) {
                    Ok(0) => return Poll::Ready(Err(sending(&io::ErrorKind::BrokenPipe.into()))),
                    Ok(length) => {
                        sent += length;
                        self.sent_bytes += length as u64;
                    }
                    Err(error) => return Poll::Ready(Err(sending(&error))),
                }
            }
            Pin::new(&mut self.stream)
                .poll_flush(cx)
                .map_err(|error| sending(&error))
        })
        .await
    }

    fn poll_answer(
        &mut self,
        cx: &mut Context<'_>,
        around: &Surroundings<'_>,
        answer: &mut Answer,
        instants: &mut Instants,
    ) -> Poll<Result<Reuse, Broken>> {
        loop {
            around.slot.check(cx)?;
            let mut scratch = around.scratch.borrow_mut();
            let mut buffer = ReadBuf::new(&mut scratch);
            let outcome = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer));
            let now = around.clock.now();
            if let Err(error) = outcome {
                return Poll::Ready(Err(reading(&error).into()));
            }
            if instants.first_byte == Nanos::ZERO && !buffer.filled().is_empty() {
                instants.first_byte = now;
            }
            instants.done = now;
            if let Some(reuse) = self.take_bytes(buffer.filled(), around, answer)? {
                return Poll::Ready(Ok(reuse));
            }
        }
    }

    /// Feeds what was read to the parser; an empty read is the end of the stream.
    #[inline]
    fn take_bytes(
        &mut self,
        bytes: &[u8],
        around: &Surroundings<'_>,
        answer: &mut Answer,
    ) -> Result<Option<Reuse>, Broken> {
        if bytes.is_empty() {
            let ended = self.parser.finish();
            return ended
                .map(|()| Some(Reuse::Close))
                .map_err(|error| Failure::wire(&error).into());
        }
        let mut sink = AnswerSink {
            answer: &mut *answer,
            wants: around.wants,
        };
        let progress = self
            .parser
            .feed(bytes, &mut sink)
            .map_err(|error| Failure::wire(&error))?;
        if let State::Done { reuse } = progress.state {
            return match &bytes[progress.consumed..] {
                [] => Ok(Some(reuse)),
                surplus => after_surplus(surplus).map(Some),
            };
        }
        let enough = around
            .body_read_max
            .is_some_and(|most| answer.body_bytes >= most);
        Ok(enough.then_some(Reuse::Close))
    }
}

/// What bytes beyond the announced end of an answer mean: its length is wrong, so what was taken for
/// the answer is not all of it. The line ends that some servers add to a body do no harm.
#[cold]
fn after_surplus(surplus: &[u8]) -> Result<Reuse, Broken> {
    if surplus.iter().all(|byte| matches!(byte, b'\r' | b'\n')) {
        return Ok(Reuse::Close);
    }
    let why = "the target sent more bytes than its answer announced";
    Err(Failure::new(ErrorClass::Malformed, why).into())
}

fn sending(error: &io::Error) -> Broken {
    Failure::io(Stage::Sending, error).into()
}

/// An abrupt end during TLS without its closing message is an end like any other.
fn reading(error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return Failure::new(
            ErrorClass::Closed,
            "the peer closed without TLS's closing message",
        );
    }
    Failure::io(Stage::Reading, error)
}
