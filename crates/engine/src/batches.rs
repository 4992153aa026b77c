//! Passes batches to receivers that may be slower than the measuring side.
//!
//! Must not know what receivers do with them. Invariant: a channel's single owner closes it, however many
//! senders there are; waiting time for a receiver is measured.

use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Weak};

use loadline_model::sample::TaggedValues;

use crate::clock::Clock;

/// The receiver has ended: nothing more can be sent to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// Sends a batch; returns the nanoseconds spent waiting for the receiver.
///
/// # Errors
/// [`Gone`]; the batch is lost, and the receiver knows why.
pub fn hand<T>(taker: &SyncSender<Vec<T>>, batch: Vec<T>, clock: &Clock) -> Result<u64, Gone> {
    match taker.try_send(batch) {
        Ok(()) => Ok(0),
        Err(TrySendError::Full(batch)) => {
            let began = clock.now();
            taker.send(batch).map_err(|_| Gone)?;
            Ok(clock.now().since(began))
        }
        Err(TrySendError::Disconnected(_)) => Err(Gone),
    }
}

/// Sender of single values to the outputs.
///
/// It keeps nothing open: the outputs own the channel and close it once the run is over, whoever still holds a
/// sender (a watch on the run, an abandoned worker).
#[derive(Clone, Debug)]
pub struct ValueSender(Weak<SyncSender<Vec<TaggedValues>>>);

impl ValueSender {
    /// A sender for a channel, valid as long as its owner keeps it.
    #[must_use]
    pub fn into_channel(owned: &Arc<SyncSender<Vec<TaggedValues>>>) -> ValueSender {
        ValueSender(Arc::downgrade(owned))
    }

    /// Sends a batch, however long that takes.
    ///
    /// # Errors
    /// As [`ValueSender::hand`].
    pub fn send(&self, batch: Vec<TaggedValues>) -> Result<(), Gone> {
        let taker = self.0.upgrade().ok_or(Gone)?;
        taker.send(batch).map_err(|_| Gone)
    }

    /// Sends a batch; returns the nanoseconds spent waiting for the outputs.
    ///
    /// # Errors
    /// [`Gone`]: the channel was closed, or every output has ended.
    pub fn hand(&self, batch: Vec<TaggedValues>, clock: &Clock) -> Result<u64, Gone> {
        let taker = self.0.upgrade().ok_or(Gone)?;
        hand(&taker, batch, clock)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn the_owner_closes_the_channel_whoever_holds_a_way_into_it() {
        let clock = Clock::start();
        let (sender, receiver) = sync_channel(2);
        let owner = Arc::new(sender);
        let held = ValueSender::into_channel(&owner);
        assert_eq!(held.hand(Vec::new(), &clock), Ok(0));
        drop(owner);
        assert_eq!(receiver.iter().count(), 1, "the channel ends");
        assert_eq!(held.hand(Vec::new(), &clock), Err(Gone));
    }

    #[test]
    fn a_taker_that_is_full_is_waited_for() {
        let clock = Clock::start();
        let (sender, receiver) = sync_channel(1);
        assert_eq!(hand(&sender, vec![1], &clock), Ok(0));
        let taker = std::thread::spawn(move || receiver.iter().flatten().sum::<u32>());
        assert!(hand(&sender, vec![2], &clock).is_ok());
        drop(sender);
        assert_eq!(taker.join().expect("it only adds"), 3);
        let (sender, receiver) = sync_channel(1);
        drop(receiver);
        assert_eq!(hand(&sender, vec![1], &clock), Err(Gone));
    }
}
