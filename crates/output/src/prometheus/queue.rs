//! The queue of requests to send, with retries and losses.
//!
//! Must not know the network; time is an argument. Invariants: requests are sent in the order in which they
//! were added; the queue is bounded, and what is dropped are the oldest points, never a total.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use super::divide::{halves, shown};

/// Maximum queued bytes per sender: minutes of ten thousand series.
const BYTES_MAX: usize = 16 << 20;
/// The first pause after a failure, and the longest.
const PAUSE_MIN: Duration = Duration::from_millis(30);
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// The longest pause that a receiver may request.
const ASKED_PAUSE_MAX: Duration = Duration::from_secs(60);

/// A compressed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) body: Vec<u8>,
    pub(super) is_v2: bool,
    pub(super) samples: u64,
    /// Whether the receiver may already have accepted part of it, as part of a refused request.
    pub(super) is_known: bool,
}

/// The outcome of sending a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Taken,
    /// It may be accepted later; after this time, if the receiver gave one.
    Later {
        why: String,
        after: Option<Duration>,
        /// Whether the receiver said so; otherwise it did not answer.
        is_answer: bool,
    },
    /// It will never be accepted.
    Refused(String),
    /// It will never be accepted as it is: some sample in it is invalid for the receiver.
    Invalid(String),
    /// All but this many samples were accepted.
    Partly {
        why: String,
        refused: u64,
    },
    /// The receiver does not support this version of the protocol.
    WrongVersion,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Continue with the next request, if there is one.
    GoOn,
    /// Send the same request again, after a pause.
    After(Duration),
}

/// Maximum splits of a request: enough to find a handful of refused series among 2,000.
const DIVISIONS_MAX: u32 = 100;
/// How receivers describe a sample older than what they have. After an attempt without a response, it means
/// that they accepted the sample then.
const OUT_OF_ORDER: &str = "out of order";

/// Requests queued for one sender.
#[derive(Debug, Default)]
pub(super) struct Queue {
    requests: VecDeque<Request>,
    bytes: usize,
    failures: u32,
    /// How many of the first requests are parts of one, and how often it was split.
    parts: usize,
    divisions: u32,
    pub(super) counts: Counts,
    /// The first refusal.
    pub(super) refused: Option<RefusedSeries>,
}

/// Something that the receiver refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedSeries {
    /// The series, in the syntax of queries; `None`: the receiver refused a whole request.
    pub series: Option<String>,
    /// The reason, in the receiver's words.
    pub why: String,
}

impl fmt::Display for RefusedSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.series {
            Some(series) => write!(f, "{series}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

/// Outcomes of samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accepted by the receiver.
    pub sent: u64,
    /// Dropped because the receiver was unavailable for too long.
    pub left_out: u64,
    /// Refused by the receiver.
    pub refused: u64,
    /// Repeated attempts.
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
    /// Adds a request; the oldest ones are dropped to make room for it.
    pub(super) fn push(&mut self, request: Request) {
        self.bytes += request.body.len();
        self.requests.push_back(request);
        while self.bytes > BYTES_MAX && self.requests.len() > 1 {
            let oldest = self.pop();
            self.counts.left_out += oldest.map_or(0, |oldest| oldest.samples);
        }
    }

    /// The request to send now.
    pub(super) fn first(&self) -> Option<&Request> {
        self.requests.front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Records the outcome of the first request.
    pub(super) fn note(&mut self, outcome: &Outcome) -> Next {
        match outcome {
            Outcome::Taken => {
                self.counts.sent += self.pop().map_or(0, |request| request.samples);
                Next::GoOn
            }
            Outcome::Refused(why) => {
                self.refuse(None, why);
                Next::GoOn
            }
            Outcome::WrongVersion => {
                self.counts.refused += self.pop().map_or(0, |request| request.samples);
                Next::GoOn
            }
            Outcome::Partly { why, refused } => {
                let samples = self.pop().map_or(0, |request| request.samples);
                let refused = samples.min(*refused);
                self.counts.sent += samples - refused;
                self.counts.refused += refused;
                self.remember(None, why);
                Next::GoOn
            }
            Outcome::Invalid(why) => {
                self.note_invalid(why);
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

    /// Splits the first request until what is refused is isolated.
    fn note_invalid(&mut self, why: &str) {
        let Some(first) = self.requests.front() else {
            return;
        };
        let was_sent = first.is_known || self.failures > 0;
        if was_sent && why.contains(OUT_OF_ORDER) {
            self.counts.sent += self.pop().map_or(0, |request| request.samples);
            return;
        }
        let may_divide = self.divisions < DIVISIONS_MAX;
        match may_divide.then(|| halves(first)).flatten() {
            Some(halves) => {
                let parts = self.parts.max(1) + 1;
                let divisions = self.divisions + 1;
                self.pop();
                for half in halves.into_iter().rev() {
                    self.bytes += half.body.len();
                    self.requests.push_front(half);
                }
                (self.parts, self.divisions) = (parts, divisions);
            }
            None => self.refuse(shown(first), why),
        }
    }

    fn refuse(&mut self, series: Option<String>, why: &str) {
        self.counts.refused += self.pop().map_or(0, |request| request.samples);
        self.remember(series, why);
    }

    fn remember(&mut self, series: Option<String>, why: &str) {
        self.refused.get_or_insert_with(|| RefusedSeries {
            series,
            why: why.to_owned(),
        });
    }

    /// Counts everything queued as dropped: nobody will send it.
    pub(super) fn give_up(&mut self) {
        while let Some(request) = self.pop() {
            self.counts.left_out += request.samples;
        }
    }

    fn pop(&mut self) -> Option<Request> {
        let request = self.requests.pop_front()?;
        self.bytes -= request.body.len();
        self.failures = 0;
        self.parts = self.parts.saturating_sub(1);
        if self.parts == 0 {
            self.divisions = 0;
        }
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prometheus::client::packed;
    use crate::prometheus::protobuf::{double, message, text};
    use proptest::prelude::*;

    fn request(samples: u64, bytes: usize) -> Request {
        Request {
            body: vec![0; bytes],
            is_v2: false,
            samples,
            is_known: false,
        }
    }

    fn later(after: Option<u64>) -> Outcome {
        Outcome::Later {
            why: "away".to_owned(),
            after: after.map(Duration::from_secs),
            is_answer: false,
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

    /// A request with a series of each name.
    fn named(names: &[&str]) -> Request {
        let mut body = Vec::new();
        for name in names {
            message(&mut body, 1, |out| {
                message(out, 1, |out| {
                    text(out, 1, "__name__");
                    text(out, 2, name);
                });
                message(out, 2, |out| double(out, 1, 1.0));
            });
        }
        Request {
            body: packed(&body),
            samples: names.len() as u64,
            ..request(0, 0)
        }
    }

    #[test]
    fn of_a_request_with_one_bad_series_that_alone_is_refused_and_named() {
        let mut queue = Queue::default();
        queue.push(named(&["a", "b", "bad", "c", "d"]));
        queue.push(named(&["e"]));
        let mut posts = 0;
        while let Some(first) = queue.first() {
            posts += 1;
            let is_bad = snap::raw::Decoder::new()
                .decompress_vec(&first.body)
                .is_ok_and(|body| body.windows(3).any(|at| at == b"bad"));
            let why = "the server answered 400: duplicate sample for timestamp".to_owned();
            queue.note(&match is_bad {
                true => Outcome::Invalid(why),
                false => Outcome::Taken,
            });
        }
        assert_eq!((queue.counts.sent, queue.counts.refused), (5, 1));
        let refused = queue.refused.expect("it is named").to_string();
        assert!(
            refused.starts_with("bad{}: the server answered 400"),
            "{refused}"
        );
        assert!(posts < 9, "{posts}");
        assert_eq!((queue.bytes, queue.parts, queue.divisions), (0, 0, 0));
    }

    #[test]
    fn out_of_order_after_an_attempt_whose_answer_was_lost_is_no_error() {
        let invalid = Outcome::Invalid("the server answered 400: out of order sample".to_owned());
        let mut queue = Queue::default();
        queue.push(named(&["a", "b"]));
        queue.note(&later(None));
        queue.note(&invalid);
        assert_eq!((queue.counts.sent, queue.counts.refused), (2, 0));
        queue.push(named(&["a"]));
        queue.note(&invalid);
        assert_eq!((queue.counts.sent, queue.counts.refused), (2, 1));
    }

    #[test]
    fn what_a_receiver_says_that_it_left_out_is_refused() {
        let mut queue = Queue::default();
        queue.push(named(&["a", "b", "c"]));
        let why = "err-mimir-sample-duplicate-timestamp".to_owned();
        queue.note(&Outcome::Partly { why, refused: 1 });
        assert_eq!((queue.counts.sent, queue.counts.refused), (2, 1));
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
