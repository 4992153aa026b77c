//! What a simulated run saw.
//!
//! Must not know how it came about. Invariant (conservation): started = completed + rejected +
//! interrupted, and in the open model due = started + dropped + never started.

use loadline_metric::TimeTrend;
use loadline_model::Nanos;

use crate::server::Answer;

/// Counts and times of a simulated run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Iterations started.
    pub started: u64,
    /// Iterations that the server answered.
    pub completed: u64,
    /// Iterations that the server rejected.
    pub rejected: u64,
    /// Iterations started and cut.
    pub interrupted: u64,
    /// Arrivals that found no free virtual user and were not started.
    pub dropped: u64,
    /// Arrivals that waited for a virtual user until it was too late to start.
    pub never_started: u64,
    /// Send to answer, of completed and rejected iterations, in nanoseconds.
    pub service_time: TimeTrend,
    /// Intended start to answer of the same; in the closed model the intended start is the send.
    pub response_time: TimeTrend,
    /// The last answer or cut.
    pub ended: Nanos,
}

impl Outcome {
    /// Counts an iteration that was started at `sent` and is cut at `cut` if it is not answered.
    pub(crate) fn record(
        &mut self,
        intended: Nanos,
        sent: Nanos,
        answer: Answer,
        cut: Option<Nanos>,
    ) {
        self.started += 1;
        if let Some(cut) = cut.filter(|cut| answer.at > *cut) {
            self.interrupted += 1;
            self.ended = self.ended.max(cut);
            return;
        }
        if answer.served {
            self.completed += 1;
        } else {
            self.rejected += 1;
        }
        self.service_time.record(answer.at.since(sent));
        self.response_time.record(answer.at.since(intended));
        self.ended = self.ended.max(answer.at);
    }
}
