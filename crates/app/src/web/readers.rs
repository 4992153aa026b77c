//! The readers of a page's events.
//!
//! Must not know the events. Invariant: writing never waits; a reader whose queue is full is disconnected, and
//! may reconnect.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::body::Bytes;
use tokio::sync::{Notify, mpsc};

/// Maximum number of queued events per reader, each for one second.
pub(super) const WAITING_MAX: usize = 8;
/// Maximum number of concurrent readers: a team around one test.
pub(super) const READERS_MAX: usize = 16;

/// A reader.
pub(super) struct Reader {
    events: mpsc::Sender<Bytes>,
    /// Cuts the connection.
    cut: Arc<Notify>,
    _place: Place,
}

/// A slot for a reader, released when this is dropped.
pub(super) struct Place(Arc<AtomicUsize>);

impl Place {
    /// Takes a slot; `None` if none is free.
    pub(super) fn take(taken: &Arc<AtomicUsize>) -> Option<Place> {
        let one_more = |taken: usize| (taken < READERS_MAX).then_some(taken + 1);
        taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .ok()
            .map(|_| Place(Arc::clone(taken)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Reader {
    /// A reader, and the channel from which its connection takes events.
    pub(super) fn new(cut: Arc<Notify>, place: Place) -> (Reader, mpsc::Receiver<Bytes>) {
        let (events, channel) = mpsc::channel(WAITING_MAX);
        let reader = Reader {
            events,
            cut,
            _place: place,
        };
        (reader, channel)
    }

    /// Sends an event; returns whether the reader is still connected.
    pub(super) fn tell(&self, event: &Bytes) -> bool {
        match self.events.try_send(event.clone()) {
            Ok(()) => true,
            Err(mpsc::error::TrySendError::Full(_)) => {
                self.cut.notify_one();
                false
            }
            Err(mpsc::error::TrySendError::Closed(_)) => false,
        }
    }

    /// Whether its connection is closed.
    pub(super) fn is_gone(&self) -> bool {
        self.events.is_closed()
    }
}

/// An event in the format of HTML's "Server-sent events"; the data must be one line.
pub(super) fn event(name: &str, data: &str) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_few_and_come_free() {
        let taken = Arc::new(AtomicUsize::new(0));
        let mut places: Vec<Option<Place>> =
            (0..READERS_MAX).map(|_| Place::take(&taken)).collect();
        assert!(places.iter().all(Option::is_some));
        assert!(Place::take(&taken).is_none());
        places.pop();
        assert!(Place::take(&taken).is_some());
    }

    #[test]
    fn a_reader_that_does_not_read_is_cut_off_and_one_that_left_is_gone() {
        let taken = Arc::new(AtomicUsize::new(0));
        let place = || Place::take(&taken).expect("a place");
        let (slow, _channel) = Reader::new(Arc::default(), place());
        let some = event("second", "{}");
        assert!((0..WAITING_MAX).all(|_| slow.tell(&some)));
        assert!(!slow.tell(&some));
        let (left, channel) = Reader::new(Arc::default(), place());
        drop(channel);
        assert!(left.is_gone() && !left.tell(&some));
        assert_eq!(&some[..], b"event: second\ndata: {}\n\n");
    }
}
