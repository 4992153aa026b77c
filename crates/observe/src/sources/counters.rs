//! Monotonic counters as rates.
//!
//! Must not know what they count. Invariant: a reset counter yields what it counted since, never a negative
//! rate or a jump back.

use crate::clock::seconds_between;

/// The increase of a counter. A lower value means a reset to zero (as in Prometheus).
pub(super) fn rise(before: f64, now: f64) -> f64 {
    match now >= before {
        true => now - before,
        false => now,
    }
}

/// The rate of one counter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateMeter {
    before: Option<(u64, f64)>,
}

impl RateMeter {
    /// The rate per second since the last read; `None` at the first one, and if no time has passed.
    pub(super) fn advance(&mut self, at_unix_ns: u64, now: f64) -> Option<f64> {
        let (since, before) = self.before.replace((at_unix_ns, now))?;
        let elapsed = seconds_between(since, at_unix_ns);
        (elapsed > 0.0).then(|| rise(before, now) / elapsed)
    }

    /// Forgets the last read: what was counted in between is unknown.
    pub(super) fn forget(&mut self) {
        self.before = None;
    }
}

/// Continues counting across resets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Odometer {
    before: Option<f64>,
    total: f64,
}

impl Odometer {
    /// For a counter that started at zero since: the first read counts as a whole.
    pub(super) fn from_zero() -> Odometer {
        Odometer {
            before: Some(0.0),
            total: 0.0,
        }
    }

    /// What was counted since the first read.
    pub(super) fn advance(&mut self, now: f64) -> f64 {
        let before = self.before.replace(now).unwrap_or(now);
        self.total += rise(before, now);
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_goes_on_over_a_new_beginning() {
        let mut meter = RateMeter::default();
        let second = 1_000_000_000;
        assert_eq!(meter.advance(0, 100.0), None);
        assert_eq!(meter.advance(2 * second, 120.0), Some(10.0));
        assert_eq!(meter.advance(3 * second, 5.0), Some(5.0));
        assert_eq!(meter.advance(3 * second, 6.0), None);
    }

    #[test]
    fn an_odometer_begins_at_zero_and_never_goes_back() {
        let mut odometer = Odometer::default();
        let totals = [7.0, 10.0, 2.0, 3.0].map(|now| odometer.advance(now));
        assert_eq!(totals, [0.0, 3.0, 5.0, 6.0]);
    }
}
