//! A schedule of instants drawn in advance, with an exact number per period (Precise Throughput Timer).
//!
//! Must not know the group that follows it. Invariant: every drawn period has the number of instants required
//! by its rate, in order.
//!
//! Source: JMeter 5.6.3, observed; instants are uniformly distributed over the period, so the gaps are those of
//! a Poisson process.

use loadline_java::random::JavaRandom;

/// Maximum instants of a period: memory is limited.
const DRAWN_MAX: f64 = 10_000_000.0;

/// Rates that differ by less are considered equal.
const RATE_PRECISION: f64 = 0.000_01;

/// The instants of a group.
#[derive(Debug)]
pub(crate) struct PreciseSchedule {
    random: JavaRandom,
    /// The remaining instants, in seconds from the group's start, the last first.
    left_s: Vec<f64>,
    /// The end of the periods drawn so far.
    drawn_until_s: f64,
    rate: f64,
    /// How many of the current batch have been returned, and its instant.
    batch: (u64, f64),
}

/// The parameters for drawing instants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PreciseRate {
    /// Samples per second.
    pub(crate) per_s: f64,
    /// The period, in seconds.
    pub(crate) period_s: f64,
    /// Samples that start together; below 2: one at a time.
    pub(crate) batch: u64,
}

impl PreciseSchedule {
    pub(crate) fn new(seed: i64) -> PreciseSchedule {
        PreciseSchedule {
            random: JavaRandom::new(seed),
            left_s: Vec::new(),
            drawn_until_s: 0.0,
            rate: 0.0,
            batch: (0, 0.0),
        }
    }

    /// The next instant, in seconds from the group's start; `None`: the rate has none.
    pub(crate) fn next(&mut self, wanted: PreciseRate) -> Option<f64> {
        let is_changed = (wanted.per_s - self.rate).abs() >= RATE_PRECISION;
        if is_changed || self.batch.0 == 0 && self.left_s.is_empty() {
            self.draw(wanted);
        }
        if wanted.batch > 1 && self.batch.0 > 0 {
            self.batch.0 = (self.batch.0 + 1) % wanted.batch;
            return Some(self.batch.1);
        }
        let at_s = self.left_s.pop()?;
        if wanted.batch > 1 {
            self.batch = (1, at_s);
        }
        Some(at_s)
    }

    fn draw(&mut self, wanted: PreciseRate) {
        self.rate = wanted.per_s;
        self.batch = (0, 0.0);
        let per_s = wanted.per_s / wanted.batch.max(1) as f64;
        let count = (per_s * wanted.period_s).ceil().clamp(0.0, DRAWN_MAX) as u64;
        self.left_s.clear();
        for _ in 0..count {
            let at_s = self.random.next_double() * wanted.period_s;
            self.left_s.push(self.drawn_until_s + at_s);
        }
        self.left_s.sort_by(|one, other| other.total_cmp(one));
        self.drawn_until_s += wanted.period_s;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(per_s: f64, period_s: f64, batch: u64) -> PreciseRate {
        PreciseRate {
            per_s,
            period_s,
            batch,
        }
    }

    #[test]
    fn each_period_has_exactly_its_samples() {
        let mut schedule = PreciseSchedule::new(7);
        let wanted = rate(0.5, 60.0, 1);
        let drawn: Vec<f64> = (0..90).filter_map(|_| schedule.next(wanted)).collect();
        assert!(drawn.is_sorted());
        for period in 0..3 {
            let begun = f64::from(period) * 60.0;
            let within = drawn
                .iter()
                .filter(|at| (begun..begun + 60.0).contains(*at));
            assert_eq!(within.count(), 30, "period {period}");
        }
    }

    /// JMeter with seed 7 and 24 samples in 10 s in batches of three had these gaps between its batches, in
    /// milliseconds.
    #[test]
    fn samples_of_a_batch_start_together() {
        let mut schedule = PreciseSchedule::new(7);
        let wanted = rate(2.4, 10.0, 3);
        let drawn: Vec<f64> = (0..24).filter_map(|_| schedule.next(wanted)).collect();
        let batches: Vec<&[f64]> = drawn.chunk_by(|one, other| one == other).collect();
        assert!(batches.iter().all(|batch| batch.len() == 3));
        let instants: Vec<f64> = batches.iter().map(|batch| batch[0] * 1000.0).collect();
        let gaps: Vec<f64> = instants
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).round())
            .collect();
        let seen = [2266.0, 36.0, 3561.0, 225.0, 186.0, 1007.0, 473.0];
        assert!(
            gaps.iter()
                .zip(seen)
                .all(|(gap, seen)| (gap - seen).abs() <= 12.0),
            "{gaps:?}"
        );
    }

    #[test]
    fn a_rate_that_changes_is_drawn_anew() {
        let mut schedule = PreciseSchedule::new(1);
        assert!(
            schedule
                .next(rate(1.0, 10.0, 1))
                .is_some_and(|at| at < 10.0)
        );
        assert!(
            schedule
                .next(rate(2.0, 10.0, 1))
                .is_some_and(|at| at >= 10.0)
        );
        assert_eq!(schedule.next(rate(0.0, 10.0, 1)), None);
    }
}
