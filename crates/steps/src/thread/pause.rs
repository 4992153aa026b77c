//! How long a thread waits before a sample: all timers in scope, summed.
//!
//! Must not know samplers. Invariant: a timer whose numbers cannot be read waits zero milliseconds, as in JMeter.

use std::collections::HashMap;

use loadline_java::numbers::double_or_zero;

use super::{Thread, Walker};
use crate::program::{Applicable, ThroughputMode, Timer};

/// What a thread keeps of its timers.
#[derive(Debug, Default)]
pub(super) struct PauseMemory {
    /// When each constant throughput timer last let a sample start, in milliseconds since 1970.
    last_ms: HashMap<usize, i64>,
}

impl Thread {
    /// The pause before a sampler, in milliseconds.
    pub(super) fn pause_before(&mut self, walker: &Walker<'_>, applies: &Applicable) -> i64 {
        let pauses = applies.timers.iter();
        let sum = pauses.map(|timer| self.pause_of(walker, timer));
        sum.fold(0, i64::saturating_add)
    }

    fn pause_of(&mut self, walker: &Walker<'_>, timer: &Timer) -> i64 {
        match timer {
            Timer::Constant(delay) => self.number(walker, delay),
            Timer::Uniform { offset, range } => {
                let (offset, range) = (self.decimal(walker, offset), self.decimal(walker, range));
                (range * unit(walker.host.random()) + offset).abs() as i64
            }
            Timer::Gaussian { offset, deviation } => {
                let mean = self.decimal(walker, offset);
                let deviation = self.decimal(walker, deviation);
                (deviation * normal(walker) + mean).abs() as i64
            }
            Timer::Poisson { offset, lambda } => {
                let offset = self.decimal(walker, offset);
                let lambda = self.decimal(walker, lambda);
                (offset + poisson(walker, lambda)).abs() as i64
            }
            Timer::ConstantThroughput {
                id,
                per_minute,
                mode,
            } => {
                let per_minute = self.decimal(walker, per_minute);
                self.pause_for_throughput(walker, *id, per_minute, *mode)
            }
        }
    }

    /// JMeter's rule: a sample starts no sooner than one interval after the one before.
    fn pause_for_throughput(
        &mut self,
        walker: &Walker<'_>,
        id: usize,
        per_minute: f64,
        mode: ThroughputMode,
    ) -> i64 {
        if per_minute <= 0.0 {
            return 0;
        }
        let interval_ms = 60_000.0 / per_minute;
        let now_ms = walker.host.unix_ms();
        let (of_group, all) = walker.host.threads_at_work(self.group);
        let share = match mode {
            ThroughputMode::ThisThread => 1,
            ThroughputMode::AllThreads => all,
            ThroughputMode::Group => of_group,
            ThroughputMode::AllShared => {
                return self.commons.turn(id, None, now_ms, interval_ms as i64);
            }
            ThroughputMode::GroupShared => {
                let group = Some(self.group);
                return self.commons.turn(id, group, now_ms, interval_ms as i64);
            }
        };
        let interval_ms = (interval_ms * f64::from(share.max(1))) as i64;
        let last_ms = self.pauses.last_ms.get(&id).copied();
        let next_ms = last_ms.map_or(now_ms, |last| now_ms.max(last + interval_ms));
        self.pauses.last_ms.insert(id, next_ms);
        next_ms - now_ms
    }

    /// A text's value as a fraction; zero where it is none, as in JMeter.
    pub(super) fn decimal(&mut self, walker: &Walker<'_>, text: &crate::text::Text) -> f64 {
        double_or_zero(&self.text(walker, text))
    }
}

/// A number from 0 to 1, 1 excluded.
fn unit(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

/// A number of the standard normal distribution, by Box and Muller.
fn normal(walker: &Walker<'_>) -> f64 {
    let radius = (-2.0 * (1.0 - unit(walker.host.random())).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(walker.host.random())).cos()
}

/// A number of the Poisson distribution; beyond 500 by the normal distribution, which is as good there.
fn poisson(walker: &Walker<'_>, lambda: f64) -> f64 {
    if lambda > 500.0 {
        return (lambda + lambda.sqrt() * normal(walker)).round().max(0.0);
    }
    let limit = (-lambda).exp();
    let mut product = unit(walker.host.random());
    let mut count = 0.0;
    while product > limit {
        product *= unit(walker.host.random());
        count += 1.0;
    }
    count
}
