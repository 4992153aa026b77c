//! The offset of another machine's monotonic clock, estimated from queries and replies.
//!
//! Must not read a clock. Invariant: the true offset is within the reported error, whatever the network did, as
//! long as both clocks run at the same speed.

/// Queries before the start.
pub(crate) const QUESTIONS: u64 = 16;
/// Queries per later comparison: the best of them counts.
const QUESTIONS_LATER: u64 = 4;

/// One query and its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// When it was sent, on this clock.
    pub(crate) asked_ns: u64,
    /// When it was read, on the other clock.
    pub(crate) read_ns: u64,
    /// When the reply arrived, on this clock.
    pub(crate) answered_ns: u64,
}

/// The offset of another clock from this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offset {
    /// Added to an instant of this clock, it gives the instant of the other one.
    pub(crate) ns: i128,
    /// Its maximum error.
    pub(crate) error_ns: u64,
}

impl Offset {
    /// The offset according to one exchange.
    fn of(exchange: &Exchange) -> Offset {
        let half = round_trip(exchange) / 2;
        Offset {
            ns: i128::from(exchange.read_ns) - i128::from(exchange.asked_ns) - i128::from(half),
            error_ns: half,
        }
    }

    /// An instant of this clock on the other one; before its zero as two's complement.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what wraps is read as a signed number there"
    )]
    pub(crate) fn there(&self, here_ns: u64) -> u64 {
        (i128::from(here_ns) + self.ns) as u64
    }

    /// An instant of the other clock on this one, as [`Offset::there`].
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what wraps is read as a signed number"
    )]
    pub(crate) fn here(&self, there_ns: u64) -> u64 {
        (i128::from(there_ns) - self.ns) as u64
    }
}

/// How much the offset of another clock has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drift {
    /// How far the other clock has run ahead of this one.
    pub(crate) ns: i64,
    /// The maximum error of that.
    pub(crate) error_ns: u64,
}

/// What is known of another clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClockSync {
    best: Option<Exchange>,
    answers: u64,
    /// The offset from the queries before the start.
    first: Option<Offset>,
    /// The best exchange of the last complete later comparison.
    last: Option<Exchange>,
    /// The best exchange so far of the comparison in progress.
    under_way: Option<Exchange>,
}

impl ClockSync {
    /// Adds an exchange; one that took longer than the best adds no information.
    pub(crate) fn take(&mut self, exchange: Exchange) {
        self.answers += 1;
        if exchange.answered_ns >= exchange.asked_ns {
            let is_later = self.answers > QUESTIONS;
            let bests = [
                Some(&mut self.best),
                is_later.then_some(&mut self.under_way),
            ];
            for best in bests.into_iter().flatten() {
                if best.is_none_or(|best| round_trip(&exchange) < round_trip(&best)) {
                    *best = Some(exchange);
                }
            }
        }
        if self.answers == QUESTIONS {
            self.first = Some(self.offset());
        } else if self.answers > QUESTIONS && !self.wants_more() {
            self.last = self.under_way.take();
        }
    }

    /// Whether the current comparison needs more queries.
    pub(crate) fn wants_more(&self) -> bool {
        let later = self.answers.checked_sub(QUESTIONS);
        later.is_none_or(|later| !later.is_multiple_of(QUESTIONS_LATER))
    }

    /// How the offset has changed between the queries before the start and the last ones; `None`: there were no later
    /// ones.
    pub(crate) fn drift(&self) -> Option<Drift> {
        let (first, last) = (self.first?, Offset::of(&self.last?));
        Some(Drift {
            ns: i64::try_from(last.ns - first.ns).ok()?,
            error_ns: first.error_ns.saturating_add(last.error_ns),
        })
    }

    /// Number of replies.
    pub(crate) fn answers(&self) -> u64 {
        self.answers
    }

    /// The offset according to the exchange with the shortest round trip; zero without any.
    pub(crate) fn offset(&self) -> Offset {
        self.best.as_ref().map_or_else(Offset::default, Offset::of)
    }
}

fn round_trip(exchange: &Exchange) -> u64 {
    exchange.answered_ns.saturating_sub(exchange.asked_ns)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_true_offset_lies_within_the_error(
            ahead in -2_000_000_000_i64..2_000_000_000,
            delays in prop::collection::vec((0_u64..30_000_000, 0_u64..30_000_000), 1..20),
        ) {
            let mut clock = ClockSync::default();
            let mut now = 5_000_000_000_u64;
            for (there, back) in delays {
                let read = u64::try_from(i128::from(now + there) + i128::from(ahead)).expect("after its start");
                clock.take(Exchange { asked_ns: now, read_ns: read, answered_ns: now + there + back });
                now += there + back;
            }
            let offset = clock.offset();
            prop_assert!((offset.ns - i128::from(ahead)).unsigned_abs() <= u128::from(offset.error_ns) + 1);
            prop_assert_eq!(i128::from(offset.there(now)), i128::from(now) + offset.ns);
            prop_assert_eq!(offset.here(offset.there(now)), now);
        }

        /// A clock that runs faster or slower by this many parts per million, queried every ten seconds.
        #[test]
        fn the_true_drift_lies_within_the_error(
            ppm in -200_i64..200,
            later in 1_usize..25,
            delays in prop::collection::vec((0_u64..30_000_000, 0_u64..30_000_000), 116),
        ) {
            let mut clock = ClockSync::default();
            let mut now = 5_000_000_000_u64;
            let there = |now: u64| {
                let since = i64::try_from(now - 5_000_000_000).expect("an hour at most");
                now.checked_add_signed(since / 1_000_000 * ppm + 1_000_000_000).expect("a time")
            };
            let all = QUESTIONS as usize + later * QUESTIONS_LATER as usize;
            for (place, (to, back)) in delays.into_iter().take(all).enumerate() {
                prop_assert_eq!(clock.drift().is_some(), place as u64 >= QUESTIONS + QUESTIONS_LATER);
                clock.take(Exchange { asked_ns: now, read_ns: there(now + to), answered_ns: now + to + back });
                now += to + back;
                if !clock.wants_more() {
                    now += 10_000_000_000;
                }
            }
            let drift = clock.drift().expect("it was asked again");
            let begun = 10_000_000_000 * later as i64;
            let truth = begun / 1_000_000 * ppm;
            // It also drifts while it is measured: each query takes 60 ms.
            let slack = drift.error_ns + (60_000_000 * all as u64 / 1_000_000 + 1) * ppm.unsigned_abs();
            prop_assert!((drift.ns - truth).unsigned_abs() <= slack, "{drift:?} {truth}");
        }
    }
}
