//! Counts per second: of what time.
//!
//! Must not judge. Invariant: no rate is infinite or NaN; seconds in which hardly anything was left to do are no time of the
//! load.

use loadline_model::result::Row;

use super::facts::{Facts, row_seconds, share};

impl Facts<'_> {
    /// A count per second of the counted part; zero for a run without duration. If the run waited
    /// long for a few last requests after the schedule, per second of the schedule.
    pub(super) fn per_second(&self, count: u64) -> f64 {
        let seconds = self.seconds - self.idle_tail_s();
        if seconds > 0.0 {
            count as f64 / seconds
        } else {
            0.0
        }
    }

    /// Mean of a count per second, over all rows.
    pub(super) fn mean_per_second(&self, of: impl Fn(&Row) -> u64) -> f64 {
        let seconds: f64 = self.rows.iter().map(|row| row_seconds(row)).sum();
        let sum: u64 = self.rows.iter().map(|row| of(row)).sum();
        sum as f64 / seconds.max(f64::MIN_POSITIVE)
    }

    /// Seconds between the end of the schedule and that of the run, if few requests ended in them; else zero.
    fn idle_tail_s(&self) -> f64 {
        /// Minimum share of the measured time.
        const LONG: f64 = 0.1;
        /// Maximum share of the requests that ended in them.
        const FEW: f64 = 0.05;
        /// Maximum of their number per second, as a share of that under load.
        const SLOWLY: f64 = 0.5;
        let ended = |row: &Row| row.completed + row.failed;
        let Some(planned) = self.evidence.plan.duration() else {
            return 0.0;
        };
        let tail = self.elapsed_seconds() - planned.as_secs_f64();
        let all = self.counts.completed + self.counts.failed_total();
        let under_load = self.rows.iter().map(|row| ended(row)).sum();
        let late = all.saturating_sub(under_load);
        let is_idle = tail >= LONG * self.seconds
            && tail < self.seconds
            && !self.rows.is_empty()
            && share(late, all) <= FEW
            && late as f64 / tail <= SLOWLY * self.mean_per_second(ended);
        if is_idle { tail } else { 0.0 }
    }
}
