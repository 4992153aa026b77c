//! Open models: arrivals are due at instants that only depend on the plan.
//!
//! Must not know completions, the state of virtual users or what happens to an arrival that no virtual user can
//! take. Invariant: arrival `i` of the test is due when the integral of the arrival rate reaches `u(i)`, where
//! `u` is a sequence for the whole test: `i` itself for even spacing, the sum of `i + 1` exponential draws for
//! Poisson spacing. The arrivals of a thread group follow a course of their own. Every worker keeps the indexes
//! of its share, so all parts together have the arrivals of the whole, at the same instants.

use std::cell::RefCell;
use std::time::Duration;

use loadline_model::executor::Spacing;
use loadline_model::segment::Share;
use loadline_model::thread_group::{ArrivalCourse, Arrivals, ThreadGroup};
use loadline_model::{Executor, Nanos};

use crate::arrival_course::CourseWalk;
use crate::constant_arrival_rate::ConstantArrivalRate;
use crate::planned::Planned;
use crate::poisson::PoissonWalk;
use crate::ramping_arrival_rate::RampingArrivalRate;
use crate::{global_vu, own_vus};

/// One planned start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its number in the whole test, from zero.
    pub iteration: u64,
    /// When it is due, relative to the scenario's start.
    pub intended: Nanos,
}

/// One worker's share of an open model.
#[derive(Debug)]
pub struct Open {
    plan: Plan,
    taking: Stream,
    /// Counts due Poisson arrivals; even ones are counted by formula. The cell hides the cache from callers; a
    /// schedule stays on its worker's thread.
    counting: Option<RefCell<Count>>,
    vus: u32,
    pre_allocated: u32,
    /// Arrivals of the share that belong to a lost process: those due before this worker took over.
    anothers: u64,
    /// The same of all workers of the process.
    anothers_of_process: u64,
}

impl Open {
    /// `None` for an executor of the closed model.
    pub(crate) fn new(executor: &Executor, share: &Share) -> Option<Open> {
        let (curve, spacing, iterations, pre_allocated_vus, max_vus) = match executor {
            Executor::ThreadGroup(ThreadGroup::Arrivals(arrivals)) => {
                return Some(Open::of_group(arrivals, share));
            }
            Executor::ConstantArrivalRate {
                rate,
                duration,
                spacing,
                iterations,
                pre_allocated_vus,
                max_vus,
            } => {
                let end = duration.map(|duration| match spacing {
                    Spacing::EvenToTheEnd => duration + Duration::from_nanos(1),
                    Spacing::Even | Spacing::Poisson { .. } => duration,
                });
                let curve = Curve::Constant(ConstantArrivalRate::new(*rate, end));
                (curve, *spacing, iterations, pre_allocated_vus, max_vus)
            }
            Executor::RampingArrivalRate {
                start_rate,
                stages,
                spacing,
                iterations,
                pre_allocated_vus,
                max_vus,
            } => {
                let curve = Curve::Ramping(RampingArrivalRate::new(*start_rate, stages));
                (curve, *spacing, iterations, pre_allocated_vus, max_vus)
            }
            _ => return None,
        };
        let arrivals = share_of_arrivals(share, *max_vus);
        let plan = Plan {
            limit: match arrivals {
                Some(_) => *iterations,
                None => Some(0),
            },
            share: arrivals.unwrap_or_else(|| share.clone()),
            curve,
            spacing,
        };
        let vus = own_vus(share, *max_vus);
        Some(Open::of_plan(plan, vus, own_vus(share, *pre_allocated_vus)))
    }

    /// The arrivals of a thread group. Reused threads are one pool, so they all belong to one worker.
    fn of_group(arrivals: &Arrivals, share: &Share) -> Open {
        let is_elsewhere = arrivals.reuses_threads && share.worker() > 0;
        let share = match arrivals.reuses_threads {
            true => share.of_process(),
            false => share.clone(),
        };
        let vus = own_vus(&share, arrivals.threads_max);
        let plan = Plan {
            share,
            curve: Curve::Course(arrivals.course.clone()),
            spacing: Spacing::Even,
            limit: match is_elsewhere {
                true => Some(0),
                false => arrivals.limit,
            },
        };
        Open::of_plan(plan, if is_elsewhere { 0 } else { vus }, 0)
    }

    fn of_plan(plan: Plan, vus: u32, pre_allocated: u32) -> Open {
        let taking = Stream::new(&plan);
        let counting = (!matches!(taking.walk, Walk::Even)).then(|| {
            RefCell::new(Count {
                stream: taking.clone(),
                until: Nanos::ZERO,
            })
        });
        Open {
            taking,
            counting,
            vus,
            pre_allocated,
            anothers: 0,
            anothers_of_process: 0,
            plan,
        }
    }

    /// Takes over at an instant, before anything was started: earlier arrivals belong to the lost process.
    pub(crate) fn take_over_at(&mut self, now: Nanos) {
        let Some(before) = now.0.checked_sub(1) else {
            return;
        };
        self.anothers = self.due_of_share_by(Nanos(before));
        self.taking.skip_to(self.anothers, &self.plan);
        let of_process = Open::of_plan(self.plan.of_process(), 0, 0);
        self.anothers_of_process = of_process.due_of_share_by(Nanos(before));
    }

    /// The number in the whole test, from zero, of the iteration that the process starts after `earlier` others,
    /// whichever arrival it takes: dropped arrivals leave no holes (k6's rule).
    #[must_use]
    pub fn number_of_start(&self, earlier: u64) -> Option<u64> {
        let earlier = self.anothers_of_process.checked_add(earlier)?;
        self.plan.share.nth_of_process(earlier)
    }

    /// Maximum virtual users hosted by this worker.
    #[must_use]
    pub fn vus(&self) -> u32 {
        self.vus
    }

    /// Virtual users that this worker initializes before the start.
    #[must_use]
    pub fn pre_allocated(&self) -> u32 {
        self.pre_allocated
    }

    /// The number of a hosted virtual user in the whole test, from zero.
    ///
    /// # Panics
    /// If `vu` is not below [`Open::vus`].
    #[must_use]
    pub fn global_vu(&self, vu: u32) -> u32 {
        assert!(vu < self.vus, "virtual user {vu} of {}", self.vus);
        global_vu(&self.plan.share, vu)
    }

    /// When the next arrival that was not taken is due; `None` if there is none left.
    #[must_use]
    #[inline]
    pub fn next_due(&self) -> Option<Nanos> {
        self.taking.head.map(|arrival| arrival.intended)
    }

    /// Takes the next arrival, due or not; `None` if there is none left, and forever after.
    pub fn take(&mut self) -> Option<Arrival> {
        self.taking.take(&self.plan)
    }

    /// Passes over the arrivals due at or before `now` that were not taken; returns their number. Costs as much as
    /// [`Open::due_by`], so that no rate is too high for it.
    pub fn pass_due(&mut self, now: Nanos) -> u64 {
        let due = self.due_by(now);
        self.taking.skip_to(self.taking.taken + due, &self.plan);
        due
    }

    /// Whether nothing will come any more: all arrivals were taken, and the duration of a constant rate has
    /// passed. A limited number of arrivals and a changing rate end with the last arrival (k6's rules).
    #[must_use]
    pub fn is_over(&self, now: Nanos) -> bool {
        let until = match &self.plan.curve {
            Curve::Constant(rate) if self.plan.limit.is_none() => rate.end(),
            _ => None,
        };
        self.next_due().is_none() && until.is_none_or(|end| now >= end)
    }

    /// Arrivals due at or before `now` that were not taken.
    ///
    /// Computed directly for even spacing. Poisson spacing looks ahead, at each arrival once as long as `now`
    /// does not go back; if it does, counting restarts from the beginning.
    #[must_use]
    pub fn due_by(&self, now: Nanos) -> u64 {
        match self.next_due() {
            Some(due) if due <= now => {
                let due = self.due_of_share_by(now);
                due.saturating_sub(self.taking.taken)
            }
            _ => 0,
        }
    }

    /// Arrivals of this worker due at or before `now`, taken or not; costs as much as [`Open::due_by`].
    #[must_use]
    pub fn planned_by(&self, now: Nanos) -> u64 {
        self.due_of_share_by(now).saturating_sub(self.anothers)
    }

    /// Arrivals of the share due at or before `now`, including those of a lost process.
    fn due_of_share_by(&self, now: Nanos) -> u64 {
        match &self.counting {
            Some(count) => count.borrow_mut().planned_by(now, &self.plan),
            None => self
                .plan
                .share
                .count_below(self.plan.limited(self.plan.curve.count_by(now))),
        }
    }

    /// Arrivals of this worker over the whole run.
    ///
    /// `None` if neither time nor number limits them, and for Poisson spacing limited by time: the number is
    /// then random, and known from [`Open::planned_by`] at the end.
    #[must_use]
    pub fn planned_total(&self) -> Option<u64> {
        let by_time = self.plan.curve.total();
        let all = match self.counting {
            Some(_) if self.end().is_some() => None,
            Some(_) => self.plan.limit,
            None => by_time
                .map(|total| self.plan.limited(total))
                .or(self.plan.limit),
        };
        let of_share = all.map(|total| self.plan.share.count_below(total));
        of_share.map(|total| total.saturating_sub(self.anothers))
    }

    /// The first instant at which no arrival is due any more; `None` without a time limit.
    ///
    /// A ramp's last arrival may be due exactly at the end of its last stage, and so may that of a constant
    /// rate with [`Spacing::EvenToTheEnd`]; the result is then one nanosecond later.
    #[must_use]
    pub fn end(&self) -> Option<Nanos> {
        self.plan.curve.end()
    }
}

/// Which arrivals belong to the share; `None` if its process has none of the virtual users.
///
/// As in k6, a process gets arrivals in proportion to its maximum virtual users, of which there is at least one.
fn share_of_arrivals(share: &Share, max_vus: u32) -> Option<Share> {
    share.divided_by(max_vus.into())
}

/// What determines every arrival.
#[derive(Clone, Debug)]
struct Plan {
    share: Share,
    curve: Curve,
    spacing: Spacing,
    /// Number of arrivals in the whole test; `None`: limited only by the curve.
    limit: Option<u64>,
}

impl Plan {
    /// The same for all workers of the process together.
    fn of_process(&self) -> Plan {
        Plan {
            share: self.share.of_process(),
            ..self.clone()
        }
    }

    fn limited(&self, count: u64) -> u64 {
        self.limit.map_or(count, |limit| limit.min(count))
    }
}

/// The integral of the arrival rate over time.
#[derive(Clone, Debug)]
enum Curve {
    Constant(ConstantArrivalRate),
    Ramping(RampingArrivalRate),
    /// Arrivals that can only be computed one after another.
    Course(ArrivalCourse),
}

impl Curve {
    /// When the integral reaches `planned`; `None` if not before the end.
    fn instant(&self, planned: Planned) -> Option<Nanos> {
        match self {
            Curve::Course(_) => None,
            Curve::Constant(curve) => curve.instant(planned),
            Curve::Ramping(curve) => curve.instant(planned),
        }
    }

    /// The point on the integral at which the evenly spaced arrival `index` is due: the first is at the start
    /// of a constant rate, but at 1 for a ramp (k6's rules).
    fn even(&self, index: u64) -> Option<Planned> {
        let whole = match self {
            Curve::Constant(_) => index,
            Curve::Ramping(_) => index.checked_add(1)?,
            Curve::Course(_) => return None,
        };
        Some(Planned { whole, fraction: 0 })
    }

    /// Evenly spaced arrivals due at or before `now`.
    fn count_by(&self, now: Nanos) -> u64 {
        match self {
            Curve::Constant(curve) => curve.count_by(now),
            Curve::Ramping(curve) => curve.count_by(now),
            Curve::Course(_) => 0,
        }
    }

    /// Total of evenly spaced arrivals.
    fn total(&self) -> Option<u64> {
        match self {
            Curve::Constant(curve) => curve.total(),
            Curve::Ramping(curve) => Some(curve.total()),
            Curve::Course(_) => None,
        }
    }

    fn end(&self) -> Option<Nanos> {
        match self {
            Curve::Constant(curve) => curve.end(),
            Curve::Ramping(curve) => Some(curve.end()),
            Curve::Course(_) => None,
        }
    }
}

/// How arrivals are computed one after another.
#[derive(Clone, Debug)]
enum Walk {
    /// Not at all: each follows from its number.
    Even,
    /// The draws of a Poisson process.
    Poisson(PoissonWalk),
    /// The instants of a course.
    Course(Box<CourseWalk>),
}

/// Iterates over the share's arrivals.
#[derive(Clone, Debug)]
struct Stream {
    walk: Walk,
    taken: u64,
    head: Option<Arrival>,
}

impl Stream {
    fn new(plan: &Plan) -> Stream {
        let walk = match (&plan.curve, plan.spacing) {
            (Curve::Course(course), _) => Walk::Course(Box::new(CourseWalk::new(course))),
            (_, Spacing::Even | Spacing::EvenToTheEnd) => Walk::Even,
            (_, Spacing::Poisson { seed }) => Walk::Poisson(PoissonWalk::new(seed)),
        };
        let mut stream = Stream {
            walk,
            taken: 0,
            head: None,
        };
        stream.head = stream.arrival(plan);
        stream
    }

    fn take(&mut self, plan: &Plan) -> Option<Arrival> {
        let arrival = self.head?;
        self.taken += 1;
        self.head = self.arrival(plan);
        Some(arrival)
    }

    /// Makes the share's arrival with this number, from 0, the next one.
    fn skip_to(&mut self, number: u64, plan: &Plan) {
        while self.taken < number && !matches!(self.walk, Walk::Even) {
            if self.take(plan).is_none() {
                return;
            }
        }
        if self.taken < number {
            self.taken = number;
            self.head = self.arrival(plan);
        }
    }

    /// The share's arrival number `taken`.
    fn arrival(&mut self, plan: &Plan) -> Option<Arrival> {
        let iteration = plan.share.nth(self.taken)?;
        if plan.limit.is_some_and(|limit| iteration >= limit) {
            return None;
        }
        let intended = match &mut self.walk {
            Walk::Even => plan.curve.instant(plan.curve.even(iteration)?)?,
            Walk::Poisson(walk) => plan.curve.instant(walk.until(iteration))?,
            Walk::Course(walk) => walk.until(iteration)?,
        };
        Some(Arrival {
            iteration,
            intended,
        })
    }
}

/// Running count of due Poisson arrivals.
#[derive(Debug)]
struct Count {
    stream: Stream,
    /// The latest instant that was queried.
    until: Nanos,
}

impl Count {
    fn planned_by(&mut self, now: Nanos, plan: &Plan) -> u64 {
        if now < self.until {
            self.stream = Stream::new(plan);
        }
        self.until = now;
        while self
            .stream
            .head
            .is_some_and(|arrival| arrival.intended <= now)
        {
            self.stream.take(plan);
        }
        self.stream.taken
    }
}
