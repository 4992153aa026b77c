//! Requests that were still waited for when the run ended, and what had become of them.
//!
//! Must not judge. Invariant: who had no time to wait is not said to have waited in vain.

use loadline_model::plan::Scenario;
use loadline_model::result::StopReason;
use loadline_model::units::Nanos;
use loadline_model::url::Scheme;

use super::facts::{Facts, share};

/// Requests without an answer at the end of the run.
pub(super) struct Stuck {
    pub(super) requests: u64,
    /// Seconds that each of them waited, at least.
    pub(super) waited: f64,
}

impl Facts<'_> {
    /// Whether requests over TLS went out and no connection was ever made: the other side took a handshake for something else.
    pub(super) fn is_without_handshake(&self) -> bool {
        let connections = &self.seen.connections;
        let was_sent = self.all.bytes_sent > 0;
        let is_none = connections.opened == 0 && self.worst_class().is_none();
        self.is_over_tls() && was_sent && is_none && self.stuck().is_some()
    }

    /// Whether requests that the plan lists go over TLS.
    pub(super) fn is_over_tls(&self) -> bool {
        let scenarios = self.evidence.plan.scenarios.iter();
        let mixes = scenarios.filter_map(Scenario::requests);
        let mut requests = mixes.flat_map(|mix| &mix.requests);
        requests.any(|request| request.origin.scheme == Scheme::Https)
    }

    /// Whether a signal ended the run, or somebody from outside.
    pub(super) fn is_stopped_by_hand(&self) -> bool {
        matches!(
            self.evidence.totals.stop,
            StopReason::Interrupted | StopReason::Aborted | StopReason::Remote
        )
    }

    /// Requests that were under way when the run ended, where half of the virtual users or a tenth of all requests had
    /// waited in vain for much longer than an answer takes: time that no answer tells of.
    pub(super) fn stuck(&self) -> Option<Stuck> {
        const WAITED_MIN_S: f64 = 1.0;
        // Who stops a run by hand grants what is under way no time to end.
        const WAITED_MIN_BY_HAND_S: f64 = 5.0;
        const WAITED_FACTOR: f64 = 5.0;
        const STUCK_SHARE: f64 = 0.1;
        let requests = self.counts.interrupted;
        let rows = self.evidence.series.iter();
        let last_end = rows
            .rev()
            .find(|row| row.completed > 0)
            .map(|row| row.at_ns.saturating_add(row.span_ns));
        let waited = self.elapsed_seconds() - Nanos(last_end.unwrap_or(0)).as_secs_f64();
        let least = match self.is_stopped_by_hand() {
            true => WAITED_MIN_BY_HAND_S,
            false => WAITED_MIN_S,
        };
        let least = least.max(WAITED_FACTOR * self.mean_service().unwrap_or(0.0));
        let are_many = requests.saturating_mul(2) >= self.vus
            || share(requests, self.counts.started) >= STUCK_SHARE;
        (requests > 0 && are_many && waited >= least).then_some(Stuck { requests, waited })
    }
}
