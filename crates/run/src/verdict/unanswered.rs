//! Requests that timed out, or were in flight when the run ended: whether they had waited without a response,
//! and for what.
//!
//! Must not say who caused it. Invariant: requests sent just before the end are not counted.

use loadline_model::plan::Scenario;
use loadline_model::result::StopReason;
use loadline_model::units::Nanos;
use loadline_model::url::Scheme;

use super::facts::{Facts, share};
use super::failing::FAILURES_OF_OFFERED;
use super::path;
use super::stats::longer_than;

/// Requests without a response at the end of the run.
pub(super) struct Stuck {
    pub(super) requests: u64,
    /// Minimum number of seconds that each of them waited.
    pub(super) waited: f64,
}

/// Virtual users that waited for one response until the load ended.
pub(super) struct Kept {
    pub(super) users: u64,
    /// Responses without theirs.
    pub(super) answered: u64,
    /// Whether they waited during the whole load.
    pub(super) all_along: bool,
}

impl Facts<'_> {
    /// Whether requests over TLS were sent although no connection was ever made: the other side took the
    /// handshake for something else.
    pub(super) fn is_without_handshake(&self) -> bool {
        let connections = &self.seen.connections;
        let was_sent = self.all.bytes_sent > 0;
        let is_none = connections.opened == 0 && self.worst_class().is_none();
        self.is_over_tls() && was_sent && is_none && self.stuck().is_some()
    }

    /// Whether requests listed in the plan use TLS.
    pub(super) fn is_over_tls(&self) -> bool {
        let scenarios = self.evidence.plan.scenarios.iter();
        let mixes = scenarios.filter_map(Scenario::requests);
        let mut requests = mixes.flat_map(|mix| &mix.requests);
        requests.any(|request| request.origin.scheme == Scheme::Https)
    }

    /// Whether at least a tenth of the planned requests never got a response.
    pub(super) fn lacks_answers(&self) -> bool {
        const ANSWERED_MIN: f64 = 0.9;
        let to_answer = match self.is_script() || self.is_without_requests() {
            true => self.all.started,
            false => self.evidence.totals.asked.unwrap_or(0),
        };
        to_answer > 0 && share(self.all.completed, to_answer) < ANSWERED_MIN
    }

    /// Whether bytes arrived in most of the last seconds, as part of responses that did not end in time.
    pub(super) fn still_receives(&self) -> bool {
        let last = &self.rows[self.rows.len() * 2 / 3..];
        let receiving = last.iter().filter(|row| row.bytes_received > 0).count();
        receiving * 2 > last.len()
    }

    /// Whether a signal, or an order from outside, ended the run.
    pub(super) fn is_stopped_by_hand(&self) -> bool {
        matches!(
            self.evidence.totals.stop,
            StopReason::Interrupted | StopReason::Aborted | StopReason::Remote
        )
    }

    /// Requests that were in flight until the end although no more responses came, if they are as many as half
    /// of the virtual users or a tenth of all requests: no response accounts for this time.
    pub(super) fn stuck(&self) -> Option<Stuck> {
        const STUCK_SHARE: f64 = 0.1;
        let requests = self.counts.interrupted;
        let rows = self.evidence.series.iter();
        let last_end = rows
            .rev()
            .find(|row| row.completed > 0)
            .map(|row| row.at_ns.saturating_add(row.span_ns));
        let last_end_s = Nanos(last_end.unwrap_or(0)).as_secs_f64();
        let silent = self.elapsed_seconds() - last_end_s;
        let are_many = requests.saturating_mul(2) >= self.vus
            || share(requests, self.counts.started) >= STUCK_SHARE
            || self.falls_silent(last_end_s);
        let waited = match self.after_arrivals_s() {
            Some(left) => left.min(silent),
            None => silent,
        };
        let is_stuck = requests > 0 && are_many && silent >= self.in_vain_s();
        is_stuck.then_some(Stuck { requests, waited })
    }

    /// Whether the last response of a steady load came so long before its planned end that this is no chance: by the rate
    /// before, many were due.
    fn falls_silent(&self, last_end_s: f64) -> bool {
        const DUE: f64 = 20.0;
        const LEAST_S: f64 = 2.0;
        let elapsed = self.elapsed_seconds();
        let planned = self.evidence.plan.duration();
        let end = planned.map_or(elapsed, |planned| planned.as_secs_f64().min(elapsed));
        let silent = end - last_end_s;
        let usual = self.counts.completed as f64 / last_end_s.max(f64::MIN_POSITIVE);
        self.load_is_constant() && silent >= LEAST_S && usual * silent >= DUE
    }

    /// Requests of a load that was sent as planned that were in flight until the end, long after the last
    /// arrival, or that had waited far longer than usual, if they would be too many as failures.
    pub(super) fn left_waiting(&self) -> Option<Stuck> {
        let in_vain_s = self.in_vain_s();
        let after = self.after_arrivals_s().filter(|left| *left >= in_vain_s);
        let left = match after {
            Some(waited) => Stuck {
                requests: self.counts.interrupted,
                waited,
            },
            None => Stuck {
                requests: self.cut_short_in_vain(),
                waited: in_vain_s,
            },
        };
        let are_many = share(left.requests, self.counts.started) >= FAILURES_OF_OFFERED;
        (self.open && are_many && self.missed().is_none()).then_some(left)
    }

    /// Requests that had waited far longer than usual when the end of the run cut them short.
    pub(super) fn cut_short_in_vain(&self) -> u64 {
        let slow = self.answered_time().quantile(0.99).unwrap_or(0.0);
        let ns = slow.max(self.in_vain_s() * 1e9);
        longer_than(&self.seen.cut_short_time, ns as u64)
    }

    /// Virtual users of a steady load that waited for one response until it ended, if others got many meanwhile.
    pub(super) fn kept_waiting(&self) -> Option<Kept> {
        const WHOLE: f64 = 0.97;
        const LEAST_S: f64 = 3.0;
        /// Share of the virtual users from which those count that only waited at the end.
        const PART: f64 = 0.1;
        /// Responses of each of the others.
        const MANY: u64 = 5;
        let planned = self.evidence.plan.duration().unwrap_or_default();
        let planned_s = planned.as_secs_f64();
        if self.open || !self.load_is_constant() || planned_s < LEAST_S {
            return None;
        }
        let all_along = longer_than(&self.seen.answered_time, (WHOLE * planned_s * 1e9) as u64);
        let at_the_end = self.cut_short_in_vain();
        let users = match share(at_the_end, self.vus) >= PART {
            true => all_along + at_the_end,
            false => all_along,
        };
        let answered = self.counts.completed.saturating_sub(all_along);
        let is_beside_others =
            users < self.vus && answered >= MANY * self.vus.saturating_sub(users);
        (users > 0 && is_beside_others).then_some(Kept {
            users,
            answered,
            all_along: users == all_along,
        })
    }

    /// Seconds after which a response can no longer be expected.
    fn in_vain_s(&self) -> f64 {
        const LEAST_S: f64 = 1.0;
        // After a manual stop, requests in flight get no time to end.
        const LEAST_BY_HAND_S: f64 = 5.0;
        const FACTOR: f64 = 5.0;
        let least = match self.is_stopped_by_hand() {
            true => LEAST_BY_HAND_S,
            false => LEAST_S,
        };
        (FACTOR * self.mean_service().unwrap_or(0.0)).max(least)
    }

    /// Seconds from the last due arrival to the end of the run; `None` if the run ended earlier.
    fn after_arrivals_s(&self) -> Option<f64> {
        let due = self.evidence.plan.time_filled().filter(|_| self.open)?;
        let left = self.elapsed_seconds() - due.as_secs_f64();
        (left > 0.0).then_some(left)
    }

    /// The number of requests in flight at the end of the run that had no connection, if they are most of them.
    pub(super) fn wait_for_connections(&self) -> Option<u64> {
        let never_made = self.seen.connections.failed;
        // Connections are counted from the start of the run.
        let waiting = never_made.saturating_sub(self.all.failed_total());
        let are_most = waiting > 0 && waiting.saturating_mul(2) >= self.all.interrupted;
        are_most.then_some(waiting)
    }

    /// Whether the other side did not even acknowledge most of the timed-out requests: if only a process hangs,
    /// its kernel still acknowledges.
    pub(super) fn are_unacknowledged(&self, given_up: u64) -> bool {
        self.are_most(self.seen.connections.unacknowledged, given_up)
            || self.none_is_taken(given_up)
    }

    /// Whether no connection was ever taken: a queue for connections has at least one place.
    fn none_is_taken(&self, given_up: u64) -> bool {
        let looked_at = given_up.min(self.seen.connections.min_rtt.count());
        let untaken = self.seen.connections.untaken;
        self.counts.completed == 0 && untaken > 0 && untaken >= looked_at
    }

    /// Whether, on a long path, most of the timed-out requests were never acknowledged, on connections that
    /// never had a response: they were lost, or the target had not accepted the connections.
    pub(super) fn are_untaken(&self, given_up: u64) -> bool {
        path::round_trip(self).is_some() && self.are_most(self.seen.connections.untaken, given_up)
    }

    /// Whether, for most of the timed-out responses, a later part had arrived but an earlier one had not: it
    /// was lost on the path.
    pub(super) fn are_gapped(&self, given_up: u64) -> bool {
        path::round_trip(self).is_some() && self.are_most(self.seen.connections.gapped, given_up)
    }

    /// Whether most of the timed-out requests were sent again although they had arrived: their acknowledgments came with
    /// the responses, and were lost with them. The kernel of a target that hangs acknowledges before that.
    pub(super) fn are_lost_with_acknowledgments(&self, given_up: u64) -> bool {
        self.are_most(self.seen.connections.needless, given_up)
    }

    /// Whether `connections` are at least half of the connections examined when their requests timed out.
    fn are_most(&self, connections: u64, given_up: u64) -> bool {
        let looked_at = given_up.min(self.seen.connections.min_rtt.count());
        connections > 0 && connections.saturating_mul(2) >= looked_at
    }
}
