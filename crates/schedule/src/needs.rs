//! When virtual users may be needed: before and after that, other scenarios can use them.
//!
//! Source: k6's execution requirements. Must not know other scenarios. Invariant: the needs of an executor
//! cover all its virtual users, in order of their numbers and start times.

use std::time::Duration;

use loadline_model::{Executor, Nanos};

use crate::ramping_vus;

/// When a range of consecutive virtual users is needed, from the start of the scenario or of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VuNeed {
    /// The earliest start of the first iteration.
    pub from: Nanos,
    /// When the last iteration must have ended; `None`: never.
    pub until: Option<Nanos>,
    /// Their number.
    pub vus: u64,
}

/// The needs of an executor whose iterations may end up to `graceful_stop` after it, from its start.
#[must_use]
pub fn vu_needs(executor: &Executor, graceful_stop: Duration) -> Vec<VuNeed> {
    let max_vus = executor.max_vus();
    let end = executor.duration();
    let end = end.map(|length| Nanos::from(length) + graceful_stop);
    let Executor::RampingVus {
        start_vus,
        stages,
        graceful_ramp_down,
    } = executor
    else {
        let from = Nanos(0);
        let (until, vus) = (end, u64::from(max_vus));
        return vec![VuNeed { from, until, vus }];
    };
    let mut needs: Vec<VuNeed> = Vec::new();
    for need in ramping_vus::needs(max_vus, *start_vus, stages, *graceful_ramp_down) {
        // A virtual user that is removed as soon as it comes needs no time.
        let before = needs.last().map_or(Nanos(0), |last| last.from);
        let (from, until) = need.unwrap_or((before, before));
        let until = Some(end.map_or(until, |end| until.min(end)));
        match needs.last_mut() {
            Some(last) if (last.from, last.until) == (from, until) => last.vus += 1,
            _ => needs.push(VuNeed {
                from,
                until,
                vus: 1,
            }),
        }
    }
    needs
}

#[cfg(test)]
mod tests {
    use loadline_model::executor::VuStage;

    use super::*;

    fn seconds(of: &[VuNeed]) -> Vec<(f64, Option<f64>, u64)> {
        let second = |at: Nanos| at.0 as f64 / 1e9;
        of.iter()
            .map(|need| (second(need.from), need.until.map(second), need.vus))
            .collect()
    }

    fn ramp(stages: &[(u64, u32)], down: u64) -> Executor {
        let stage = |(seconds, target): &(u64, u32)| VuStage {
            duration: Duration::from_secs(*seconds),
            target: *target,
        };
        Executor::RampingVus {
            start_vus: 1,
            stages: stages.iter().map(stage).collect(),
            graceful_ramp_down: Duration::from_secs(down),
        }
    }

    #[test]
    fn others_than_a_ramps_are_needed_throughout() {
        let constant = |duration| Executor::ConstantVus { vus: 3, duration };
        let grace = Duration::from_secs(30);
        let needs = vu_needs(&constant(Some(Duration::from_secs(5))), grace);
        assert_eq!(seconds(&needs), [(0.0, Some(35.0), 3)]);
        assert_eq!(seconds(&vu_needs(&constant(None), grace)), [(0.0, None, 3)]);
    }

    #[test]
    fn those_of_a_ramp_come_and_go() {
        let grace = Duration::from_secs(30);
        let up_and_down = ramp(&[(2, 3), (0, 4), (4, 2), (1, 2)], 1);
        assert_eq!(
            seconds(&vu_needs(&up_and_down, grace)),
            [
                (0.0, Some(37.0), 1),
                (1.0, Some(37.0), 1),
                (2.0, Some(7.0), 1),
                (2.0, Some(5.0), 1)
            ]
        );
        // A virtual user that comes back stays; one that arrives at the very end is never active, but reserved.
        let again = ramp(&[(1, 3), (0, 1), (1, 3)], 60);
        assert_eq!(
            seconds(&vu_needs(&again, grace)),
            [
                (0.0, Some(32.0), 1),
                (0.5, Some(32.0), 1),
                (2.0, Some(32.0), 1)
            ]
        );
        // So is one that was active before.
        let peaks = ramp(&[(1, 2), (1, 2), (0, 1), (1, 2)], 0);
        assert_eq!(
            seconds(&vu_needs(&peaks, grace)),
            [(0.0, Some(33.0), 1), (1.0, Some(33.0), 1)]
        );
        // One that is removed at the instant at which it would begin is not.
        let undone = ramp(&[(1, 2), (0, 1), (1, 1)], 60);
        assert_eq!(
            seconds(&vu_needs(&undone, grace)),
            [(0.0, Some(32.0), 1), (0.0, Some(0.0), 1)]
        );
    }
}
