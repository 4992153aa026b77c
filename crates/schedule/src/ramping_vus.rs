//! Ramping virtual users: the number of active ones follows the stages.
//!
//! Must not know what an iteration does. Invariant: virtual user number `v` (from zero, over the whole test) is
//! active exactly while the planned number exceeds `v`, so the highest number stops first, and all shares
//! together follow the whole's curve at every instant.
//!
//! The instants are k6's (`lib/executor/ramping_vus.go`, `getRawExecutionSteps`), in whole nanoseconds: in a
//! leg of duration `D` that ends at `T`, number `n` is reached on the way up at `T -
//! D*(target-n)/(target-from)` and left on the way down at `T - D*(n-1-target)/(from-target)`.

use std::time::Duration;

use loadline_model::Nanos;
use loadline_model::executor::VuStage;
use loadline_model::segment::Share;

use crate::global_vu;
use crate::next::{Next, Numbering};

#[derive(Debug)]
pub(crate) struct RampingVus {
    share: Share,
    ramp: Ramp,
    graceful_ramp_down: Duration,
    /// By local virtual user: its current or next interval; `None` if finished.
    current: Vec<Option<Interval>>,
    numbering: Numbering,
}

impl RampingVus {
    pub(crate) fn new(
        share: &Share,
        vus: u32,
        start_vus: u32,
        stages: &[VuStage],
        graceful_ramp_down: Duration,
    ) -> RampingVus {
        let ramp = Ramp::new(start_vus, stages);
        let first = |vu| ramp.first(global_vu(share, vu));
        RampingVus {
            share: share.clone(),
            current: (0..vus).map(first).collect(),
            ramp,
            graceful_ramp_down,
            numbering: Numbering::new(share),
        }
    }

    #[inline]
    pub(crate) fn next(&mut self, vu: u32, now: Nanos) -> Next {
        let current = &mut self.current[vu as usize];
        while let Some(interval) = current {
            if now < interval.from {
                return Next::Wait {
                    until: interval.from,
                };
            }
            if now < interval.until {
                return self.numbering.start();
            }
            *current = self.ramp.after(global_vu(&self.share, vu), interval);
        }
        Next::Finished
    }

    pub(crate) fn interrupt_at(&self, vu: u32, started: Nanos) -> Option<Nanos> {
        if !self.ramp.falls {
            return None;
        }
        let vu = global_vu(&self.share, vu);
        let mut interval = self.ramp.first(vu)?;
        while interval.falls {
            let cut = interval.until + self.graceful_ramp_down;
            match self.ramp.after(vu, &interval) {
                Some(next) if next.from <= started || next.from < cut => interval = next,
                _ => return Some(cut),
            }
        }
        None
    }

    /// Active virtual users of the whole test at `now`, before the end.
    pub(crate) fn level(&self, now: Nanos) -> u32 {
        self.ramp.level(now.0)
    }
}

/// When each of the first `vus` virtual users may be needed: those removed by a falling leg until their
/// graceful ramp-down is over, the others forever; `None`: never.
pub(crate) fn needs(
    vus: u32,
    start_vus: u32,
    stages: &[VuStage],
    graceful_ramp_down: Duration,
) -> impl Iterator<Item = Option<(Nanos, Nanos)>> {
    let ramp = Ramp::new(start_vus, stages);
    (0..vus).map(move |vu| ramp.need(vu, graceful_ramp_down))
}

/// A span in which one virtual user is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    from: Nanos,
    until: Nanos,
    /// Whether a falling leg ends it, rather than the end of all stages.
    falls: bool,
    /// The first leg in which another interval may start.
    next_leg: usize,
}

/// The planned number of virtual users over time.
#[derive(Debug)]
struct Ramp {
    start_vus: u32,
    legs: Vec<Leg>,
    end: u64,
    /// Whether any leg falls.
    falls: bool,
}

impl Ramp {
    fn new(start_vus: u32, stages: &[VuStage]) -> Ramp {
        let mut legs: Vec<Leg> = Vec::with_capacity(stages.len());
        let (mut start, mut from) = (0, start_vus);
        for stage in stages {
            let end = (Nanos(start) + stage.duration).0;
            legs.push(Leg {
                start,
                end,
                from,
                to: stage.target,
            });
            (start, from) = (end, stage.target);
        }
        let falls = legs.iter().any(|leg| leg.to < leg.from);
        Ramp {
            start_vus,
            legs,
            end: start,
            falls,
        }
    }

    fn first(&self, vu: u32) -> Option<Interval> {
        self.interval(vu, 0, (vu < self.start_vus).then_some(0))
    }

    fn after(&self, vu: u32, interval: &Interval) -> Option<Interval> {
        self.interval(vu, interval.next_leg, None)
    }

    /// The next interval of activity, searching from leg `first`; `since` is set if it has already started.
    ///
    /// Steps at the same instant count as one step (as in k6): a fall that is undone immediately ends nothing,
    /// and an empty interval does not count.
    fn interval(&self, vu: u32, first: usize, mut since: Option<u64>) -> Option<Interval> {
        let mut fell = None;
        for (index, leg) in self.legs.iter().enumerate().skip(first) {
            match (leg.crosses(vu), since, fell) {
                (Some(Crossing::Up(at)), None, _) => since = Some(at),
                (Some(Crossing::Up(at)), Some(_), Some(down)) if at == down => fell = None,
                (Some(Crossing::Up(at)), Some(from), Some(down)) if from == down => {
                    (since, fell) = (Some(at), None);
                }
                (Some(Crossing::Up(_)), Some(from), Some(down)) => {
                    return Some(Interval::new(from, down, true, index));
                }
                (Some(Crossing::Down(at)), _, _) => fell = Some(at),
                (Some(Crossing::Up(_)), Some(_), None) | (None, _, _) => {}
            }
        }
        let from = since?;
        let until = fell.unwrap_or(self.end);
        (from < until).then(|| Interval::new(from, until, fell.is_some(), self.legs.len()))
    }

    /// When a virtual user may be needed, including the time for finishing its iteration; `None`: never.
    ///
    /// As in k6, one that a rising leg reaches at the very end is reserved from then on, though it never runs.
    fn need(&self, vu: u32, graceful_ramp_down: Duration) -> Option<(Nanos, Nanos)> {
        let is_there_at_end = self.legs.last().is_some_and(|leg| vu < leg.to);
        let Some(first) = self.first(vu) else {
            return is_there_at_end.then_some((Nanos(self.end), Nanos::MAX));
        };
        let mut last = first;
        while let Some(next) = self.after(vu, &last) {
            last = next;
        }
        let until = match last.falls && !is_there_at_end {
            true => last.until + graceful_ramp_down,
            false => Nanos::MAX,
        };
        Some((first.from, until))
    }

    fn level(&self, now: u64) -> u32 {
        match self
            .legs
            .partition_point(|leg| leg.start <= now)
            .checked_sub(1)
        {
            Some(index) => self.legs[index].level(now),
            None => self.start_vus,
        }
    }
}

impl Interval {
    fn new(from: u64, until: u64, falls: bool, next_leg: usize) -> Interval {
        Interval {
            from: Nanos(from),
            until: Nanos(until),
            falls,
            next_leg,
        }
    }
}

/// One stage, with its position in time.
#[derive(Debug)]
struct Leg {
    start: u64,
    end: u64,
    from: u32,
    to: u32,
}

/// The instant at which the planned number passes that of a virtual user.
enum Crossing {
    Up(u64),
    Down(u64),
}

impl Leg {
    fn crosses(&self, vu: u32) -> Option<Crossing> {
        if (self.from..self.to).contains(&vu) {
            Some(Crossing::Up(self.before_end(self.to - vu - 1)))
        } else if (self.to..self.from).contains(&vu) {
            Some(Crossing::Down(self.before_end(vu - self.to)))
        } else {
            None
        }
    }

    /// The instant at which `steps` steps are left until the target.
    fn before_end(&self, steps: u32) -> u64 {
        let span = u128::from(self.end - self.start) * u128::from(steps);
        let before = span / u128::from(self.from.abs_diff(self.to));
        self.end - u64::try_from(before).expect("a part of the leg is no longer than the leg")
    }

    /// The planned number at an instant not before the start.
    fn level(&self, now: u64) -> u32 {
        if now >= self.end {
            return self.to;
        }
        let missing = u128::from(self.end - now) * u128::from(self.from.abs_diff(self.to));
        let steps = missing.div_ceil(u128::from(self.end - self.start));
        let steps = u32::try_from(steps).expect("no more steps are left than the leg has");
        if self.from < self.to {
            self.to - steps
        } else {
            self.to + steps
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(seconds: u64, target: u32) -> VuStage {
        VuStage {
            duration: Duration::from_secs(seconds),
            target,
        }
    }

    fn whole(start_vus: u32, stages: &[VuStage], graceful_seconds: u64) -> RampingVus {
        let vus = stages
            .iter()
            .map(|stage| stage.target)
            .fold(start_vus, u32::max);
        let grace = Duration::from_secs(graceful_seconds);
        RampingVus::new(&Share::whole(0, 1), vus, start_vus, stages, grace)
    }

    /// k6's formula: n = 1..4 of 0 to 4 in 1 s start at 1000 - 1000*(4-n)/4 ms; k6 2.2.0 was observed to start
    /// them at 250, 510, 751 and 1000 ms. The last one is at the end, so it does not start.
    #[test]
    fn virtual_users_come_in_at_k6s_instants() {
        let ramp = whole(0, &[stage(1, 4), stage(1, 4)], 0);
        let starts: Vec<Nanos> = ramp.current.iter().flatten().map(|i| i.from).collect();
        assert_eq!(starts, [250, 500, 750, 1000].map(Nanos::from_millis));
        assert_eq!(whole(0, &[stage(1, 4)], 0).current[3], None);
    }

    /// On the way down from 4 to 0 in 1 s, n = 4, 3, 2, 1 leave at 1000 - 1000*(n-1)/4 ms.
    #[test]
    fn the_highest_number_leaves_first() {
        let ramp = whole(4, &[stage(1, 0)], 0);
        let ends: Vec<Nanos> = ramp.current.iter().flatten().map(|i| i.until).collect();
        assert_eq!(ends, [1000, 750, 500, 250].map(Nanos::from_millis));
        assert_eq!(ramp.level(Nanos(249_999_999)), 4);
        assert_eq!(ramp.level(Nanos(250_000_000)), 3);
    }

    #[test]
    fn jumps_at_one_instant_are_one_step() {
        let mut ramp = whole(2, &[stage(1, 2), stage(0, 0), stage(0, 2), stage(1, 2)], 0);
        let all = Interval::new(0, 2_000_000_000, false, 4);
        assert_eq!(ramp.current, [Some(all), Some(all)]);
        assert_eq!(ramp.interrupt_at(0, Nanos::ZERO), None);
        assert!(matches!(
            ramp.next(1, Nanos::from_secs(1)),
            Next::Start { .. }
        ));
        let spike = whole(0, &[stage(1, 0), stage(0, 3), stage(0, 0), stage(1, 0)], 0);
        assert_eq!(spike.current, [None, None, None]);
    }

    #[test]
    fn a_virtual_user_waits_for_its_turn_and_finishes() {
        let stages = [
            stage(0, 2),
            stage(10, 2),
            stage(0, 1),
            stage(5, 1),
            stage(0, 2),
            stage(5, 2),
        ];
        let mut ramp = whole(0, &stages, 3);
        assert!(matches!(ramp.next(1, Nanos::ZERO), Next::Start { .. }));
        let wait = Next::Wait {
            until: Nanos::from_secs(15),
        };
        assert_eq!(ramp.next(1, Nanos::from_secs(10)), wait);
        assert_eq!(ramp.next(1, Nanos::from_secs(14)), wait);
        assert!(matches!(
            ramp.next(1, Nanos::from_secs(15)),
            Next::Start { .. }
        ));
        assert_eq!(ramp.next(1, Nanos::from_secs(20)), Next::Finished);
        assert_eq!(
            ramp.interrupt_at(1, Nanos::from_secs(9)),
            Some(Nanos::from_secs(13))
        );
        assert_eq!(ramp.interrupt_at(1, Nanos::from_secs(16)), None);
        assert_eq!(ramp.interrupt_at(0, Nanos::from_secs(9)), None);
    }

    #[test]
    fn a_virtual_user_wanted_again_in_time_is_not_cut() {
        let stages = [
            stage(10, 2),
            stage(0, 1),
            stage(5, 1),
            stage(0, 2),
            stage(5, 2),
            stage(0, 0),
        ];
        let ramp = whole(2, &stages, 6);
        assert_eq!(
            ramp.interrupt_at(1, Nanos::from_secs(9)),
            Some(Nanos::from_secs(26))
        );
        let short = whole(2, &stages, 5);
        assert_eq!(
            short.interrupt_at(1, Nanos::from_secs(9)),
            Some(Nanos::from_secs(15))
        );
    }

    #[test]
    fn long_ramps_of_many_do_not_overflow() {
        let stages = [VuStage {
            duration: Duration::MAX,
            target: u32::MAX,
        }];
        let ramp = Ramp::new(0, &stages);
        assert_eq!(ramp.level(u64::MAX - 1), u32::MAX - 1);
        assert_eq!(ramp.level(0), 0);
        assert!(ramp.first(u32::MAX - 2).is_some());
    }
}
