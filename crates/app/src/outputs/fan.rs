//! The thread that passes every batch to each of several receivers.
//!
//! Must not know the content of a batch. Invariant: each receiver gets every batch in order; the time spent
//! waiting for a receiver is counted separately.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use loadline_engine::batches::{Gone, hand};
use loadline_engine::clock::Clock;

/// The thread.
pub(crate) struct Fan {
    thread: JoinHandle<Vec<u64>>,
}

impl Fan {
    /// Starts to distribute batches.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn start<T: Clone + Send + 'static>(
        receiver: Receiver<Vec<T>>,
        senders: Vec<SyncSender<Vec<T>>>,
    ) -> io::Result<Fan> {
        let thread = thread::Builder::new()
            .name("outputs".to_owned())
            .spawn(move || hand_out(&receiver, &senders))?;
        Ok(Fan { thread })
    }

    /// Waits for the last batch; returns how long each receiver was waited for, in nanoseconds, in the order of
    /// the senders. `None`: the thread panicked.
    pub(super) fn finish(self) -> Option<Vec<u64>> {
        self.thread.join().ok()
    }
}

fn hand_out<T: Clone>(receiver: &Receiver<Vec<T>>, senders: &[SyncSender<Vec<T>>]) -> Vec<u64> {
    let clock = Clock::start();
    let mut waited_ns = vec![0; senders.len()];
    let Some((last, others)) = senders.split_last() else {
        return waited_ns;
    };
    while let Ok(batch) = receiver.recv() {
        for (sender, waited_ns) in others.iter().zip(&mut waited_ns) {
            *waited_ns += handed(hand(sender, batch.clone(), &clock));
        }
        waited_ns[others.len()] += handed(hand(last, batch, &clock));
    }
    waited_ns
}

/// A receiver that ended has reported why, and was not waited for.
fn handed(waited_ns: Result<u64, Gone>) -> u64 {
    waited_ns.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn each_gets_everything_and_who_has_room_is_not_waited_for() {
        let (sender, receiver) = sync_channel(1);
        let (fast, from_fast) = sync_channel(1_000);
        let (slow, from_slow) = sync_channel(1);
        let fan = Fan::start(receiver, vec![fast, slow]).unwrap();
        let taker = thread::spawn(move || from_slow.iter().flatten().sum::<u64>());
        for number in 0..5 {
            sender.send(vec![number]).unwrap();
        }
        drop(sender);
        let waited_ns = fan.finish().unwrap();
        assert_eq!(waited_ns.len(), 2);
        assert_eq!(waited_ns[0], 0);
        assert_eq!(taker.join().unwrap(), 10);
        assert_eq!(
            from_fast.iter().flatten().collect::<Vec<u64>>(),
            [0, 1, 2, 3, 4]
        );
    }
}
