//! An HTTP/1.1 connection: one write, one read, for a small request and its answer.
//!
//! Reads go into a buffer that all connections of a worker share: between reads a connection
//! holds nothing but its parser. Must not know why a request is sent, nor by which front end.
//! Invariant: after an error or a stop the connection is not used again.

use std::fs::File;
use std::future::poll_fn;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use loadline_model::{ErrorClass, Nanos};
use loadline_wire::{
    CHUNK_END, LAST_CHUNK, Limits, RequestKind, ResponseParser, Reuse, State, chunk_header,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{Around, Broken, Instants, Keepable, Receiver, StopSign, Usage, Wish};
use crate::net::{Failure, Reach, Stage, Stream};

/// Bytes of a streamed body that are sent in one chunk.
const CHUNK_BYTES: usize = 64 * 1024;

/// The bytes of a request.
pub(crate) struct Message<'a> {
    pub(crate) kind: RequestKind,
    /// The head, and a short body behind it.
    pub(crate) head: &'a [u8],
    pub(crate) body: Body<'a>,
}

/// What is sent behind the head.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    /// As it is; empty: the body is behind the head already, or there is none.
    Bytes(&'a [u8]),
    /// In chunks from memory.
    Chunks(&'a [u8]),
    /// In chunks from a file that is read anew.
    ChunkedFile(&'a Path),
}

/// One connection.
pub(crate) struct Http1Connection {
    stream: Stream,
    parser: ResponseParser,
    address: Option<SocketAddr>,
    usage: Usage,
}

impl Http1Connection {
    /// Speaks HTTP/1.1 on a stream that was made at `made_at`.
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

    /// Sends a message and reads its answer; what a failure's [`Reach`] says decides whether the
    /// request may be tried again.
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
        let unsent = match self.send(around, &message, instants).await {
            Ok(()) => None,
            Err(Broken::Failed(failure)) if failure.class != ErrorClass::Request => Some(failure),
            Err(other) => return Err(other),
        };
        let outcome = poll_fn(|cx| self.poll_answer(cx, around, receiver, instants)).await;
        match (outcome, unsent) {
            (Ok(reuse), None) => {
                self.usage.is_reusable = reuse == Reuse::KeepAlive;
                Ok(())
            }
            // The peer answered without reading the whole request: an answer it is.
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
    async fn send(
        &mut self,
        around: &Around<'_, impl StopSign>,
        message: &Message<'_>,
        instants: &mut Instants,
    ) -> Result<(), Broken> {
        self.send_all(around, message.head, instants).await?;
        match message.body {
            Body::Bytes([]) => Ok(()),
            Body::Bytes(bytes) => self.send_all(around, bytes, instants).await,
            Body::Chunks(bytes) => {
                for piece in bytes.chunks(CHUNK_BYTES) {
                    self.send_chunk(around, piece, instants).await?;
                }
                self.send_all(around, LAST_CHUNK, instants).await
            }
            Body::ChunkedFile(path) => self.send_file(around, path, instants).await,
        }
    }

    async fn send_file(
        &mut self,
        around: &Around<'_, impl StopSign>,
        path: &Path,
        instants: &mut Instants,
    ) -> Result<(), Broken> {
        let unreadable = |error: io::Error| {
            let why = format!("body file {}: {error}", path.display());
            Failure::new(ErrorClass::Request, why)
        };
        let mut file = File::open(path).map_err(unreadable)?;
        let mut piece = vec![0_u8; CHUNK_BYTES];
        loop {
            let length = file.read(&mut piece).map_err(unreadable)?;
            if length == 0 {
                return self.send_all(around, LAST_CHUNK, instants).await;
            }
            self.send_chunk(around, &piece[..length], instants).await?;
        }
    }

    async fn send_chunk(
        &mut self,
        around: &Around<'_, impl StopSign>,
        piece: &[u8],
        instants: &mut Instants,
    ) -> Result<(), Broken> {
        let Some(length) = NonZeroU64::new(piece.len() as u64) else {
            return Ok(());
        };
        self.send_all(around, chunk_header(length).as_ref(), instants)
            .await?;
        self.send_all(around, piece, instants).await?;
        self.send_all(around, CHUNK_END, instants).await
    }

    #[inline]
    async fn send_all(
        &mut self,
        around: &Around<'_, impl StopSign>,
        bytes: &[u8],
        instants: &mut Instants,
    ) -> Result<(), Broken> {
        let mut left = bytes;
        poll_fn(|cx| {
            around.stop.check(cx)?;
            while !left.is_empty() {
                instants.sent = around.clock.now();
                match ready!(Pin::new(&mut self.stream).poll_write(cx, left)) {
                    Ok(0) => {
                        let closed = io::Error::from_raw_os_error(libc::EPIPE);
                        return Poll::Ready(Err(self.broken(Stage::Sending, &closed).into()));
                    }
                    Ok(length) => {
                        left = &left[length..];
                        instants.sent_bytes += length as u64;
                    }
                    Err(error) => {
                        return Poll::Ready(Err(self.broken(Stage::Sending, &error).into()));
                    }
                }
            }
            Pin::new(&mut self.stream)
                .poll_flush(cx)
                .map_err(|error| self.broken(Stage::Sending, &error).into())
        })
        .await
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
                    Err(self.broken(Stage::Reading, &error))
                }
                _ => self.take_bytes(bytes, receiver),
            };
            match taken {
                Ok(None) => {}
                Ok(Some(reuse)) => {
                    instants.done = around.clock.now();
                    return Poll::Ready(Ok(reuse));
                }
                Err(mut failure) => {
                    if !began && bytes.is_empty() {
                        failure.reach = Reach::Unanswered;
                    }
                    return Poll::Ready(Err(failure.at(self.address).into()));
                }
            }
        }
    }

    /// Feeds what was read to the parser; an empty read is the end of the stream.
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
                [] => Ok(Some(reuse)),
                // They belong to no answer: the connection is not used again, as in Go, curl and Java.
                _ => Ok(Some(Reuse::Close)),
            };
        }
        Ok(match receiver.wish()? {
            Wish::More => None,
            Wish::Enough => Some(Reuse::Close),
        })
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
        Pin::new(&mut self.stream)
            .poll_read(cx, &mut buffer)
            .is_ready()
    }
}
