//! The numbers of a script's virtual users, and which of them were made.
//!
//! Must not know virtual users. Invariant: a number counts as made once, however many scenarios use it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use loadline_model::TestPlan;
use loadline_model::plan::PlanSegment;
use loadline_model::vu_numbers::VuNumbers;

/// The numbers of a virtual user, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct VuIds {
    pub(crate) in_test: u64,
    pub(crate) in_instance: u64,
}

/// The numbers of all scenarios' virtual users, from zero; shared by all workers.
pub(crate) struct PlanNumbers {
    in_test: Vec<VuNumbers>,
    in_instance: Vec<VuNumbers>,
    /// The part of the plan that this instance does; `None`: all of it.
    segment: Option<PlanSegment>,
    /// When each scenario begins.
    starts: Vec<Duration>,
    /// By number in the instance.
    made: Box<[AtomicBool]>,
}

impl PlanNumbers {
    pub(crate) fn new(plan: &TestPlan) -> PlanNumbers {
        let segment = plan.segment.clone();
        let in_instance = plan.vu_reservations(|vus| below(segment.as_ref(), vus));
        let in_instance = VuNumbers::of_all(&in_instance);
        let count = in_instance.iter().map(VuNumbers::end).max().unwrap_or(0);
        PlanNumbers {
            in_test: VuNumbers::of_all(&plan.vu_reservations(|vus| vus)),
            in_instance,
            segment,
            starts: plan.scenarios.iter().map(|one| one.start_time).collect(),
            made: (0..count).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// The number over the test of a scenario's virtual user.
    pub(crate) fn in_test(&self, scenario: usize, vu: u64) -> u64 {
        self.in_test[scenario].number(vu)
    }

    /// Its number among the virtual users of this instance.
    pub(crate) fn in_instance(&self, scenario: usize, vu: u64) -> u64 {
        self.in_instance[scenario].number(below(self.segment.as_ref(), vu))
    }

    /// Whether a scenario that begins later has one of the same number in this instance.
    pub(crate) fn has_heir(&self, scenario: usize, vu: u64) -> bool {
        let number = self.in_instance(scenario, vu);
        let start = self.starts[scenario];
        let mut later = self.in_instance.iter().zip(&self.starts);
        later.any(|(numbers, begins)| *begins > start && numbers.contains(number))
    }

    /// Notes that a virtual user was made; whether it is the first of its number.
    pub(crate) fn note_made(&self, scenario: usize, vu: u64) -> bool {
        let made = usize::try_from(self.in_instance(scenario, vu))
            .ok()
            .and_then(|number| self.made.get(number));
        // Beyond those are the ones that somebody asked for from outside.
        made.is_none_or(|made| !made.swap(true, Ordering::Relaxed))
    }
}

/// How many of the numbers below `bound` are of this instance.
fn below(instance: Option<&PlanSegment>, bound: u64) -> u64 {
    let stripes = instance.map(|part| part.sequence.stripes(&part.segment));
    match stripes {
        Some(Ok(stripes)) => stripes.count_below(bound),
        Some(Err(_)) | None => bound,
    }
}
