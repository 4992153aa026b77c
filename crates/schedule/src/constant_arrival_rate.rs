//! Constant arrival rate: arrival `i` is due at `floor(i * per / starts)` nanoseconds.
//!
//! Must not know shares or spacing. Invariant: exact in 128 bits, so nothing drifts; k6 instead
//! rounds the period to whole nanoseconds first (`lib/executor/constant_arrival_rate.go`), which
//! at 3,000/s gains one arrival in a million.

use std::time::Duration;

use loadline_model::{ArrivalRate, Nanos};

use crate::planned::Planned;

#[derive(Clone, Debug)]
pub(crate) struct ConstantArrivalRate {
    starts: u128,
    per: u128,
    end: Option<Nanos>,
}

impl ConstantArrivalRate {
    pub(crate) fn new(rate: ArrivalRate, duration: Option<Duration>) -> ConstantArrivalRate {
        ConstantArrivalRate {
            starts: u128::from(rate.starts),
            per: u128::from(rate.per.0.max(1)),
            end: duration.map(Nanos::from),
        }
    }

    /// When the planned number is reached; `None` if that is at or after the end.
    pub(crate) fn instant(&self, planned: Planned) -> Option<Nanos> {
        let whole = u128::from(planned.whole) * self.per;
        let fraction = (u128::from(planned.fraction) * self.per) >> 32;
        let at = whole.saturating_add(fraction).checked_div(self.starts)?;
        let at = Nanos(u64::try_from(at).ok()?);
        self.end.is_none_or(|end| at < end).then_some(at)
    }

    /// Evenly spaced arrivals due at or before `now`: those with `i * per / starts < now + 1`.
    pub(crate) fn count_by(&self, now: Nanos) -> u64 {
        let now = self
            .end
            .map_or(now, |end| now.min(Nanos(end.0.saturating_sub(1))));
        if self.end == Some(Nanos::ZERO) {
            return 0;
        }
        self.count_before(u128::from(now.0) + 1)
    }

    /// Total of evenly spaced arrivals; `None` without an end.
    pub(crate) fn total(&self) -> Option<u64> {
        self.end.map(|end| self.count_before(u128::from(end.0)))
    }

    pub(crate) fn end(&self) -> Option<Nanos> {
        self.end
    }

    /// Arrivals due before an instant, which is at most 2^64.
    fn count_before(&self, instant: u128) -> u64 {
        u64::try_from((instant * self.starts).div_ceil(self.per)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(rate: &ConstantArrivalRate, index: u64) -> Option<Nanos> {
        rate.instant(Planned {
            whole: index,
            fraction: 0,
        })
    }

    #[test]
    fn thirds_of_a_second_do_not_drift() {
        let rate = ConstantArrivalRate::new(ArrivalRate::per_second(3), None);
        assert_eq!(tick(&rate, 0), Some(Nanos::ZERO));
        assert_eq!(tick(&rate, 1), Some(Nanos(333_333_333)));
        assert_eq!(tick(&rate, 3_000_000), Some(Nanos::from_secs(1_000_000)));
        assert_eq!(rate.count_by(Nanos(333_333_332)), 1);
        assert_eq!(rate.count_by(Nanos(333_333_333)), 2);
    }

    #[test]
    fn nothing_is_due_at_the_end() {
        let rate =
            ConstantArrivalRate::new(ArrivalRate::per_second(10), Some(Duration::from_secs(1)));
        assert_eq!(tick(&rate, 9), Some(Nanos::from_millis(900)));
        assert_eq!(tick(&rate, 10), None);
        assert_eq!((rate.count_by(Nanos::MAX), rate.total()), (10, Some(10)));
        let none = ConstantArrivalRate::new(ArrivalRate::per_second(10), Some(Duration::ZERO));
        assert_eq!(
            (none.count_by(Nanos::MAX), none.total(), tick(&none, 0)),
            (0, Some(0), None)
        );
    }

    #[test]
    fn extremes_do_not_overflow() {
        let fast = ArrivalRate {
            starts: u64::MAX,
            per: Nanos(1),
        };
        let rate = ConstantArrivalRate::new(fast, None);
        assert_eq!(rate.count_by(Nanos::MAX), u64::MAX);
        assert_eq!(tick(&rate, u64::MAX), Some(Nanos(1)));
        let slow = ArrivalRate {
            starts: 1,
            per: Nanos::MAX,
        };
        let rate = ConstantArrivalRate::new(slow, None);
        assert_eq!((tick(&rate, 1), tick(&rate, 2)), (Some(Nanos::MAX), None));
        let thousand_million =
            ConstantArrivalRate::new(ArrivalRate::per_second(1_000_000_000), None);
        assert_eq!(tick(&thousand_million, u64::MAX), Some(Nanos::MAX));
        let never = ConstantArrivalRate::new(ArrivalRate::per_second(0), None);
        assert_eq!((tick(&never, 0), never.count_by(Nanos::MAX)), (None, 0));
    }
}
