//! Whoever listens to a page's events.
//!
//! Must not know what the events tell. Invariant: writing never waits; a reader that lets its queue fill
//! up is cut off, and can come again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::body::Bytes;
use tokio::sync::{Notify, mpsc};

/// Events that may wait for one reader: as many seconds.
pub(super) const WAITING_MAX: usize = 8;
/// Readers at a time: a team round one test.
pub(super) const READERS_MAX: usize = 16;

/// One who listens.
pub(super) struct Reader {
    events: mpsc::Sender<Bytes>,
    /// Cuts the connection.
    cut: Arc<Notify>,
    _place: Place,
}

/// One of the places for readers, which is free again when this is dropped.
pub(super) struct Place(Arc<AtomicUsize>);

impl Place {
    /// Takes a place; `None` when there is none.
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
    /// A reader, and the channel that its connection takes events from.
    pub(super) fn new(cut: Arc<Notify>, place: Place) -> (Reader, mpsc::Receiver<Bytes>) {
        let (events, channel) = mpsc::channel(WAITING_MAX);
        let reader = Reader {
            events,
            cut,
            _place: place,
        };
        (reader, channel)
    }

    /// Hands an event over; whether the reader is still there.
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

    /// Whether its connection is gone.
    pub(super) fn is_gone(&self) -> bool {
        self.events.is_closed()
    }
}

/// An event as a server sends it (HTML, "Server-sent events"); the data must be one line.
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
