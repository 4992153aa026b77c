//! Poisson spacing: the points at which the integral of the arrival rate releases an arrival.
//!
//! Must not know the arrival rate. Invariant: the points are the partial sums of independent exponential draws
//! of mean one, in fixed point, and depend only on the seed; so every worker sees the same points, and the sum
//! never loses precision however long the run.
//!
//! A process with rate `r(t)` is a unit-rate process on the axis of its integral (the time-change theorem;
//! Cinlar, Introduction to Stochastic Processes, 1975, section 4.7).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::planned::Planned;

/// Fixed-point steps in one planned start.
const ONE: f64 = (1_u64 << 32) as f64;

/// Uniform numbers have 53 bits.
const UNIFORM_STEP: f64 = 1.0 / (1_u64 << 53) as f64;

#[derive(Clone, Debug)]
pub(crate) struct PoissonWalk {
    random: Xoshiro256PlusPlus,
    at: Planned,
    /// Draws taken: the number of the arrival that the next draw belongs to.
    drawn: u64,
}

impl PoissonWalk {
    pub(crate) fn new(seed: u64) -> PoissonWalk {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        PoissonWalk {
            random,
            at: Planned::default(),
            drawn: 0,
        }
    }

    /// Advances to the point of arrival `index`, which must not have been passed.
    pub(crate) fn until(&mut self, index: u64) -> Planned {
        while self.drawn <= index {
            let step = exponential(self.random.next_u64());
            let sum = u64::from(self.at.fraction) + step;
            self.at = Planned {
                whole: self.at.whole.saturating_add(sum >> 32),
                fraction: (sum & u64::from(u32::MAX)) as u32,
            };
            self.drawn += 1;
        }
        self.at
    }
}

/// An exponential draw with mean one in fixed point, by inversion; at most 36.8.
fn exponential(random: u64) -> u64 {
    let uniform = ((random >> 11) + 1) as f64 * UNIFORM_STEP;
    (-uniform.ln() * ONE).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_exponentials_mean_and_variance() {
        let mut walk = PoissonWalk::new(7);
        let mut before = 0.0;
        let (mut sum, mut squares) = (0.0, 0.0);
        let n = 200_000;
        for index in 0..n {
            let point = walk.until(index);
            let at = point.whole as f64 + f64::from(point.fraction) / ONE;
            sum += at - before;
            squares += (at - before) * (at - before);
            before = at;
        }
        let mean = sum / n as f64;
        let variance = squares / n as f64 - mean * mean;
        // Four standard errors: 1/sqrt(n) of the mean, sqrt(8/n) of the variance.
        assert!((mean - 1.0).abs() < 0.009, "{mean}");
        assert!((variance - 1.0).abs() < 0.026, "{variance}");
    }

    #[test]
    fn the_extremes_of_the_generator_are_draws() {
        assert_eq!(exponential(u64::MAX), 0);
        assert!(exponential(0) > 36 << 32 && exponential(0) < 37 << 32);
    }
}
