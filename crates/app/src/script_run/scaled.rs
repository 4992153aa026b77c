//! The part of an executor that this process runs, for display.
//!
//! Must not decide anything: the schedule divides the plan itself. Invariant: a whole plan stays unchanged.

use loadline_model::segment::Share;
use loadline_model::{ArrivalRate, Executor, Nanos};

/// The part of an executor for a share of the test.
pub(super) fn scaled(executor: &Executor, share: &Share) -> Executor {
    let vus_of = |vus: u32| u32::try_from(share.scale(vus.into())).unwrap_or(vus);
    let mut part = executor.clone();
    match &mut part {
        Executor::SharedIterations {
            vus, iterations, ..
        } => {
            let own = share.stripes_by(u64::from(*vus));
            *iterations = own.map_or(0, |own| own.count_below(*iterations));
            *vus = vus_of(*vus);
        }
        Executor::ConstantVus { vus, .. } | Executor::PerVuIterations { vus, .. } => {
            *vus = vus_of(*vus);
        }
        Executor::ExternallyControlled { vus, max_vus, .. } => {
            (*vus, *max_vus) = (vus_of(*vus), vus_of(*max_vus));
        }
        Executor::RampingVus {
            start_vus, stages, ..
        } => {
            *start_vus = vus_of(*start_vus);
            for stage in stages {
                stage.target = vus_of(stage.target);
            }
        }
        Executor::ConstantArrivalRate {
            rate,
            pre_allocated_vus,
            max_vus,
            ..
        } => {
            // As in k6: a constant rate is divided by the virtual users, a ramp by the segment's length.
            let own = share.stripes_by(u64::from(*max_vus));
            slow(rate, own.map_or(0.0, |own| own.part()));
            (*pre_allocated_vus, *max_vus) = (vus_of(*pre_allocated_vus), vus_of(*max_vus));
        }
        Executor::RampingArrivalRate {
            start_rate,
            stages,
            pre_allocated_vus,
            max_vus,
            ..
        } => {
            let part = share.segment().share();
            slow(start_rate, part);
            for stage in stages {
                slow(&mut stage.target, part);
            }
            (*pre_allocated_vus, *max_vus) = (vus_of(*pre_allocated_vus), vus_of(*max_vus));
        }
        // Scripts have no thread groups.
        Executor::ThreadGroup(_) => {}
    }
    part
}

/// Reduces a rate to the part of the share.
fn slow(rate: &mut ArrivalRate, part: f64) {
    match part {
        0.0 => rate.starts = 0,
        part => rate.per = Nanos((rate.per.0 as f64 / part).round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use loadline_model::executor::Spacing;
    use loadline_model::plan::PlanSegment;

    use super::*;

    fn half() -> Share {
        let half = "1/2".parse().expect("it is a segment");
        let part = PlanSegment::new(half, None).expect("it fits");
        Share::new(part.segment, part.sequence, 0, 1).expect("it fits")
    }

    /// k6 2.2.0 says `2 iterations shared among 2 VUs` of 3 and 3 in its first half.
    #[test]
    fn half_a_plan_is_shown_as_half() {
        let shared = Executor::SharedIterations {
            vus: 3,
            iterations: 3,
            max_duration: None,
        };
        let expected = Executor::SharedIterations {
            vus: 2,
            iterations: 2,
            max_duration: None,
        };
        assert_eq!(scaled(&shared, &half()), expected);
        assert_eq!(scaled(&shared, &Share::whole(0, 1)), shared);
        let mut rate = ArrivalRate::per_second(10);
        slow(&mut rate, half().segment().share());
        assert!((rate.starts_per_second() - 5.0).abs() < 1e-9);
    }

    /// k6 2.2.0 says `6.67 iterations/s` of ten in the first half of three VUs.
    #[test]
    fn a_constant_rate_is_shown_by_its_virtual_users() {
        let arrivals = Executor::ConstantArrivalRate {
            rate: ArrivalRate::per_second(10),
            duration: None,
            spacing: Spacing::Even,
            iterations: None,
            pre_allocated_vus: 1,
            max_vus: 3,
        };
        let Executor::ConstantArrivalRate { rate, max_vus, .. } = scaled(&arrivals, &half()) else {
            panic!("it is still a constant rate");
        };
        assert_eq!(max_vus, 2);
        assert!((rate.starts_per_second() - 20.0 / 3.0).abs() < 1e-6);
    }
}
