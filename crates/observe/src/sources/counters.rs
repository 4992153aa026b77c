//! Monotonic counters as rates.
//!
//! Must not know what they count. Invariant: a reset counter yields what it counted since, never a negative
//! rate or a jump back.

use std::collections::HashMap;

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

/// The sum of several counters, which continues across resets and when one of them disappears.
#[derive(Clone, Debug, Default)]
pub(super) struct Odometers {
    of: HashMap<String, Odometer>,
    was_read: bool,
}

impl Odometers {
    /// Counters that are followed; further ones are ignored.
    const MAX: usize = 10_000;

    /// What was counted since the first read; `None`: there was no counter so far. A counter that appears later
    /// started at zero.
    pub(super) fn advance(
        &mut self,
        totals: impl IntoIterator<Item = (String, f64)>,
    ) -> Option<f64> {
        let is_first = !std::mem::replace(&mut self.was_read, true);
        for (name, total) in totals {
            if self.of.len() >= Odometers::MAX && !self.of.contains_key(&name) {
                continue;
            }
            let odometer = self.of.entry(name).or_insert_with(|| match is_first {
                true => Odometer::default(),
                false => Odometer::from_zero(),
            });
            odometer.advance(total);
        }
        let counted = self.of.values().map(|odometer| odometer.total);
        (!self.of.is_empty()).then(|| counted.sum())
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

    #[test]
    fn a_sum_continues_when_a_counter_disappears_and_counts_a_later_one_from_zero() {
        let totals = |of: &[(&str, f64)]| -> Vec<(String, f64)> {
            of.iter()
                .map(|(name, total)| ((*name).to_owned(), *total))
                .collect()
        };
        let mut sum = Odometers::default();
        assert_eq!(sum.advance(totals(&[("a", 100.0), ("b", 50.0)])), Some(0.0));
        assert_eq!(
            sum.advance(totals(&[("a", 110.0), ("b", 60.0)])),
            Some(20.0)
        );
        assert_eq!(sum.advance(totals(&[("a", 120.0)])), Some(30.0));
        assert_eq!(sum.advance(totals(&[])), Some(30.0));
        assert_eq!(sum.advance(totals(&[("a", 120.0), ("c", 5.0)])), Some(35.0));

        let mut late = Odometers::default();
        assert_eq!(late.advance(totals(&[])), None);
        assert_eq!(late.advance(totals(&[("a", 7.0)])), Some(7.0));
    }
}
