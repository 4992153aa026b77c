//! Bodies as hyper sends them: whole, or piece by piece with precise pauses.
//!
//! It must not know endpoints. Invariant: a body that announces its length yields exactly that many bytes, or
//! fails.

use super::connection::Busy;
use super::timer::{Sleep, Timer};
use crate::reply::{Chunk, Chunks, ReplyBody};
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The body of an answer.
pub(crate) enum AnswerBody {
    /// All of it; `None` once sent or when empty.
    Full(Option<Bytes>),
    /// Produced while it is sent.
    Paced(Box<Paced>),
}

/// A body that is produced while it is sent.
pub(crate) struct Paced {
    chunks: Chunks,
    length: Option<u64>,
    timer: Arc<Timer>,
    waiting: Option<(Sleep, Bytes)>,
    /// Keeps the connection from counting as idle while the body is sent.
    _busy: Busy,
}

impl AnswerBody {
    /// A body of bytes at hand.
    pub(crate) fn full(bytes: Bytes) -> Self {
        Self::Full(if bytes.is_empty() { None } else { Some(bytes) })
    }

    /// The body of a reply; `busy` is held until a streamed body ends.
    pub(crate) fn new(body: ReplyBody, timer: &Arc<Timer>, busy: Busy) -> Self {
        match body {
            ReplyBody::Full(bytes) => Self::full(bytes),
            ReplyBody::Chunks { chunks, length } => {
                let timer = Arc::clone(timer);
                Self::Paced(Box::new(Paced {
                    chunks,
                    length,
                    timer,
                    waiting: None,
                    _busy: busy,
                }))
            }
        }
    }
}

impl Paced {
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            if let Some((sleep, bytes)) = &mut self.waiting {
                if Pin::new(sleep).poll(cx).is_pending() {
                    return Poll::Pending;
                }
                let bytes = std::mem::take(bytes);
                self.waiting = None;
                return Poll::Ready(Some(Ok(bytes)));
            }
            match self.chunks.next() {
                None => return Poll::Ready(None),
                Some(Chunk::Abort) => {
                    return Poll::Ready(Some(Err(io::Error::other("broken off as asked"))));
                }
                Some(Chunk::Data { pause, bytes }) if pause.is_zero() => {
                    return Poll::Ready(Some(Ok(bytes)));
                }
                Some(Chunk::Data { pause, bytes }) => {
                    let instant = self.timer.now_ns() + crate::duration::as_ns(pause);
                    self.waiting = Some((self.timer.sleep_until(instant), bytes));
                }
            }
        }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match &mut *self {
            Self::Full(bytes) => Poll::Ready(bytes.take().map(|b| Ok(Frame::data(b)))),
            Self::Paced(paced) => paced
                .poll_chunk(cx)
                .map(|chunk| chunk.map(|bytes| bytes.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Full(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Full(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64)),
            Self::Paced(paced) => paced
                .length
                .map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}
