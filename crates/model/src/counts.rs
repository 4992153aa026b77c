//! How many requests had which outcome.
//!
//! Must not know times. Invariants: `started = completed + failed + interrupted + lost` holds for a run that has ended
//! ([`Counts::is_conserved`]); which of them are bad, and what share, is said here alone.

use serde::{Deserialize, Serialize};

use crate::error_class::ErrorClass;

/// How many requests had which outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Requests started.
    pub started: u64,
    /// Answered completely.
    pub completed: u64,
    /// Answered completely, and all checks passed.
    pub good: u64,
    /// Failed, by class, in the order of [`ErrorClass::ALL`]; serialized as an object from class name to count,
    /// without empty classes.
    #[serde(with = "failures_by_class")]
    pub failed: [u64; ErrorClass::COUNT],
    /// Started, but cut short by the end of the run.
    pub interrupted: u64,
    /// Started by an agent that was lost before it could report the outcome.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// Due while no virtual user was free, so not started.
    pub dropped: u64,
    /// Bytes sent on the wire (excluding TLS records).
    pub bytes_sent: u64,
    /// Bytes received, including headers.
    pub bytes_received: u64,
    /// Bytes of bodies received.
    pub body_bytes: u64,
    /// Redirects followed.
    pub redirects: u64,
    /// Requests that failed on a kept-alive connection before a response began and were retried on a new one.
    pub retried: u64,
}

mod failures_by_class {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::error_class::ErrorClass;

    type Failures = [u64; ErrorClass::COUNT];

    pub(super) fn serialize<S: Serializer>(failed: &Failures, to: S) -> Result<S::Ok, S::Error> {
        let named: BTreeMap<ErrorClass, u64> = ErrorClass::ALL
            .iter()
            .map(|class| (*class, failed[class.index()]))
            .filter(|(_, count)| *count > 0)
            .collect();
        named.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Failures, D::Error> {
        let named = BTreeMap::<ErrorClass, u64>::deserialize(from)?;
        let mut failed = [0; ErrorClass::COUNT];
        for (class, count) in named {
            failed[class.index()] = count;
        }
        Ok(failed)
    }
}

/// How requests ended that were not cut short: of a run, of a second, of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Answered completely.
    pub completed: u64,
    /// Answered completely, and all checks passed.
    pub good: u64,
    /// Failed, of every class.
    pub failed: u64,
}

impl Outcomes {
    /// Requests that were answered or failed.
    #[must_use]
    pub fn done(self) -> u64 {
        self.completed.saturating_add(self.failed)
    }

    /// Responses that are not good: of a bad status, or with a failed check.
    #[must_use]
    pub fn wrong(self) -> u64 {
        self.completed.saturating_sub(self.good)
    }

    /// Requests that failed or got a wrong response.
    #[must_use]
    pub fn bad(self) -> u64 {
        self.failed.saturating_add(self.wrong())
    }

    /// The bad share of the requests that were answered or failed, from 0 to 1: what `errors` and `error_rate` mean in
    /// thresholds, objectives, comparisons and documents. `None`: there were none.
    #[must_use]
    pub fn error_share(self) -> Option<f64> {
        share(self.bad(), self.done())
    }

    /// The failed share of the same; `None`: there were none.
    #[must_use]
    pub fn failed_share(self) -> Option<f64> {
        share(self.failed, self.done())
    }

    /// The wrong share of the responses; `None`: there were none.
    #[must_use]
    pub fn wrong_share(self) -> Option<f64> {
        share(self.wrong(), self.completed)
    }

    /// Adds others.
    pub fn merge(&mut self, other: Outcomes) {
        self.completed = self.completed.saturating_add(other.completed);
        self.good = self.good.saturating_add(other.good);
        self.failed = self.failed.saturating_add(other.failed);
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a run are below 2^53")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl Counts {
    /// The ends of requests that were not cut short.
    #[must_use]
    pub fn outcomes(&self) -> Outcomes {
        Outcomes {
            completed: self.completed,
            good: self.good,
            failed: self.failed_total(),
        }
    }

    /// Failures of every class.
    #[must_use]
    pub fn failed_total(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Requests whose outcome is known, or known to stay unknown.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.completed + self.failed_total() + self.interrupted + self.lost
    }

    /// Requests that started and have no outcome yet.
    #[must_use]
    pub fn unended(&self) -> u64 {
        self.started.saturating_sub(self.ended())
    }

    /// Counts requests without an outcome as cut short.
    pub fn interrupt_rest(&mut self) {
        self.interrupted += self.unended();
    }

    /// Whether every started request has an outcome.
    #[must_use]
    pub fn is_conserved(&self) -> bool {
        self.started == self.ended()
    }

    /// Merges another interval or worker.
    pub fn merge(&mut self, other: &Counts) {
        self.started += other.started;
        self.completed += other.completed;
        self.good += other.good;
        for (sum, part) in self.failed.iter_mut().zip(other.failed) {
            *sum += part;
        }
        self.interrupted += other.interrupted;
        self.lost += other.lost;
        self.dropped += other.dropped;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.body_bytes += other.body_bytes;
        self.redirects += other.redirects;
        self.retried += other.retried;
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_conserved_or_not() {
        let mut counts = Counts {
            started: 10,
            completed: 7,
            interrupted: 1,
            ..Counts::default()
        };
        counts.failed[ErrorClass::Refused.index()] = 2;
        assert!(counts.is_conserved());
        let mut twice = counts.clone();
        twice.merge(&counts);
        assert!(twice.is_conserved());
        assert_eq!(twice.failed_total(), 4);
        let json = serde_json::to_value(&twice).expect("counts are data");
        assert_eq!(json["failed"], serde_json::json!({ "refused": 4 }));
        assert_eq!(
            serde_json::from_value::<Counts>(json).expect("reads back"),
            twice
        );
        counts.started += 1;
        assert!(!counts.is_conserved());
    }

    #[test]
    fn a_wrong_response_is_as_bad_as_a_failure() {
        let outcomes = Outcomes {
            completed: 90,
            good: 60,
            failed: 10,
        };
        let shares = [
            outcomes.error_share(),
            outcomes.failed_share(),
            outcomes.wrong_share(),
        ];
        assert_eq!(shares, [Some(0.4), Some(0.1), Some(30.0 / 90.0)]);
        let mut sum = Outcomes::default();
        assert_eq!((sum.error_share(), sum.wrong_share()), (None, None));
        sum.merge(outcomes);
        assert_eq!((sum.done(), sum.wrong(), sum.bad()), (100, 30, 40));
        let mut counts = Counts {
            completed: 90,
            good: 60,
            interrupted: 5,
            ..Counts::default()
        };
        counts.failed[ErrorClass::Timeout.index()] = 4;
        counts.failed[ErrorClass::Refused.index()] = 6;
        assert_eq!(counts.outcomes(), outcomes);
    }

    #[test]
    fn what_was_lost_has_ended_and_the_rest_is_cut_short() {
        let mut counts = Counts {
            started: 20,
            completed: 7,
            lost: 4,
            interrupted: 1,
            ..Counts::default()
        };
        counts.failed[ErrorClass::Timeout.index()] = 2;
        assert_eq!((counts.ended(), counts.unended()), (14, 6));
        counts.interrupt_rest();
        assert_eq!((counts.interrupted, counts.unended()), (7, 0));
        assert!(counts.is_conserved());
    }
}
