//! The part of a test that an agent runs.
//!
//! Must not know what the test does. Invariant: the parts of all agents make up the whole plan.

use loadline_model::plan::PlanSegment;
use loadline_model::segment::{Ratio, Segment, SegmentError, SegmentSequence};
use loadline_model::{Behaviour, Scenario, TestPlan};

/// Maximum shares of one process: its own, and those of lost agents.
pub(crate) const SHARES_MAX: usize = 8;

/// Whether a plan can be split.
///
/// # Errors
/// It cannot be run, or is a part itself; in words for the user.
pub(crate) fn check(plan: &TestPlan, agents: u32) -> Result<(), String> {
    plan.validate()?;
    if plan.segment.is_some() {
        return Err(
            "a part of a test (--execution-segment) cannot be split further; drop one of them"
                .to_owned(),
        );
    }
    equal_parts(agents)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// How many of this many agents have work: an agent without virtual users cannot serve arrivals.
pub(crate) fn with_work(plan: &TestPlan, agents: u32) -> u32 {
    let open = plan.scenarios.iter().map(|scenario| &scenario.executor);
    let vus = open.filter(|executor| executor.is_open());
    let least = vus.map(loadline_model::Executor::max_vus).min();
    least.map_or(agents, |least| least.clamp(1, agents))
}

/// Whether another agent can continue the part of a lost one: of a fixed number of iterations nobody knows how many
/// are left, unless each has its own start time.
pub(crate) fn is_replaceable(plan: &TestPlan) -> bool {
    // Threads of steps start with their group, and nobody knows how far those of a lost agent had got.
    let is_of_steps = |scenario: &Scenario| matches!(scenario.behaviour, Behaviour::Steps(_));
    let mut scenarios = plan.scenarios.iter();
    !plan.scenarios.iter().any(is_of_steps)
        && scenarios
            .any(|scenario| scenario.executor.is_open() || scenario.planned_iterations().is_none())
}

/// The part of a plan for the agent with this number, from 0.
///
/// # Errors
/// There is no such part.
pub fn share_of(plan: TestPlan, number: u32, agents: u32) -> Result<TestPlan, String> {
    let sequence = equal_parts(agents).map_err(|error| error.to_string())?;
    let segment = sequence.segments().get(number as usize).copied();
    let segment = segment.ok_or_else(|| format!("there is no part {number} of {agents}"))?;
    let part = PlanSegment::new(segment, Some(sequence)).map_err(|error| error.to_string())?;
    Ok(TestPlan {
        segment: Some(part),
        ..plan
    })
}

fn equal_parts(agents: u32) -> Result<SegmentSequence, SegmentError> {
    let all = u64::from(agents.max(1));
    let at = |part: u64| Ratio::new(part, all).expect("a part of a whole");
    let segments = (0..all).map(|part| Segment::new(at(part), at(part + 1)));
    SegmentSequence::new(segments.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_equal_and_whole() {
        for agents in [1, 2, 3, 7, 10, 50, 500] {
            let sequence = equal_parts(agents).expect("parts");
            assert_eq!(sequence.segments().len(), agents as usize);
            let shares = sequence.scale_all(1_000);
            assert_eq!(shares.iter().sum::<u64>(), 1_000, "{agents}");
            let (least, most) = (shares.iter().min(), shares.iter().max());
            assert!(most.expect("one") - least.expect("one") <= 1, "{agents}");
        }
    }
}
