//! The instants of courses, compared with JMeter's behaviour.

use loadline_model::Executor;
use loadline_model::segment::Share;
use loadline_model::thread_group::{Arrivals, ThreadGroup};

use super::*;
use crate::{IterationPool, Schedule};

/// All instants of a course, in milliseconds.
fn instants(course: &ArrivalCourse) -> Vec<u64> {
    let mut walk = CourseWalk::new(course);
    let instants = std::iter::from_fn(|| walk.next());
    instants.map(|at| at.0 / 1_000_000).collect()
}

fn per_s(rate: f64) -> u64 {
    (rate * RATE_UNITS) as u64
}

fn leg(from: f64, to: f64, lasts_ms: u64, by_chance: bool) -> ArrivalLeg {
    ArrivalLeg {
        from: per_s(from),
        to: per_s(to),
        lasts_ms,
        by_chance,
    }
}

fn rising(target: f64, ramp_s: u64, steps: u32, hold_s: u64) -> ArrivalCourse {
    ArrivalCourse::Rising {
        target: per_s(target),
        ramp_s,
        steps,
        hold_s,
    }
}

/// JMeter's plugin started 40 iterations at these instants with 10/s, a ramp of 3 s in 3 steps, and 2 s more;
/// without steps it started 18 from 3.2 s on.
#[test]
fn arrivals_rise_by_steps_and_not_at_all_without() {
    let stepped = instants(&rising(10.0, 3, 3, 2));
    assert_eq!(stepped.len(), 40);
    assert_eq!(stepped[..6], [0, 300, 600, 900, 1200, 1350]);
    let even = instants(&rising(10.0, 3, 0, 2));
    assert_eq!((even.len(), even[0]), (18, 3200));
    assert_eq!(instants(&rising(10.0, 0, 0, 1)).len(), 10);
    assert_eq!(instants(&rising(0.0, 5, 0, 1_000_000_000)), [0_u64; 0]);
}

/// JMeter's plugin started 22 iterations.
#[test]
fn free_form_legs_follow_the_rate_of_the_moment() {
    let legs = vec![leg(2.0, 10.0, 2000, false), leg(10.0, 10.0, 1000, false)];
    let found = instants(&ArrivalCourse::FreeForm { legs });
    assert_eq!(found[..4], [0, 500, 750, 950]);
    assert_eq!(found.len(), 22);
    let legs = vec![
        leg(0.0, 0.0, 5_000_000_000, false),
        leg(10.0, 10.0, 200, false),
    ];
    assert!(instants(&ArrivalCourse::FreeForm { legs })[0] >= 5_000_000_000);
}

#[test]
fn counted_legs_have_exactly_their_arrivals() {
    let counted = |legs: &[ArrivalLeg]| {
        instants(&ArrivalCourse::Counted {
            legs: legs.to_vec(),
            seed: 7,
        })
    };
    let even = counted(&[
        leg(4.0, 4.0, 1000, false),
        leg(0.0, 0.0, 500, false),
        leg(2.0, 2.0, 1000, false),
    ]);
    assert_eq!(even, [0, 250, 500, 750, 1500, 2000]);
    // n = t² / 2 · 2. From 0 to 2 per second over one second: one arrival; over 3 s: three, at √(3 n).
    assert_eq!(counted(&[leg(0.0, 2.0, 3000, false)]), [0, 1732, 2449]);
    let by_chance = counted(&[leg(100.0, 300.0, 10_000, true)]);
    assert_eq!(by_chance.len(), 2000);
    assert!(by_chance.is_sorted() && by_chance.iter().all(|at| *at < 10_000));
    let late = by_chance.iter().filter(|at| **at >= 5000).count();
    assert!((1150..1350).contains(&late), "1250 are expected: {late}");
    assert_eq!(by_chance, counted(&[leg(100.0, 300.0, 10_000, true)]));
}

#[test]
fn threads_that_are_used_again_are_one_workers() {
    let arrivals = |reuses_threads| {
        Executor::ThreadGroup(ThreadGroup::Arrivals(Arrivals {
            course: rising(10.0, 0, 0, 1),
            limit: Some(9),
            threads_max: 5,
            reuses_threads,
        }))
    };
    for (reuses_threads, parts) in [(true, [9, 0]), (false, [5, 4])] {
        let executor = arrivals(reuses_threads);
        let whole = Share::whole(0, 2);
        let pool = IterationPool::for_executor(&executor, &whole).into();
        let taken = [0, 1].map(|worker| {
            let mut schedule = Schedule::new(&executor, &whole.for_worker(worker), &pool);
            let Schedule::Open(open) = &mut schedule else {
                panic!("arrivals are an open model")
            };
            assert_eq!(open.planned_by(Nanos::MAX), parts[worker as usize]);
            std::iter::from_fn(|| open.take()).count() as u64
        });
        assert_eq!(taken, parts);
    }
}
