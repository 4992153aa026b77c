//! Samples on their way from the threads of all workers to the receiver: handed over in batches, because each
//! hand-over wakes another thread.
//!
//! Must not know what happens to samples. Invariants: samples leave in the order in which they ended, on whichever
//! worker, as in JMeter's results; none is left once a worker has ended.

use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use loadline_steps::listener::Heard;

use crate::batches::{Gone, hand};
use crate::clock::Clock;

/// Maximum samples handed over at a time.
const SAMPLES_MAX: usize = 256;
/// Approximate bytes of responses from which a batch does not wait for more.
const BYTES_MAX: usize = 1 << 20;

/// Samples of a run that were not handed over yet.
#[derive(Debug)]
pub struct Outbox {
    taker: SyncSender<Vec<Heard>>,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    samples: Vec<Heard>,
    /// Bytes of responses in them.
    bytes: usize,
}

impl Outbox {
    /// The channel to a receiver.
    #[must_use]
    pub fn new(taker: SyncSender<Vec<Heard>>) -> Outbox {
        Outbox {
            taker,
            waiting: Mutex::default(),
        }
    }

    /// The receiver itself, for samples from elsewhere.
    #[must_use]
    pub fn taker(&self) -> SyncSender<Vec<Heard>> {
        self.taker.clone()
    }

    /// Takes finished samples; returns the nanoseconds spent waiting for the receiver.
    ///
    /// # Errors
    /// [`Gone`]: the receiver has ended.
    pub(crate) fn put(&self, samples: Vec<Heard>, clock: &Clock) -> Result<u64, Gone> {
        let (mut waiting, held_up_ns) = self.locked(clock);
        let bytes: usize = samples.iter().map(|heard| heard.sample.data.len()).sum();
        waiting.bytes += bytes;
        waiting.samples.extend(samples);
        match waiting.samples.len() >= SAMPLES_MAX || waiting.bytes >= BYTES_MAX {
            true => Ok(held_up_ns + self.hand_over(waiting, clock)?),
            false => Ok(held_up_ns),
        }
    }

    /// Hands over what waits; returns the nanoseconds spent waiting for the receiver.
    ///
    /// # Errors
    /// As [`Outbox::put`].
    pub(crate) fn flush(&self, clock: &Clock) -> Result<u64, Gone> {
        let (waiting, held_up_ns) = self.locked(clock);
        Ok(held_up_ns + self.hand_over(waiting, clock)?)
    }

    /// The queue, and the time spent waiting for another worker, which may itself be blocked by the receiver.
    fn locked(&self, clock: &Clock) -> (MutexGuard<'_, Waiting>, u64) {
        match self.waiting.try_lock() {
            Ok(waiting) => (waiting, 0),
            Err(TryLockError::Poisoned(poisoned)) => (poisoned.into_inner(), 0),
            Err(TryLockError::WouldBlock) => {
                let began = clock.now();
                let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                (waiting, clock.now().since(began))
            }
        }
    }

    /// Hands over while no other worker can, so that batches also keep their order.
    fn hand_over(&self, mut waiting: MutexGuard<'_, Waiting>, clock: &Clock) -> Result<u64, Gone> {
        waiting.bytes = 0;
        match waiting.samples.is_empty() {
            true => Ok(0),
            false => hand(&self.taker, std::mem::take(&mut waiting.samples), clock),
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

    #[test]
    fn samples_of_several_workers_go_in_the_order_in_which_they_were_done() {
        let (sender, receiver) = sync_channel(8);
        let clock = Clock::start();
        let outbox = Outbox::new(sender);
        for label in 0..4 {
            let done = || outbox.put(sample(label, 0), &clock).expect("taken");
            std::thread::scope(|scope| drop(scope.spawn(done)));
        }
        outbox.flush(&clock).expect("taken");
        let batch = receiver.try_recv().expect("all of them");
        let labels: Vec<&str> = batch.iter().map(|heard| &*heard.sample.label).collect();
        assert_eq!(labels, ["0", "1", "2", "3"]);
    }
}
