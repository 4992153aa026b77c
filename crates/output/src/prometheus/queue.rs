//! What waits to be sent, and what becomes of it when the receiver does not take it.
//!
//! Must not know the network; instants come from outside. Invariants: requests leave in the order in
//! which they came; what waits is bounded, and what had to be left out are the oldest points, never a
//! total.

use std::collections::VecDeque;
use std::time::Duration;

/// Bytes that wait for one sender at most: minutes of ten thousand series.
const BYTES_MAX: usize = 16 << 20;
/// The first pause after a failure, and the longest.
const PAUSE_MIN: Duration = Duration::from_millis(30);
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// The longest pause that a receiver may ask for.
const ASKED_PAUSE_MAX: Duration = Duration::from_secs(60);

/// A packed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) body: Vec<u8>,
    pub(super) is_v2: bool,
    pub(super) samples: u64,
}

/// What the receiver, or the lack of one, did with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Taken,
    /// It may be taken later; after so long, if the receiver said so.
    Later {
        why: String,
        after: Option<Duration>,
    },
    /// It will never be taken.
    Refused(String),
    /// The receiver does not speak this version of the protocol.
    WrongVersion,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The next request, if there is one, at once.
    GoOn,
    /// The same request once more, after a pause.
    After(Duration),
}

/// Requests that wait for one sender.
#[derive(Debug, Default)]
pub(super) struct Queue {
    requests: VecDeque<Request>,
    bytes: usize,
    failures: u32,
    pub(super) counts: Counts,
}

/// What became of samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Taken by the receiver.
    pub sent: u64,
    /// Left out, since the receiver was away for too long.
    pub left_out: u64,
    /// Refused by the receiver.
    pub refused: u64,
    /// Attempts that were made again.
    pub retried: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Counts) {
        self.sent += other.sent;
        self.left_out += other.left_out;
        self.refused += other.refused;
        self.retried += other.retried;
    }
}

impl Queue {
    /// Adds a request; the oldest make room for it.
    pub(super) fn push(&mut self, request: Request) {
        self.bytes += request.body.len();
        self.requests.push_back(request);
        while self.bytes > BYTES_MAX && self.requests.len() > 1 {
            let oldest = self.pop();
            self.counts.left_out += oldest.map_or(0, |oldest| oldest.samples);
        }
    }

    /// The request to be sent now.
    pub(super) fn first(&self) -> Option<&Request> {
        self.requests.front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Takes note of what became of the first request.
    pub(super) fn note(&mut self, outcome: &Outcome) -> Next {
        match outcome {
            Outcome::Taken => {
                self.failures = 0;
                self.counts.sent += self.pop().map_or(0, |request| request.samples);
                Next::GoOn
            }
            Outcome::Refused(_) | Outcome::WrongVersion => {
                self.counts.refused += self.pop().map_or(0, |request| request.samples);
                Next::GoOn
            }
            Outcome::Later { after, .. } => {
                self.counts.retried += 1;
                let pause = PAUSE_MIN.saturating_mul(1 << self.failures.min(10));
                self.failures += 1;
                let asked = after.map(|asked| asked.min(ASKED_PAUSE_MAX));
                Next::After(asked.unwrap_or(pause.min(PAUSE_MAX)))
            }
        }
    }

    /// Counts what waits as left out: nobody will send it.
    pub(super) fn give_up(&mut self) {
        while let Some(request) = self.pop() {
            self.counts.left_out += request.samples;
        }
    }

    fn pop(&mut self) -> Option<Request> {
        let request = self.requests.pop_front()?;
        self.bytes -= request.body.len();
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(samples: u64, bytes: usize) -> Request {
        Request {
            body: vec![0; bytes],
            is_v2: false,
            samples,
        }
    }

    fn later(after: Option<u64>) -> Outcome {
        Outcome::Later {
            why: "away".to_owned(),
            after: after.map(Duration::from_secs),
        }
    }

    #[test]
    fn pauses_grow_to_a_limit_and_the_receiver_may_ask_for_one() {
        let mut queue = Queue::default();
        queue.push(request(1, 1));
        let pauses: Vec<_> = (0..10).map(|_| queue.note(&later(None))).collect();
        assert_eq!(pauses[0], Next::After(Duration::from_millis(30)));
        assert_eq!(pauses[1], Next::After(Duration::from_millis(60)));
        assert_eq!(pauses[9], Next::After(PAUSE_MAX));
        let asked = |seconds| Next::After(Duration::from_secs(seconds));
        assert_eq!(queue.note(&later(Some(7))), asked(7));
        assert_eq!(queue.note(&later(Some(9_999))), asked(60));
        assert_eq!(queue.note(&Outcome::Taken), Next::GoOn);
        assert!(queue.is_empty());
        assert_eq!((queue.counts.sent, queue.counts.retried), (1, 12));
    }

    proptest! {
        #[test]
        fn every_sample_is_sent_refused_left_out_or_waits(
            steps in prop::collection::vec((0_u8..5, 1_u64..9), 1..40)
        ) {
            let mut queue = Queue::default();
            let mut pushed = 0;
            for (step, samples) in steps {
                match step {
                    0 | 1 => {
                        pushed += samples;
                        queue.push(request(samples, BYTES_MAX / 3));
                    }
                    2 => {
                        queue.note(&Outcome::Taken);
                    }
                    3 => {
                        queue.note(&Outcome::Refused(String::new()));
                    }
                    _ => {
                        queue.note(&later(None));
                    }
                }
                prop_assert!(queue.bytes <= BYTES_MAX);
            }
            queue.give_up();
            let counts = &queue.counts;
            prop_assert_eq!(counts.sent + counts.refused + counts.left_out, pushed);
        }
    }
}
