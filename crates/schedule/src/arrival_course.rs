//! Arrivals of thread groups: one iteration is due at each.
//!
//! Must not know threads. Invariant: instants never decrease, and the same course yields the same instants.
//!
//! Sources: the behaviour of JMeter 5.6.3 (Open Model) and of its custom thread groups plugin 2.10 (Arrivals,
//! Free-Form Arrivals).

use loadline_java::random::JavaRandom;
use loadline_model::Nanos;
use loadline_model::thread_group::{ArrivalCourse, ArrivalLeg, RATE_UNITS};

/// Step in which a course advances while the rate is zero, in milliseconds.
const PAUSE_MS: f64 = 200.0;

/// Iterates over the instants of a course.
#[derive(Clone, Debug)]
pub(crate) struct CourseWalk {
    course: ArrivalCourse,
    /// Arrivals yielded so far.
    given: u64,
    /// For arrivals spaced by the rate: when the next one is due, in milliseconds.
    at_ms: f64,
    /// For counted arrivals: the current leg, and its start.
    leg: usize,
    leg_ms: u64,
    /// The remaining instants of that leg, in milliseconds, last first.
    counted: Vec<f64>,
    random: JavaRandom,
}

impl CourseWalk {
    pub(crate) fn new(course: &ArrivalCourse) -> CourseWalk {
        let seed = match course {
            ArrivalCourse::Counted { seed, .. } => *seed,
            _ => 0,
        };
        CourseWalk {
            course: course.clone(),
            given: 0,
            at_ms: 0.0,
            leg: 0,
            leg_ms: 0,
            counted: Vec::new(),
            random: JavaRandom::new(seed),
        }
    }

    /// The instant of arrival number `index`, from 0, which must not be lower than in the previous call;
    /// `None`: there is none.
    pub(crate) fn until(&mut self, index: u64) -> Option<Nanos> {
        while self.given < index {
            self.next()?;
        }
        self.next()
    }

    fn next(&mut self) -> Option<Nanos> {
        let at_ms = match self.course {
            ArrivalCourse::Counted { .. } => self.next_counted()?,
            _ => self.next_by_rate()?,
        };
        self.given += 1;
        Some(Nanos((at_ms * 1_000_000.0) as u64))
    }

    fn next_by_rate(&mut self) -> Option<f64> {
        loop {
            let rate = self.rate()?;
            if rate > 0.0 {
                let at_ms = self.at_ms;
                self.at_ms += 1000.0 / rate;
                return Some(at_ms);
            }
            self.pass_pauses();
        }
    }

    /// Skips whole pauses, as many at once as are certain.
    fn pass_pauses(&mut self) {
        let until_ms = match &self.course {
            ArrivalCourse::Rising { target: 0, .. } => f64::INFINITY,
            // As in the plugin: a continuous ramp starts with a rate of zero, and stays there.
            ArrivalCourse::Rising { ramp_s, .. } => *ramp_s as f64 * 1000.0,
            ArrivalCourse::FreeForm { legs } => end_of_nought(legs, self.at_ms),
            ArrivalCourse::Counted { .. } => self.at_ms,
        };
        let pauses = ((until_ms - self.at_ms) / PAUSE_MS).floor().max(0.0) + 1.0;
        self.at_ms += pauses * PAUSE_MS;
    }

    /// The current rate in arrivals per second; `None`: the course is over.
    fn rate(&self) -> Option<f64> {
        match &self.course {
            ArrivalCourse::Rising {
                target,
                ramp_s,
                steps,
                hold_s,
            } => {
                let target = *target as f64 / RATE_UNITS;
                let (ramp_s, hold_s) = (*ramp_s as f64, *hold_s as f64);
                let at_s = self.at_ms / 1000.0;
                if at_s >= ramp_s + hold_s {
                    return None;
                }
                Some(if ramp_s == 0.0 || at_s > ramp_s {
                    target
                } else if *steps > 0 {
                    let steps = f64::from(*steps);
                    target / steps * ((at_s / (ramp_s / steps)).floor() + 1.0)
                } else {
                    let slope = target / ramp_s;
                    slope * (2.0 * self.given as f64 / slope).sqrt()
                })
            }
            ArrivalCourse::FreeForm { legs } => rate_in_legs(legs, self.at_ms),
            ArrivalCourse::Counted { .. } => None,
        }
    }

    fn next_counted(&mut self) -> Option<f64> {
        loop {
            if let Some(at_ms) = self.counted.pop() {
                return Some(at_ms);
            }
            let ArrivalCourse::Counted { legs, .. } = &self.course else {
                return None;
            };
            let leg = *legs.get(self.leg)?;
            self.leg += 1;
            self.counted = self.instants_of(&leg);
            self.leg_ms = self.leg_ms.saturating_add(leg.lasts_ms);
        }
    }

    /// The instants of a leg that starts now, last first.
    fn instants_of(&mut self, leg: &ArrivalLeg) -> Vec<f64> {
        let begun_ms = self.leg_ms as f64;
        let mut instants: Vec<f64> = match leg.by_chance {
            true => self.drawn(leg),
            false => even(leg).collect(),
        };
        for at in &mut instants {
            *at += begun_ms;
        }
        instants.reverse();
        instants
    }

    /// Random instants in order: those of the lower rate are anywhere in the leg, the others where the rate has
    /// risen to them.
    fn drawn(&mut self, leg: &ArrivalLeg) -> Vec<f64> {
        let lasts_ms = leg.lasts_ms as f64;
        let all = leg.arrivals() as u64;
        let flat = (leg.from.min(leg.to) as f64 / RATE_UNITS * lasts_ms / 1000.0) as u64;
        let rest = if leg.from == leg.to {
            0
        } else {
            all - flat.min(all)
        };
        let mut instants = Vec::new();
        for _ in 0..flat {
            instants.push(self.random.next_double() * lasts_ms);
        }
        for _ in 0..rest {
            let risen = self.random.next_double().sqrt();
            let part = if leg.from > leg.to {
                1.0 - risen
            } else {
                risen
            };
            instants.push(part * lasts_ms);
        }
        instants.sort_by(f64::total_cmp);
        instants
    }
}

/// Evenly spaced instants as the rate rises or falls; the first is at the start.
fn even(leg: &ArrivalLeg) -> impl Iterator<Item = f64> + use<> {
    let all = leg.arrivals() as u64;
    let (from, to) = (leg.from as f64 / RATE_UNITS, leg.to as f64 / RATE_UNITS);
    let mean = (from + to) / 2.0;
    let rise = match (to - from).abs() < 0.0001 * mean {
        true => 0.0,
        false => (to - from) / (leg.lasts_ms as f64 / 1000.0),
    };
    (0..all).map(move |number| {
        let number = number as f64;
        let at_s = match rise == 0.0 {
            true => number / mean,
            // f(t) = from t + rise t² / 2 arrivals are due by t; solved for t.
            false => ((from * from + 2.0 * rise * number).max(0.0).sqrt() - from) / rise,
        };
        at_s * 1000.0
    })
}

/// The end of the leg at an instant if its rate is always zero; otherwise the instant itself.
fn end_of_nought(legs: &[ArrivalLeg], at_ms: f64) -> f64 {
    let mut before_ms = 0.0;
    for leg in legs {
        before_ms += leg.lasts_ms as f64;
        if at_ms <= before_ms {
            return match (leg.from, leg.to) {
                (0, 0) => before_ms,
                _ => at_ms,
            };
        }
    }
    at_ms
}

/// The rate at an instant; `None`: after the last leg.
fn rate_in_legs(legs: &[ArrivalLeg], at_ms: f64) -> Option<f64> {
    let mut before_ms = 0.0;
    for leg in legs {
        let lasts_ms = leg.lasts_ms as f64;
        let progress = (at_ms - before_ms) / lasts_ms;
        before_ms += lasts_ms;
        if at_ms <= before_ms {
            let (from, to) = (leg.from as f64 / RATE_UNITS, leg.to as f64 / RATE_UNITS);
            return Some((from + progress * (to - from)).max(0.0));
        }
    }
    None
}

#[cfg(test)]
mod tests;
