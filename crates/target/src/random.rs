//! Seeded randomness and the service-time distributions based on it.
//!
//! It must not know clocks or sockets. Invariant: the same seed gives the same sequence, and every distribution
//! has the configured mean.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A seeded generator (xoshiro256++), cheap enough for one draw per request.
#[derive(Debug, Clone)]
pub(crate) struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// A generator whose sequence depends on `seed` alone.
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in (0, 1]: never zero, so its logarithm exists.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// True with the given probability (0 never, 1 always).
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() <= probability && probability > 0.0
    }

    /// Uniform in `low..=high`; `low` when the range is empty.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        if high <= low {
            return low;
        }
        let width = high.abs_diff(low);
        let offset = match width.checked_add(1) {
            Some(values) => ((u128::from(self.bits()) * u128::from(values)) >> 64) as u64,
            None => self.bits(),
        };
        low.wrapping_add_unsigned(offset)
    }

    /// Fills the buffer with random bytes.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) {
        self.0.fill_bytes(buffer);
    }

    /// A version 4 UUID (RFC 9562 §5.4) in its text form.
    pub(crate) fn uuid(&mut self) -> String {
        let high = (self.bits() & !0xf000) | 0x4000;
        let low = (self.bits() & !(0b11 << 62)) | (0b10 << 62);
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }

    /// A standard normal draw by Box and Muller's transform.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// The shape of a random duration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Law {
    /// Always the mean.
    Constant,
    /// Exponential: coefficient of variation 1.
    Exponential,
    /// Log-normal with the given coefficient of variation (default 1).
    LogNormal {
        /// Standard deviation divided by the mean.
        variation: f64,
    },
}

/// A mean and the law around it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct RandomDuration {
    /// The mean.
    pub(crate) mean: Duration,
    /// The law.
    pub(crate) law: Law,
}

impl RandomDuration {
    /// Reads a law by name; `variation` is only used by `lognormal` (`None` is 1).
    ///
    /// # Errors
    /// A sentence that lists the known laws, or says that the variation is out of range.
    pub(crate) fn new(mean: Duration, law: &str, variation: Option<f64>) -> Result<Self, String> {
        let law = match law {
            "const" => Law::Constant,
            "exp" => Law::Exponential,
            "lognormal" => {
                let variation = variation.unwrap_or(1.0);
                if !(0.0..=100.0).contains(&variation) {
                    return Err(format!("cv={variation} is not between 0 and 100"));
                }
                Law::LogNormal { variation }
            }
            other => {
                return Err(format!(
                    "unknown law {other:?}: use const, exp or lognormal"
                ));
            }
        };
        Ok(Self { mean, law })
    }

    /// One draw in nanoseconds.
    pub(crate) fn draw_ns(&self, dice: &mut Dice) -> u64 {
        let mean = self.mean.as_nanos() as f64;
        let value = match self.law {
            Law::Constant => mean,
            Law::Exponential => -mean * dice.unit().ln(),
            Law::LogNormal { variation } => {
                let variance = (variation * variation).ln_1p();
                mean * (dice.normal() * variance.sqrt() - variance / 2.0).exp()
            }
        };
        value as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(law: &str, variation: Option<f64>) -> (f64, f64) {
        let time = RandomDuration::new(Duration::from_millis(10), law, variation).unwrap();
        let mut dice = Dice::seeded(7);
        let n = 400_000;
        let draws: Vec<f64> = (0..n).map(|_| time.draw_ns(&mut dice) as f64).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / f64::from(n);
        (mean, variance.sqrt() / mean)
    }

    #[test]
    fn laws_keep_mean_and_variation() {
        for (law, variation, expected) in [
            ("const", None, 0.0),
            ("exp", None, 1.0),
            ("lognormal", Some(0.5), 0.5),
        ] {
            let (mean, measured) = moments(law, variation);
            assert!((mean / 1e7 - 1.0).abs() < 0.01, "{law}: mean {mean}");
            assert!(
                (measured - expected).abs() < 0.01,
                "{law}: variation {measured}"
            );
        }
    }

    #[test]
    fn unknown_laws_are_named() {
        let error = RandomDuration::new(Duration::ZERO, "pareto", None).unwrap_err();
        assert!(
            error.contains("pareto") && error.contains("lognormal"),
            "{error}"
        );
        assert!(RandomDuration::new(Duration::ZERO, "lognormal", Some(f64::NAN)).is_err());
    }

    #[test]
    fn chance_keeps_its_ends_and_its_middle() {
        let mut dice = Dice::seeded(1);
        assert!((0..10_000).all(|_| !dice.chance(0.0)));
        assert!((0..10_000).all(|_| dice.chance(1.0)));
        let hits = (0..100_000).filter(|_| dice.chance(0.1)).count();
        assert!((9_500..10_500).contains(&hits), "{hits}");
    }

    #[test]
    fn uuid_has_version_and_variant() {
        let uuid = Dice::seeded(3).uuid();
        assert_eq!(uuid.len(), 36);
        assert_eq!(uuid.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
    }

    #[test]
    fn between_covers_its_range() {
        let mut dice = Dice::seeded(5);
        let mut seen = [false; 6];
        for _ in 0..1_000 {
            seen[usize::try_from(dice.between(-2, 3) + 2).unwrap()] = true;
        }
        assert!(seen.iter().all(|s| *s));
        assert_eq!(dice.between(4, 4), 4);
        dice.between(i64::MIN, i64::MAX);
    }
}
