//! Laws of service times.
//!
//! Must not know servers. Invariant: a draw is at least one nanosecond, so that simulated time
//! moves on.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

/// Uniform numbers have fifty-three bits.
const UNIFORM_STEP: f64 = 1.0 / (1_u64 << 53) as f64;

/// How long a request is served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Always as long.
    Constant {
        /// Service time in nanoseconds.
        ns: u64,
    },
    /// Exponential, by inversion.
    Exponential {
        /// Mean in nanoseconds.
        mean_ns: f64,
    },
    /// Lognormal: the median times `exp(sigma * Z)` for a standard normal `Z`.
    Lognormal {
        /// Median in nanoseconds.
        median_ns: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

impl Law {
    /// One service time in nanoseconds.
    #[must_use]
    pub fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        let ns = match self {
            Law::Constant { ns } => *ns,
            Law::Exponential { mean_ns } => (mean_ns * -uniform(random).ln()).round() as u64,
            Law::Lognormal { median_ns, sigma } => {
                (median_ns * (sigma * normal(random)).exp()).round() as u64
            }
        };
        ns.max(1)
    }
}

/// Above zero and at most one.
fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 * UNIFORM_STEP
}

/// Box and Muller's transform; the second of the pair is not used.
fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let radius = (-2.0 * uniform(random).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(random)).cos()
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    /// Share of draws at most as long.
    fn share(law: Law, ns: f64) -> f64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let n = 40_000;
        let below = (0..n)
            .filter(|_| law.draw(&mut random) as f64 <= ns)
            .count();
        below as f64 / f64::from(n)
    }

    /// Four standard errors of a share are at most 4 * sqrt(0.25 / 40,000) = 0.01.
    #[test]
    fn draws_follow_their_distribution() {
        let exponential = Law::Exponential { mean_ns: 1e6 };
        let lognormal = Law::Lognormal {
            median_ns: 1e6,
            sigma: 0.5,
        };
        for (law, ns, expected) in [
            (exponential, 1e6, 1.0 - (-1.0_f64).exp()),
            (exponential, 3e6, 1.0 - (-3.0_f64).exp()),
            (lognormal, 1e6, 0.5),
            (lognormal, 1e6 * 0.5_f64.exp(), 0.841_345),
            (lognormal, 1e6 * (-0.5_f64).exp(), 0.158_655),
        ] {
            assert!((share(law, ns) - expected).abs() < 0.01, "{law:?} {ns}");
        }
    }

    #[test]
    fn no_service_takes_no_time() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        assert_eq!(Law::Constant { ns: 0 }.draw(&mut random), 1);
        assert_eq!(Law::Exponential { mean_ns: 0.0 }.draw(&mut random), 1);
    }
}
