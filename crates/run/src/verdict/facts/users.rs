//! How virtual users spent their time: on requests, asleep, or on the script itself.
//!
//! Must not judge. Invariant: shares are those of iterations, and finite.

use loadline_model::result::Row;

use super::{Facts, row_seconds};

impl Facts<'_> {
    /// Little's law: the share of the virtual users' time spent on requests. Virtual users of a script count
    /// while they run an iteration: during a ramp there are fewer than at its top.
    pub(in crate::verdict) fn busy_share(&self) -> f64 {
        let all = self.seconds * self.vus as f64;
        match self.engaged_s().filter(|_| !self.open) {
            Some(engaged) => self.on_requests_s() / engaged.min(all),
            None if all > 0.0 => (self.on_requests_s() / all).max(self.share_at_work()),
            None => 0.0,
        }
    }

    /// Whether virtual users mostly continued as soon as they had a response.
    pub(in crate::verdict) fn is_hurried(&self) -> bool {
        const HURRIED: f64 = 0.5;
        self.open || self.busy_share() >= HURRIED
    }

    /// The share of the virtual users that had a request in flight while arrivals were due, including those
    /// that never got a response; zero if iterations may do more than requests.
    fn share_at_work(&self) -> f64 {
        if !self.open || self.may_think() || self.vus == 0 {
            return 0.0;
        }
        let sum = |of: &dyn Fn(&Row) -> f64| self.rows.iter().map(|row| of(row)).sum::<f64>();
        let seconds = sum(&|row| row_seconds(row));
        let at_work = sum(&|row| row.active_vus as f64 * row_seconds(row));
        at_work / (seconds * self.vus as f64).max(f64::MIN_POSITIVE)
    }

    /// Seconds that virtual users spent on requests that ended.
    fn on_requests_s(&self) -> f64 {
        let requests = self.seen.answered_time.sum() + self.seen.failed_time.sum();
        (requests + self.seen.phases.blocked.sum()) as f64 / 1e9
    }

    /// Seconds in which virtual users ran iterations, including pauses and computation; `None` if iterations
    /// consist of a single request, or if it is not known.
    pub(in crate::verdict) fn engaged_s(&self) -> Option<f64> {
        let mut before = self
            .rows
            .first()
            .map_or(0, |row| match self.load_is_constant() {
                true => row.active_vus,
                false => 0,
            });
        let mut sum = 0.0;
        for row in &self.rows {
            sum += (before + row.active_vus) as f64 / 2.0 * row_seconds(row);
            before = row.active_vus;
        }
        (self.may_think() && sum > 0.0).then_some(sum)
    }

    /// The share of iteration time spent on requests; 1 if an iteration is a request.
    pub(in crate::verdict) fn request_share(&self) -> f64 {
        let engaged = self.engaged_s();
        engaged.map_or(1.0, |engaged| self.on_requests_s() / engaged)
    }

    /// The share of iteration time in which a script, or threads of a plan, slept; `None` if iterations consist of a
    /// single request.
    pub(in crate::verdict) fn slept_share(&self) -> Option<f64> {
        let engaged = self.engaged_s()?;
        let scenarios = self.seen.scenarios.values();
        let of_script: u64 = scenarios.map(|change| change.slept_ns).sum();
        Some((of_script + self.seen.threads.slept_ns) as f64 / 1e9 / engaged)
    }

    /// Iterations of a script, or of threads of a plan, that ended.
    pub(in crate::verdict) fn iterations(&self) -> u64 {
        self.thrown().1 + self.seen.threads.iterations
    }

    /// The share in which it neither slept nor waited for a response.
    pub(in crate::verdict) fn awake_share(&self) -> Option<f64> {
        let slept = self.slept_share()?;
        Some((1.0 - slept - self.request_share()).max(0.0))
    }

    /// Mean duration of an iteration, in seconds.
    pub(in crate::verdict) fn mean_iteration(&self) -> Option<f64> {
        match self.engaged_s() {
            // Iterations that continue beyond the last second started within it.
            Some(engaged) if self.begun() > 0 => {
                let mean = engaged / self.begun() as f64;
                Some(mean.max(self.mean_service().unwrap_or(0.0)))
            }
            _ => self.mean_service(),
        }
    }
}
