//! The send queue of a link.
//!
//! Must not know the sender. Invariants: an archive is shared by all links and taken piece by piece, each only
//! when the previous piece has been sent; nothing else in the queue is large.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use prost::bytes::Bytes;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_stream::Stream;
use tonic::Status;

use crate::generated::to_agent::What;
use crate::generated::{Chunk, ToAgent};

/// Bytes of a piece of an archive: at most this many wait on a link whose agent does not read.
const PIECE: usize = 64 << 10;

/// Something to be sent.
#[derive(Debug)]
pub(super) enum Outbound {
    /// A message.
    Say(What),
    /// An archive, in pieces.
    Archive(Bytes),
}

/// Messages for one link, produced as they are needed.
pub(super) struct Sending {
    waiting: UnboundedReceiver<Outbound>,
    /// The rest of the archive that is being sent.
    archive: Bytes,
}

impl Sending {
    pub(super) fn new(waiting: UnboundedReceiver<Outbound>) -> Sending {
        Sending {
            waiting,
            archive: Bytes::new(),
        }
    }
}

impl Stream for Sending {
    type Item = Result<ToAgent, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let what = loop {
            if !self.archive.is_empty() {
                let length = self.archive.len().min(PIECE);
                let bytes = self.archive.split_to(length);
                break What::Program(Chunk { bytes });
            }
            match ready!(self.waiting.poll_recv(cx)) {
                None => return Poll::Ready(None),
                Some(Outbound::Say(what)) => break what,
                Some(Outbound::Archive(archive)) => self.archive = archive,
            }
        };
        Poll::Ready(Some(Ok(ToAgent { what: Some(what) })))
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use tokio::sync::mpsc;

    use super::*;
    use crate::generated::Received;

    fn next(sending: &mut Sending) -> Option<What> {
        let mut cx = Context::from_waker(Waker::noop());
        match Pin::new(sending).poll_next(&mut cx) {
            Poll::Ready(Some(Ok(message))) => message.what,
            Poll::Ready(Some(Err(why))) => panic!("{why}"),
            Poll::Ready(None) | Poll::Pending => None,
        }
    }

    /// A link that is not read only holds memory that all links share: the archive itself.
    #[test]
    fn many_links_share_one_archive() {
        let archive = Bytes::from(vec![7; 8 << 20]);
        let within = archive.as_ptr_range();
        let mut links: Vec<Sending> = (0..500)
            .map(|_| {
                let (to, waiting) = mpsc::unbounded_channel();
                to.send(Outbound::Archive(archive.clone())).expect("open");
                let received = What::Received(Received { number: 1 });
                to.send(Outbound::Say(received)).expect("open");
                Sending::new(waiting)
            })
            .collect();
        let mut held = Vec::new();
        for link in &mut links {
            for _ in 0..3 {
                let Some(What::Program(piece)) = next(link) else {
                    panic!("the archive comes first");
                };
                assert!(piece.bytes.len() <= PIECE && within.contains(&piece.bytes.as_ptr()));
                held.push(piece);
            }
        }
        let mut last = links.pop().expect("there are 500");
        let mut length = 3 * PIECE;
        loop {
            match next(&mut last) {
                Some(What::Program(piece)) => length += piece.bytes.len(),
                other => {
                    assert!(matches!(other, Some(What::Received(_))), "{other:?}");
                    break;
                }
            }
        }
        assert_eq!((length, next(&mut last)), (8 << 20, None));
    }
}
