//! The numbers of a script's virtual users, and which of them were initialized.
//!
//! Must not know virtual users. Invariant: a number counts as initialized once, however many scenarios use it.

use std::sync::atomic::{AtomicBool, Ordering};

use loadline_model::plan::{PlanSegment, Scenario};
use loadline_model::segment::Stripes;
use loadline_model::{Nanos, TestPlan};
use loadline_schedule::{VuNeed, VuNumbers, vu_needs};
use loadline_script::vu::VuIds;

/// The numbers of all scenarios' virtual users, from zero; shared by all workers.
pub(crate) struct PlanNumbers {
    in_test: Vec<VuNumbers>,
    in_instance: Vec<VuNumbers>,
    /// The part of the plan that this instance does; `None`: all of it.
    part: Option<Stripes>,
    /// Whether that part numbers its virtual users itself.
    is_apart: bool,
    /// The scenario that needs a number last, by number in the instance.
    last: Vec<usize>,
    /// By number in the instance.
    made: Box<[AtomicBool]>,
    /// By scenario.
    limits: Vec<ScenarioLimit>,
}

/// What a scenario may have in this instance.
struct ScenarioLimit {
    vus: u64,
    /// Whether a worker has said that they were too few.
    is_told: AtomicBool,
}

impl ScenarioLimit {
    fn of(needs: &[VuNeed]) -> ScenarioLimit {
        ScenarioLimit {
            vus: needs.iter().map(|need| need.vus).sum(),
            is_told: AtomicBool::new(false),
        }
    }
}

impl PlanNumbers {
    pub(crate) fn new(plan: &TestPlan) -> PlanNumbers {
        let part = plan.segment.as_ref().and_then(stripes_of);
        let needs = needs(plan, |vus| below(part.as_ref(), vus));
        let in_instance = VuNumbers::of_all(&needs);
        let last = last_of_all(&needs, &in_instance);
        PlanNumbers {
            in_test: VuNumbers::of_all(&self::needs(plan, |vus| vus)),
            made: last.iter().map(|_| AtomicBool::new(false)).collect(),
            limits: needs.iter().map(|needs| ScenarioLimit::of(needs)).collect(),
            in_instance,
            is_apart: plan.segment.as_ref().is_some_and(|part| part.is_apart),
            part,
            last,
        }
    }

    /// The numbers of a scenario's virtual user, from 1.
    pub(crate) fn ids(&self, scenario: usize, vu: u64) -> VuIds {
        let in_instance = self.in_instance(scenario, vu);
        let in_test = match &self.part {
            // As in k6, where an instance numbers its virtual users itself, over all scenarios.
            Some(part) if self.is_apart => part.nth(in_instance).unwrap_or(in_instance),
            _ => self.in_test[scenario].number(vu),
        };
        VuIds {
            shown: 1 + if self.is_apart { in_instance } else { in_test },
            in_instance: 1 + in_instance,
            in_test: 1 + in_test,
        }
    }

    /// Its number among the virtual users of this instance, from zero.
    fn in_instance(&self, scenario: usize, vu: u64) -> u64 {
        self.in_instance[scenario].number(below(self.part.as_ref(), vu))
    }

    /// Whether another scenario of this instance later needs a virtual user with the same number.
    pub(crate) fn has_heir(&self, scenario: usize, vu: u64) -> bool {
        let number = self.in_instance(scenario, vu);
        let last = usize::try_from(number)
            .ok()
            .and_then(|number| self.last.get(number));
        last.is_some_and(|last| *last != scenario)
    }

    /// How many virtual users a scenario of this instance may have, for the first worker that lacks some; `None` for others.
    pub(crate) fn first_lack(&self, scenario: usize) -> Option<u64> {
        let limit = self.limits.get(scenario)?;
        // Most that ask are not the first, and need not write to what all workers share.
        let is_first =
            !limit.is_told.load(Ordering::Relaxed) && !limit.is_told.swap(true, Ordering::Relaxed);
        is_first.then_some(limit.vus)
    }

    /// Records that a virtual user was initialized; returns whether it is the first with its number.
    pub(crate) fn note_made(&self, scenario: usize, vu: u64) -> bool {
        let made = usize::try_from(self.in_instance(scenario, vu))
            .ok()
            .and_then(|number| self.made.get(number));
        // Numbers beyond those were requested from outside, through the REST API.
        made.is_none_or(|made| !made.swap(true, Ordering::Relaxed))
    }
}

/// When each scenario needs virtual users, from the start of the plan, and how many; `below` maps a total to
/// the own number.
fn needs(plan: &TestPlan, below: impl Fn(u64) -> u64) -> Vec<Vec<VuNeed>> {
    let of_one = |scenario: &Scenario| {
        let start = scenario.start_time;
        let mut all = 0;
        let placed = |need: VuNeed| {
            let before = below(all);
            all += need.vus;
            VuNeed {
                from: need.from + start,
                until: need.until.map(|until| until + start),
                vus: below(all) - before,
            }
        };
        let needs = vu_needs(&scenario.executor, scenario.graceful_stop);
        needs.into_iter().map(placed).collect()
    };
    plan.scenarios.iter().map(of_one).collect()
}

/// The scenario that needs each number last.
fn last_of_all(needs: &[Vec<VuNeed>], numbers: &[VuNumbers]) -> Vec<usize> {
    let count = numbers.iter().map(VuNumbers::end).max().unwrap_or(0);
    let mut last: Vec<(Nanos, usize)> = (0..count).map(|_| (Nanos(0), 0)).collect();
    for (scenario, (needs, numbers)) in needs.iter().zip(numbers).enumerate() {
        let starts = needs
            .iter()
            .flat_map(|need| (0..need.vus).map(|_| need.from));
        for (from, number) in starts.zip(numbers.reserved()) {
            let holder = usize::try_from(number).ok().and_then(|at| last.get_mut(at));
            if let Some(holder) = holder.filter(|holder| holder.0 <= from) {
                *holder = (from, scenario);
            }
        }
    }
    last.into_iter().map(|(_, scenario)| scenario).collect()
}

fn stripes_of(part: &PlanSegment) -> Option<Stripes> {
    part.sequence.stripes(&part.segment).ok()
}

/// How many of the numbers below `bound` belong to this instance.
fn below(instance: Option<&Stripes>, bound: u64) -> u64 {
    instance.map_or(bound, |stripes| stripes.count_below(bound))
}
