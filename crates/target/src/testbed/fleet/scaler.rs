//! When an autoscaler starts and stops replicas.
//!
//! It must not know clocks or processes. Invariant: the wanted number is within `min..=max`; from zero, the
//! first replicas are wanted immediately.

use crate::duration::as_ns;
use crate::testbed::plan::AutoscalerPlan;

/// The load is averaged over this share of the lag, so that a moment decides nothing.
const AVERAGED_SHARE: f64 = 0.25;
/// And over no less than this.
const AVERAGED_NS_MIN: f64 = 1e6;

/// The state of one autoscaler.
#[derive(Debug)]
pub(super) struct Scaler {
    plan: AutoscalerPlan,
    /// Requests in flight, averaged.
    load: f64,
    looked_ns: u64,
    /// Since when more replicas than there are would be needed.
    above_since_ns: Option<u64>,
    /// Since when fewer would do.
    below_since_ns: Option<u64>,
}

impl Scaler {
    /// Nothing was seen yet.
    pub(super) fn new(plan: AutoscalerPlan) -> Self {
        Self {
            plan,
            load: 0.0,
            looked_ns: 0,
            above_since_ns: None,
            below_since_ns: None,
        }
    }

    /// Its settings.
    pub(super) fn plan(&self) -> &AutoscalerPlan {
        &self.plan
    }

    /// How many replicas are wanted, given the requests in flight now and how many were wanted before.
    pub(super) fn wanted(&mut self, now_ns: u64, in_flight: u64, before: u32) -> u32 {
        self.average(now_ns, in_flight);
        if before == 0 && in_flight > 0 {
            self.forget_trends();
            return self.plan.min.max(1);
        }
        let needed = self.needed(in_flight);
        match needed.cmp(&before) {
            std::cmp::Ordering::Equal => {
                self.forget_trends();
                before
            }
            std::cmp::Ordering::Greater => {
                self.below_since_ns = None;
                let since = *self.above_since_ns.get_or_insert(now_ns);
                self.after(now_ns - since >= as_ns(self.plan.lag), needed, before)
            }
            std::cmp::Ordering::Less => {
                self.above_since_ns = None;
                let since = *self.below_since_ns.get_or_insert(now_ns);
                self.after(now_ns - since >= as_ns(self.plan.idle), needed, before)
            }
        }
    }

    fn after(&mut self, lasted: bool, needed: u32, before: u32) -> u32 {
        if lasted {
            self.forget_trends();
            needed
        } else {
            before
        }
    }

    fn average(&mut self, now_ns: u64, in_flight: u64) {
        let passed_ns = now_ns.saturating_sub(self.looked_ns) as f64;
        self.looked_ns = now_ns;
        let over_ns = (as_ns(self.plan.lag) as f64 * AVERAGED_SHARE).max(AVERAGED_NS_MIN);
        let weight = 1.0 - (-passed_ns / over_ns).exp();
        self.load += (in_flight as f64 - self.load) * weight;
    }

    fn needed(&self, in_flight: u64) -> u32 {
        let by_load = (self.load / self.plan.target).ceil();
        // An average never quite reaches zero.
        let by_load = if in_flight == 0 && self.load < 0.5 {
            0.0
        } else {
            by_load
        };
        (by_load as u32).clamp(self.plan.min, self.plan.max)
    }

    fn forget_trends(&mut self) {
        self.above_since_ns = None;
        self.below_since_ns = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn scaler() -> Scaler {
        Scaler::new(AutoscalerPlan {
            to: "api".to_owned(),
            target: 10.0,
            min: 0,
            max: 4,
            cold: Duration::ZERO,
            lag: Duration::from_secs(1),
            idle: Duration::from_secs(5),
            patience: Duration::from_secs(60),
        })
    }

    /// Looks every 10 ms; the instants in milliseconds at which what is wanted changed, and to what.
    fn changes(
        scaler: &mut Scaler,
        from_ms: u64,
        to_ms: u64,
        in_flight: u64,
        before: u32,
    ) -> Vec<(u64, u32)> {
        let mut wanted = before;
        let mut changes = Vec::new();
        for ms in (from_ms..to_ms).step_by(10) {
            let next = scaler.wanted(ms * 1_000_000, in_flight, wanted);
            if next != wanted {
                changes.push((ms, next));
                wanted = next;
            }
        }
        changes
    }

    #[test]
    fn from_zero_at_once_then_up_after_the_lag_and_to_zero_when_idle() {
        let mut scaler = scaler();
        assert_eq!(changes(&mut scaler, 0, 1_000, 0, 0), []);
        let up = changes(&mut scaler, 1_000, 5_000, 25, 0);
        assert_eq!(up[0], (1_000, 1));
        assert_eq!(up.last().unwrap().1, 3, "{up:?}");
        let all_there = up.last().unwrap().0;
        assert!((2_000..3_500).contains(&all_there), "{up:?}");
        let down = changes(&mut scaler, 5_000, 15_000, 0, 3);
        assert_eq!(down.last().unwrap().1, 0, "{down:?}");
        assert!(down[0].0 >= 10_000, "{down:?}");
    }

    #[test]
    fn never_beyond_the_limits() {
        let mut scaler = scaler();
        scaler.plan.min = 2;
        assert_eq!(scaler.wanted(0, 1, 0), 2);
        let up = changes(&mut scaler, 10, 10_000, 1_000, 2);
        assert_eq!(up.last().unwrap().1, 4, "{up:?}");
        let down = changes(&mut scaler, 10_000, 30_000, 0, 4);
        assert_eq!(down.last().unwrap().1, 2, "{down:?}");
    }

    #[test]
    fn a_short_burst_changes_nothing() {
        let mut scaler = scaler();
        assert_eq!(changes(&mut scaler, 0, 5_000, 8, 1), []);
        assert_eq!(changes(&mut scaler, 5_000, 5_300, 30, 1), []);
        assert_eq!(changes(&mut scaler, 5_300, 9_000, 8, 1), []);
    }
}
