//! The pause of a thread before a sample: all timers in scope, one after another; those with a fixed time are
//! summed to one pause.
//!
//! Must not know samplers. Invariant: a timer with invalid numbers waits zero milliseconds, as in JMeter.

use std::collections::HashMap;

use loadline_java::numbers::{double_or_zero, long_or_zero};

use super::{Ask, Doing, End, Thread, Walker};
use crate::program::{NodeId, PreciseTiming, ShapingTiming, ThroughputMode, Timer};
use crate::timers::gathering::Gathered;
use crate::timers::precise::PreciseRate;
use crate::timers::shaping::{Shaped, ShapingRow};

/// The pause of a thread that never continues, in milliseconds.
const FOR_GOOD_MS: i64 = i64::MAX / 4;

/// A thread's state of its timers.
#[derive(Debug, Default)]
pub(super) struct PauseMemory {
    /// When each constant throughput timer last released a sample, in milliseconds since 1970.
    last_ms: HashMap<usize, i64>,
    /// The round of a synchronizing timer in which it waits, and its time limit.
    gathering: Option<(u64, i64)>,
    /// Whether it waits for a load profile.
    is_shaped: bool,
}

/// The result of a timer.
enum Pause {
    /// Milliseconds to add to the pause.
    For(i64),
    /// The timer must be evaluated again after this many milliseconds.
    Again(u64),
    /// The timer must be evaluated again after a release, or at an instant.
    Gather(i64),
    /// The thread, or its group, ends.
    Over(End),
}

impl Thread {
    /// Waits according to the timers of a sampler, from one of them on, then runs it; `sum_ms` is the pause of
    /// those before.
    pub(super) fn pause(
        &mut self,
        walker: &Walker<'_>,
        node: NodeId,
        (from, mut sum_ms): (usize, i64),
    ) -> Option<Ask> {
        let timers = &walker.sampler(node).applies.timers;
        for (index, timer) in timers.iter().enumerate().skip(from) {
            let ask = match self.pause_of(walker, node, timer) {
                Pause::For(ms) => {
                    sum_ms = sum_ms.saturating_add(ms);
                    continue;
                }
                Pause::Again(ms) => Ask::Sleep(ms),
                Pause::Gather(until_ms) => Ask::Gather(until_ms),
                Pause::Over(end) => return Some(self.over(walker, end)),
            };
            self.strand.doing = Doing::Timing(node, index, sum_ms);
            return Some(ask);
        }
        if self.is_dying() {
            return None;
        }
        let owed_ms = std::mem::take(&mut self.strand.memory.owed_ms);
        let sum_ms = sum_ms.saturating_add(i64::try_from(owed_ms).unwrap_or(i64::MAX));
        // A timer that threw an exception loses the sample at once.
        if sum_ms <= 0 || self.has_thrown() {
            return self.run(walker, node);
        }
        if let Some(deadline) = self.strand.deadline
            && deadline.cuts_pauses_short
            && deadline.unix_ms - walker.host.unix_ms() < sum_ms
        {
            return Some(self.over(walker, End::Thread));
        }
        self.strand.doing = Doing::Waiting(node);
        Some(Ask::Sleep(sum_ms.unsigned_abs()))
    }

    fn pause_of(&mut self, walker: &Walker<'_>, node: NodeId, timer: &Timer) -> Pause {
        Pause::For(match timer {
            Timer::Constant(delay) => self.number(walker, delay),
            Timer::Uniform { offset, range } => {
                let (offset, range) = (self.decimal(walker, offset), self.decimal(walker, range));
                let pause = (range * unit(walker.host.random()) + offset).abs();
                scaled(walker, pause as i64)
            }
            Timer::Gaussian { offset, deviation } => {
                let mean = self.decimal(walker, offset);
                let deviation = self.decimal(walker, deviation);
                scaled(walker, (deviation * normal(walker) + mean).abs() as i64)
            }
            Timer::Poisson { offset, lambda } => {
                let offset = self.decimal(walker, offset);
                let lambda = self.decimal(walker, lambda).round();
                scaled(walker, (offset + poisson(walker, lambda)).abs() as i64)
            }
            Timer::ConstantThroughput {
                id,
                per_minute,
                mode,
            } => {
                let per_minute = self.decimal(walker, per_minute);
                self.pause_for_throughput(walker, *id, per_minute, *mode)
            }
            Timer::Script(script) => {
                let previous = self.strand.previous.clone();
                let name = self.name_at_work(walker, node);
                let (value, _) = self.lend_http(walker, &name, |scope, http| {
                    script.run_quietly(scope, http, previous)
                });
                value.map_or(0, |value| long_or_zero(&value))
            }
            Timer::Precise(timing) => self.pause_until_drawn(walker, timing),
            Timer::Synchronizing {
                id,
                size,
                timeout_ms,
            } => {
                let size = self.number(walker, size);
                let timeout_ms = self.number(walker, timeout_ms);
                return self.gather(walker, *id, (size, timeout_ms));
            }
            Timer::Shaping(timing) => return self.keep_to_profile(walker, timing),
        })
    }

    /// JMeter's rule: a sample starts at the earliest one interval after the previous one.
    fn pause_for_throughput(
        &mut self,
        walker: &Walker<'_>,
        id: usize,
        per_minute: f64,
        mode: ThroughputMode,
    ) -> i64 {
        if per_minute == 0.0 {
            return FOR_GOOD_MS;
        }
        if per_minute < 0.0 {
            return 0;
        }
        // Each share of the threads gets its share of the total throughput.
        let parts = match mode {
            ThroughputMode::ThisThread => 1,
            _ => self.commons.part.of,
        };
        let interval_ms = 60_000.0 / per_minute * f64::from(parts);
        let now_ms = walker.host.unix_ms();
        let (of_group, all) = walker.host.threads_at_work(self.group);
        let behind_ms = match mode {
            ThroughputMode::ThisThread => interval_ms.round() as i64,
            ThroughputMode::AllThreads => (interval_ms * f64::from(all.max(1))).round() as i64,
            ThroughputMode::Group => (interval_ms * f64::from(of_group.max(1))).round() as i64,
            ThroughputMode::AllShared | ThroughputMode::GroupShared => {
                let group = (mode == ThroughputMode::GroupShared).then_some(self.group);
                let interval_ms = interval_ms.round() as i64;
                self.commons.turn(group, now_ms, interval_ms)
            }
        };
        // A thread's first sample never waits, in any mode.
        let last_ms = self.strand.pauses.last_ms.get(&id).copied();
        let next_ms = last_ms.map_or(now_ms, |last| now_ms.max(last.saturating_add(behind_ms)));
        self.strand.pauses.last_ms.insert(id, next_ms);
        if last_ms.is_some() {
            self.pace.count(next_ms - now_ms);
        }
        next_ms - now_ms
    }

    /// The pause until the next instant of the group's schedule.
    fn pause_until_drawn(&mut self, walker: &Walker<'_>, timing: &PreciseTiming) -> i64 {
        let wanted = PreciseRate {
            per_s: {
                let per_period = self.decimal(walker, &timing.per_period);
                per_period / self.decimal(walker, &timing.period_s).max(1.0)
            },
            period_s: self.number(walker, &timing.duration_s).max(0) as f64,
            batch: self.number(walker, &timing.batch).max(1).unsigned_abs(),
        };
        let seed = match self.number(walker, &timing.seed) {
            0 => walker.host.random().cast_signed(),
            seed => seed,
        };
        let next_s = self.commons.next_drawn(self.group, seed, wanted);
        let next_ms = next_s.map_or(0, |next_s| (next_s * 1000.0) as i64);
        let at_ms = self.group_began_ms.saturating_add(next_ms);
        let pause_ms = at_ms.saturating_sub(walker.host.unix_ms()).max(0);
        self.pace.count(pause_ms);
        pause_ms
    }

    /// Waits for others; `size` and time limit are those of the timer.
    fn gather(&mut self, walker: &Walker<'_>, id: usize, (size, timeout_ms): (i64, i64)) -> Pause {
        let now_ms = walker.host.unix_ms();
        if let Some((round, until_ms)) = self.strand.pauses.gathering {
            let is_over = self.commons.gathering(id, |place| {
                if !place.is_over(round) && now_ms >= until_ms {
                    place.let_go();
                }
                place.is_over(round)
            });
            if !is_over {
                return Pause::Gather(until_ms);
            }
            self.strand.pauses.gathering = None;
            if now_ms >= until_ms {
                walker.host.let_go();
            }
            return Pause::For(0);
        }
        let Ok(size) = u64::try_from(size) else {
            return Pause::For(0);
        };
        let parties = match size {
            0 => u64::from(walker.host.threads_of(self.group)),
            size => size,
        };
        match self.commons.gathering(id, |place| place.come(parties)) {
            Gathered::Go => {
                walker.host.let_go();
                Pause::For(0)
            }
            Gathered::Wait { round } => {
                let until_ms = match timeout_ms > 0 {
                    true => now_ms.saturating_add(timeout_ms),
                    false => FOR_GOOD_MS,
                };
                self.strand.pauses.gathering = Some((round, until_ms));
                Pause::Gather(until_ms)
            }
        }
    }

    /// Waits for its turn in a load profile, and stores the results of each second in properties.
    fn keep_to_profile(&mut self, walker: &Walker<'_>, timing: &ShapingTiming) -> Pause {
        let now_ms = walker.host.unix_ms();
        let was_waiting = std::mem::take(&mut self.strand.pauses.is_shaped);
        let is_new = self.commons.shaping(timing.id, |shaping| {
            shaping.waiting -= u32::from(was_waiting && shaping.waiting > 0);
            shaping.is_new_second(now_ms)
        });
        if is_new {
            let rows = self.profile(walker, timing);
            let (second, waiting) = self.commons.shaping(timing.id, |shaping| {
                let second = shaping.is_new_second(now_ms);
                let second = second.then(|| shaping.begin_second(now_ms, &rows));
                (second, shaping.waiting)
            });
            if let Some(second) = second {
                let name = self.text(walker, &timing.name).into_owned();
                let world = walker.host.world();
                let tell = |what: &str, value: String| {
                    world.set_property(&format!("{name}_{what}"), &value);
                };
                tell("totalDuration", format!("{}", second.lasts_s as i64));
                tell("cntDelayed", waiting.to_string());
                tell("cntSent", format!("{}", second.sent as i64));
                tell("rps", loadline_java::numbers::double_to_string(second.rate));
            }
        }
        let shaped = self.commons.shaping(timing.id, |shaping| {
            let shaped = shaping.ask(now_ms);
            shaping.waiting += u32::from(matches!(shaped, Shaped::Wait(_)));
            shaped
        });
        match shaped {
            Shaped::Go => {
                self.pace.count(i64::from(was_waiting));
                Pause::For(0)
            }
            Shaped::Over => Pause::Over(End::Group),
            Shaped::Wait(ms) => {
                self.strand.pauses.is_shaped = true;
                Pause::Again(ms)
            }
        }
    }

    /// The rows of a profile: those of the property that overrides it, or its own.
    fn profile(&mut self, walker: &Walker<'_>, timing: &ShapingTiming) -> Vec<ShapingRow> {
        let world = walker.host.world();
        let own = format!("{}.load_profile", self.text(walker, &timing.name));
        let property = [own.as_str(), "load_profile"].into_iter();
        let mut property = property.filter_map(|name| world.property(name));
        if let Some(profile) = property.find(|profile| !profile.is_empty()) {
            return ShapingRow::all_of(&profile);
        }
        let rows = timing.rows.iter().map(|row| {
            let mut value = |index: usize| {
                let text = row.get(index);
                text.map_or(0.0, |text| self.decimal(walker, text))
            };
            ShapingRow {
                from: value(0),
                to: value(1),
                lasts_s: value(2).max(0.0).trunc(),
            }
        });
        rows.collect()
    }

    /// The current value of a text as a fraction; zero if it is invalid, as in JMeter.
    pub(super) fn decimal(&mut self, walker: &Walker<'_>, text: &crate::text::Text) -> f64 {
        double_or_zero(&self.text(walker, text))
    }
}

/// A random pause, multiplied by the factor from a property for all of them.
fn scaled(walker: &Walker<'_>, pause_ms: i64) -> i64 {
    match walker.host.world().property("timer.factor") {
        None => pause_ms,
        Some(factor) => (pause_ms as f64 * double_or_zero(&factor)).round() as i64,
    }
}

/// A number from 0 to 1, excluding 1.
fn unit(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}

/// A number with the standard normal distribution, after Box and Muller.
fn normal(walker: &Walker<'_>) -> f64 {
    let radius = (-2.0 * (1.0 - unit(walker.host.random())).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(walker.host.random())).cos()
}

/// A number with the Poisson distribution; beyond 500 approximated by the normal distribution.
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
