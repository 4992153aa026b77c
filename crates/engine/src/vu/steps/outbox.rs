//! Samples on their way from a worker's threads to whoever takes them: handed over together, as each handing over wakes
//! another thread.
//!
//! Must not know what becomes of samples. Invariant: samples leave in the order in which they were done, and none stays
//! once its worker has ended.

use std::cell::{Cell, RefCell};
use std::sync::mpsc::SyncSender;

use loadline_steps::listener::Heard;

use crate::batches::{Gone, hand};
use crate::clock::Clock;

/// Samples handed over at a time, at most.
const SAMPLES_MAX: usize = 256;
/// Bytes of answers in them, about, beyond which they do not wait for more.
const BYTES_MAX: usize = 1 << 20;

/// Samples of a worker that were not handed over yet.
pub(crate) struct Outbox {
    taker: SyncSender<Vec<Heard>>,
    waiting: RefCell<Vec<Heard>>,
    /// Bytes of answers in them.
    bytes: Cell<usize>,
}

impl Outbox {
    pub(crate) fn new(taker: SyncSender<Vec<Heard>>) -> Outbox {
        Outbox {
            taker,
            waiting: RefCell::default(),
            bytes: Cell::new(0),
        }
    }

    /// Takes samples that were done; gives the nanoseconds that the taker was waited for.
    ///
    /// # Errors
    /// [`Gone`]: nobody takes samples any more.
    pub(crate) fn put(&self, samples: Vec<Heard>, clock: &Clock) -> Result<u64, Gone> {
        let bytes: usize = samples.iter().map(|heard| heard.sample.data.len()).sum();
        self.bytes.set(self.bytes.get() + bytes);
        let mut waiting = self.waiting.borrow_mut();
        waiting.extend(samples);
        let is_full = waiting.len() >= SAMPLES_MAX || self.bytes.get() >= BYTES_MAX;
        drop(waiting);
        match is_full {
            true => self.flush(clock),
            false => Ok(0),
        }
    }

    /// Hands over what waits; gives the nanoseconds that the taker was waited for.
    ///
    /// # Errors
    /// As [`Outbox::put`].
    pub(crate) fn flush(&self, clock: &Clock) -> Result<u64, Gone> {
        let batch = self.waiting.take();
        self.bytes.set(0);
        match batch.is_empty() {
            true => Ok(0),
            false => hand(&self.taker, batch, clock),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use loadline_steps::sample::Sample;

    use super::*;

    fn sample(label: usize, bytes: usize) -> Vec<Heard> {
        vec![Heard::from(Sample {
            label: label.to_string(),
            data: vec![0; bytes],
            ..Sample::default()
        })]
    }

    #[test]
    fn samples_go_together_and_in_order() {
        let (sender, receiver) = sync_channel(8);
        let clock = Clock::start();
        let outbox = Outbox::new(sender);
        for label in 0..SAMPLES_MAX + 1 {
            outbox.put(sample(label, 0), &clock).expect("taken");
        }
        assert_eq!(
            receiver.try_recv().expect("a whole batch").len(),
            SAMPLES_MAX
        );
        assert!(receiver.try_recv().is_err(), "one waits");
        outbox.flush(&clock).expect("taken");
        let last = receiver.try_recv().expect("the rest");
        assert_eq!(last[0].sample.label, SAMPLES_MAX.to_string());
        outbox.put(sample(0, BYTES_MAX), &clock).expect("taken");
        assert_eq!(receiver.try_recv().expect("it is large").len(), 1);
        drop(receiver);
        assert_eq!(outbox.put(sample(0, BYTES_MAX), &clock), Err(Gone));
    }
}
