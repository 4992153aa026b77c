//! Ramping arrival rate: the rate changes linearly within each stage.
//!
//! Must not know shares or spacing. Invariant: all areas under the rate are exact integers in 128 bits, so an
//! instant depends only on the planned number, instants never decrease, and the whole run's number of arrivals
//! is the floor of its area.
//!
//! The instants are k6's (`lib/executor/ramping_arrival_rate.go`, `cal`): arrival `i`, from one, is due where
//! the area reaches `i`, truncated to nanoseconds. k6 solves the quadratic in floating point; here that is the
//! first guess, and the exact area decides.
//!
//! Unit of area: `1 / (2 * unit)` starts, where `unit` is the common unit of time of all rates in nanoseconds.
//! At `x` ns, a leg of `D` ns from `a` to `b` starts per unit has the area `2*a*x + (b-a)*x^2/D`.

use loadline_model::executor::RateStage;
use loadline_model::segment::greatest_common_divisor;
use loadline_model::{ArrivalRate, Nanos};

use crate::planned::Planned;

/// Rates and their unit stay below this, so that areas over 2^64 ns fit 128 bits.
const LARGEST: u128 = 1 << 62;

/// Ramps are cut off here, after 292 years, so that sums of instants fit 64 bits.
const LONGEST: u64 = 1 << 63;

/// The unit of time if the rates have no common unit below [`LARGEST`]: the resolution is then a millionth of a
/// start per second.
const FALLBACK_UNIT: u128 = 1_000_000_000_000_000;

#[derive(Clone, Debug)]
pub(crate) struct RampingArrivalRate {
    /// The common unit of time of the legs' rates, in nanoseconds.
    unit: u128,
    /// Legs with a duration, in order.
    legs: Vec<Leg>,
    /// Total area of all legs.
    area: u128,
    duration: u64,
}

impl RampingArrivalRate {
    pub(crate) fn new(start_rate: ArrivalRate, stages: &[RateStage]) -> RampingArrivalRate {
        let rates: Vec<ArrivalRate> = std::iter::once(start_rate)
            .chain(stages.iter().map(|stage| stage.target))
            .collect();
        let (unit, scaled) = in_common_unit(&rates);
        let mut legs = Vec::with_capacity(stages.len());
        let (mut start, mut area) = (0_u64, 0_u128);
        for (stage, ends) in stages.iter().zip(scaled.windows(2)) {
            let end = (Nanos(start) + stage.duration).0.min(LONGEST);
            if end > start {
                let mut leg = Leg {
                    start,
                    end,
                    from: ends[0],
                    to: ends[1],
                    before: area,
                    after: 0,
                };
                area += leg.area(end - start).floor;
                leg.after = area;
                legs.push(leg);
            }
            start = end;
        }
        RampingArrivalRate {
            unit,
            legs,
            area,
            duration: start,
        }
    }

    /// When the planned number is reached; `None` if the whole area is smaller.
    pub(crate) fn instant(&self, planned: Planned) -> Option<Nanos> {
        let of_fraction = (2 * self.unit * u128::from(planned.fraction)) >> 32;
        let area = 2 * self.unit * u128::from(planned.whole) + of_fraction;
        let leg = self
            .legs
            .get(self.legs.partition_point(|leg| leg.after < area))?;
        Some(Nanos(leg.start + leg.reaches(area - leg.before)))
    }

    /// Evenly spaced arrivals due at or before `now`.
    ///
    /// An instant is the floor of the point where the area reaches the number, so arrivals due by `now` reach
    /// it before `now + 1`.
    pub(crate) fn count_by(&self, now: Nanos) -> u64 {
        let next = now.0.saturating_add(1).min(self.duration);
        let Some(index) = self
            .legs
            .partition_point(|leg| leg.start < next)
            .checked_sub(1)
        else {
            return 0;
        };
        let leg = &self.legs[index];
        let area = leg.before + leg.area(next.min(leg.end) - leg.start).floor;
        let count = self.starts(area);
        let reached = self.instant(Planned {
            whole: count,
            fraction: 0,
        });
        if count > 0 && reached.is_some_and(|at| at > now) {
            count - 1
        } else {
            count
        }
    }

    /// Total of evenly spaced arrivals.
    pub(crate) fn total(&self) -> u64 {
        self.starts(self.area)
    }

    /// The end of the last stage, plus one nanosecond if an arrival is due exactly there.
    pub(crate) fn end(&self) -> Nanos {
        let last = self.instant(Planned {
            whole: self.total(),
            fraction: 0,
        });
        Nanos(self.duration).max(Nanos(last.map_or(0, |at| at.0.saturating_add(1))))
    }

    fn starts(&self, area: u128) -> u64 {
        u64::try_from(area / (2 * self.unit)).unwrap_or(u64::MAX)
    }
}

/// A stage with a duration.
#[derive(Clone, Debug)]
struct Leg {
    start: u64,
    end: u64,
    /// Starts per unit at the leg's start and end.
    from: u128,
    to: u128,
    /// Area before the leg, and including it.
    before: u128,
    after: u128,
}

/// An area that may have a fraction.
struct Area {
    floor: u128,
    ceil: u128,
}

impl Leg {
    /// The area of the leg's first `x` nanoseconds.
    ///
    /// `x^2 / D` is at most 2^64 and is split into quotient and remainder, so that no product exceeds 2^127.
    fn area(&self, x: u64) -> Area {
        let (x, duration) = (u128::from(x), u128::from(self.end - self.start));
        let steady = 2 * self.from * x;
        let slope = self.from.abs_diff(self.to);
        let (quotient, remainder) = (x * x / duration, x * x % duration);
        let bend_floor = slope * quotient + slope * remainder / duration;
        let bend_ceil = slope * quotient + (slope * remainder).div_ceil(duration);
        if self.from <= self.to {
            Area {
                floor: steady + bend_floor,
                ceil: steady + bend_ceil,
            }
        } else {
            Area {
                floor: steady - bend_ceil,
                ceil: steady - bend_floor,
            }
        }
    }

    /// The last whole nanosecond of the leg at which its area does not exceed `area`.
    fn reaches(&self, area: u128) -> u64 {
        let fits = |x: u64| self.area(x).ceil <= area;
        let duration = self.end - self.start;
        // `low` fits, `high` does not; the guess is within a few nanoseconds of both.
        let mut low = self.guess(area).min(duration);
        let mut high = low + 1;
        let mut step = 1;
        while !fits(low) {
            (high, low) = (low, low.saturating_sub(step));
            step *= 2;
        }
        while high <= duration && fits(high) {
            (low, high) = (high, high.saturating_add(step));
            step *= 2;
        }
        high = high.min(duration + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The positive root of `from*2*x + (to-from)*x^2/D = area`, in the form without cancellation.
    fn guess(&self, area: u128) -> u64 {
        let (area, from) = (area as f64, self.from as f64);
        let slope = self.to as f64 - from;
        let root = (from * from + slope * area / (self.end - self.start) as f64)
            .max(0.0)
            .sqrt();
        // The cast rounds towards zero, saturates, and turns NaN into zero.
        (area / (from + root)) as u64
    }
}

/// The rates as starts per common unit of time.
fn in_common_unit(rates: &[ArrivalRate]) -> (u128, Vec<u128>) {
    let reduced: Vec<(u128, u128)> = rates.iter().map(reduce).collect();
    let unit = reduced.iter().try_fold(1, |unit: u128, (_, per)| {
        let common = unit / greatest_common_divisor(unit, *per) * per;
        (common <= LARGEST).then_some(common)
    });
    if let Some(unit) = unit {
        let scaled: Vec<u128> = reduced
            .iter()
            .map(|(starts, per)| starts * (unit / per))
            .collect();
        if scaled.iter().all(|rate| *rate <= LARGEST) {
            return (unit, scaled);
        }
    }
    let rounded = |(starts, per): &(u128, u128)| {
        let rate = (starts * FALLBACK_UNIT + per / 2) / per;
        rate.min(LARGEST)
    };
    (FALLBACK_UNIT, reduced.iter().map(rounded).collect())
}

fn reduce(rate: &ArrivalRate) -> (u128, u128) {
    let (starts, per) = (u128::from(rate.starts), u128::from(rate.per.0.max(1)));
    let common = greatest_common_divisor(starts, per);
    (starts / common, per / common)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn stage(duration: Duration, target: u64) -> RateStage {
        RateStage {
            duration,
            target: ArrivalRate::per_second(target),
        }
    }

    fn ramp(from: u64, stages: &[(u64, u64)]) -> RampingArrivalRate {
        let stages: Vec<RateStage> = stages
            .iter()
            .map(|(seconds, target)| stage(Duration::from_secs(*seconds), *target))
            .collect();
        RampingArrivalRate::new(ArrivalRate::per_second(from), &stages)
    }

    fn instants(ramp: &RampingArrivalRate) -> Vec<u64> {
        let at = |whole| ramp.instant(Planned { whole, fraction: 0 });
        (1..).map_while(at).map(|at| at.0).collect()
    }

    /// `x = sqrt(i)` seconds by k6's formula with from 0, to 4, D 2 s; k6 2.2.0 was observed to fire at 1000,
    /// 1415, 1733 and 2000 ms.
    #[test]
    fn a_ramp_from_zero_follows_the_root() {
        let ramp = ramp(0, &[(2, 4)]);
        let expected = [1_000_000_000, 1_414_213_562, 1_732_050_807, 2_000_000_000];
        assert_eq!(instants(&ramp), expected);
        assert_eq!((ramp.total(), ramp.end()), (4, Nanos(2_000_000_001)));
    }

    /// k6's formula from 4 to 0 in 2 s: `x = (4*2 - sqrt(2*(16*2 - 8*i))) / 4` seconds.
    #[test]
    fn a_ramp_to_zero_mirrors_it() {
        let expected = [267_949_192, 585_786_437, 1_000_000_000, 2_000_000_000];
        assert_eq!(instants(&ramp(4, &[(2, 0)])), expected);
    }

    /// Area 1.5 in the first leg; the rest is at 3/s, then the rate jumps to 1/s.
    #[test]
    fn areas_carry_over_from_leg_to_leg() {
        let ramp = ramp(0, &[(1, 3), (1, 3), (0, 1), (2, 1)]);
        let expected = [
            816_496_580,
            1_166_666_666,
            1_500_000_000,
            1_833_333_333,
            2_500_000_000,
            3_500_000_000,
        ];
        assert_eq!(instants(&ramp), expected);
        assert_eq!(ramp.end(), Nanos::from_secs(4));
    }

    #[test]
    fn an_arrival_at_the_start_of_a_pause_is_due_before_it() {
        let ramp = ramp(1, &[(1, 1), (0, 0), (10, 0), (0, 1), (1, 1)]);
        assert_eq!(instants(&ramp), [1_000_000_000, 12_000_000_000]);
        assert_eq!(ramp.count_by(Nanos(999_999_999)), 0);
        assert_eq!(ramp.count_by(Nanos(1_000_000_000)), 1);
        assert_eq!(ramp.count_by(Nanos(11_999_999_999)), 1);
        assert_eq!(ramp.count_by(Nanos::MAX), 2);
    }

    #[test]
    fn rates_of_different_units_meet_exactly() {
        let per_minute = ArrivalRate {
            starts: 90,
            per: Nanos::from_secs(60),
        };
        let quarter = ArrivalRate::from_per_second(0.25).expect("a rate");
        let stages = [
            RateStage {
                duration: Duration::from_secs(2),
                target: per_minute,
            },
            RateStage {
                duration: Duration::ZERO,
                target: quarter,
            },
            RateStage {
                duration: Duration::from_secs(4),
                target: quarter,
            },
        ];
        let ramp = RampingArrivalRate::new(per_minute, &stages);
        let expected = [666_666_666, 1_333_333_333, 2_000_000_000, 6_000_000_000];
        assert_eq!(instants(&ramp), expected);
    }

    #[test]
    fn extremes_do_not_overflow() {
        let fast = ArrivalRate {
            starts: u64::MAX,
            per: Nanos(1),
        };
        let odd = ArrivalRate {
            starts: 3,
            per: Nanos(u64::MAX - 58),
        };
        let year = Duration::from_secs(365 * 86_400);
        for (from, to, duration) in [
            (fast, odd, Duration::MAX),
            (odd, fast, year),
            (
                ArrivalRate::per_second(0),
                ArrivalRate::per_second(1_000_000_000),
                year,
            ),
            (
                ArrivalRate::per_second(1_000_000_000),
                ArrivalRate::per_second(0),
                Duration::MAX,
            ),
        ] {
            let ramp = RampingArrivalRate::new(
                from,
                &[RateStage {
                    duration,
                    target: to,
                }],
            );
            let total = ramp.total();
            assert!(total > 0);
            assert_eq!(ramp.count_by(Nanos::MAX), total);
            for whole in [1, total / 2, total - 1, total] {
                let at = ramp
                    .instant(Planned { whole, fraction: 0 })
                    .expect("planned");
                assert!(ramp.count_by(at) >= whole);
                assert!(at.0 == 0 || ramp.count_by(Nanos(at.0 - 1)) < whole);
            }
        }
    }
}
