//! Properties of the open model: starts by `t` are the floor of the integral of the arrival rate, and every
//! division of a plan sums to the whole.
//!
//! Must not know how instants are computed; the oracles here integrate independently. Invariant: no clock.

mod support;

use std::time::Duration;

use loadline_model::executor::{RateStage, Spacing};
use loadline_model::{ArrivalRate, Executor, Nanos};
use loadline_schedule::{Arrival, Open, Schedule};
use proptest::prelude::*;

use support::{divided, divisions, whole};

const MILLISECONDS_AT_MOST: u64 = 3_000;

fn open(schedule: Schedule) -> Open {
    match schedule {
        Schedule::Open(open) => open,
        Schedule::Closed(_) => panic!("an arrival rate is an open model"),
    }
}

fn arrivals(mut open: Open) -> Vec<Arrival> {
    std::iter::from_fn(|| open.take()).collect()
}

fn spacing() -> impl Strategy<Value = Spacing> {
    prop_oneof![
        Just(Spacing::Even),
        Just(Spacing::EvenToTheEnd),
        any::<u64>().prop_map(|seed| Spacing::Poisson { seed })
    ]
}

prop_compose! {
    fn constant()(
        starts in 1_u64..700,
        per in prop::sample::select(vec![1_000_000_000, 999_999_937, 400_000_000]),
        milliseconds in 1..MILLISECONDS_AT_MOST,
        spacing in spacing(),
        iterations in prop::option::of(0_u64..900),
        vus in 1_u32..40,
    ) -> Executor {
        Executor::ConstantArrivalRate {
            rate: ArrivalRate { starts, per: Nanos(per) },
            duration: Some(Duration::from_millis(milliseconds)),
            spacing,
            iterations,
            pre_allocated_vus: vus / 2,
            max_vus: vus,
        }
    }
}

prop_compose! {
    fn ramping()(
        start in 0_u64..500,
        stages in prop::collection::vec((0_u64..900, 0_u64..500), 1..5),
        spacing in spacing(),
        iterations in prop::option::of(0_u64..900),
        vus in 1_u32..40,
    ) -> Executor {
        let stage = |(milliseconds, target)| RateStage {
            duration: Duration::from_millis(milliseconds),
            target: ArrivalRate::per_second(target),
        };
        Executor::RampingArrivalRate {
            start_rate: ArrivalRate::per_second(start),
            stages: stages.into_iter().map(stage).collect(),
            spacing,
            iterations,
            pre_allocated_vus: vus / 2,
            max_vus: vus,
        }
    }
}

fn either() -> impl Strategy<Value = Executor> {
    prop_oneof![constant(), ramping()]
}

/// The integral of a ramp up to an instant, by trapezoids.
fn integral(executor: &Executor, until: Nanos) -> f64 {
    let Executor::RampingArrivalRate {
        start_rate, stages, ..
    } = executor
    else {
        panic!("only a ramp is integrated");
    };
    let mut left = until.as_secs_f64();
    let mut from = start_rate.starts_per_second();
    let mut area = 0.0;
    for stage in stages {
        let (length, to) = (
            stage.duration.as_secs_f64(),
            stage.target.starts_per_second(),
        );
        let part = left.clamp(0.0, length);
        if length > 0.0 {
            area += part * (from + (to - from) * part / length / 2.0);
        }
        left -= length;
        from = to;
    }
    area
}

fn even(executor: Executor) -> Executor {
    match executor {
        Executor::ConstantArrivalRate {
            rate,
            duration,
            pre_allocated_vus,
            max_vus,
            ..
        } => Executor::ConstantArrivalRate {
            rate,
            duration,
            spacing: Spacing::Even,
            iterations: None,
            pre_allocated_vus,
            max_vus,
        },
        Executor::RampingArrivalRate {
            start_rate,
            stages,
            pre_allocated_vus,
            max_vus,
            ..
        } => Executor::RampingArrivalRate {
            start_rate,
            stages,
            spacing: Spacing::Even,
            iterations: None,
            pre_allocated_vus,
            max_vus,
        },
        closed => closed,
    }
}

proptest! {
    /// The arrival number `n` is due at `floor(n * per / starts)`, so `n` are due before `t`
    /// exactly when `(n - 1) * per < t * starts <= n * per`.
    #[test]
    fn constant_starts_are_the_integral(executor in constant().prop_map(even), at in 0_u64..4_000_000_000) {
        let Executor::ConstantArrivalRate { rate, duration: Some(duration), .. } = &executor else {
            panic!("generated so");
        };
        let last = Nanos::from(*duration).0 - 1;
        let open = open(whole(&executor));
        let before = u128::from(at.min(last)) + 1;
        let planned = u128::from(open.planned_by(Nanos(at)));
        let (starts, per) = (u128::from(rate.starts), u128::from(rate.per.0));
        prop_assert!(planned * per >= before * starts);
        prop_assert!((planned - 1) * per < before * starts);
    }

    /// The area by trapezoids in floating point is accurate to a millionth.
    #[test]
    fn ramping_starts_are_the_integral(executor in ramping().prop_map(even), at in 0_u64..4_000_000_000) {
        let area = integral(&executor, Nanos(at));
        let planned = open(whole(&executor)).planned_by(Nanos(at)) as f64;
        prop_assert!(planned <= area + 1e-5 && planned > area - 1.0 - 1e-5, "{planned} of {area}");
    }

    #[test]
    fn instants_rise_and_counts_agree(executor in either(), at in 0_u64..4_000_000_000) {
        let mut open = open(whole(&executor));
        let all = arrivals(self::open(whole(&executor)));
        let due = all.iter().filter(|arrival| arrival.intended.0 <= at).count() as u64;
        prop_assert!(all.windows(2).all(|pair| pair[0].intended <= pair[1].intended));
        prop_assert!(all.windows(2).all(|pair| pair[0].iteration + 1 == pair[1].iteration));
        prop_assert!(all.iter().all(|arrival| open.end().is_none_or(|end| arrival.intended < end)));
        prop_assert_eq!(open.planned_by(Nanos(at)), due);
        for taken in 0..due {
            prop_assert_eq!(open.due_by(Nanos(at)), due - taken);
            prop_assert_eq!(open.next_due(), Some(all[taken as usize].intended));
            prop_assert_eq!(open.take(), Some(all[taken as usize]));
        }
        prop_assert_eq!(open.due_by(Nanos(at)), 0);
        prop_assert_eq!(open.planned_by(Nanos(at / 2)), all.iter().filter(|a| a.intended.0 <= at / 2).count() as u64);
        prop_assert!(open.planned_total().is_none_or(|total| total == all.len() as u64));
        while open.take().is_some() {}
        prop_assert_eq!((open.take(), open.next_due(), open.due_by(Nanos::MAX)), (None, None, 0));
    }

    /// What one process starts before an instant and another from it on make up the whole, whenever the other
    /// takes over.
    #[test]
    fn who_takes_over_does_what_is_due_from_then_on(
        executor in either(),
        at in 0_u64..4_000_000_000,
        now in 0_u64..5_000_000_000,
    ) {
        let all = arrivals(open(whole(&executor)));
        let mut taken_over = whole(&executor);
        taken_over.take_over_at(Nanos(at));
        let taken_over = open(taken_over);
        let anothers = all.iter().filter(|arrival| arrival.intended.0 < at).count();
        let due = all[anothers..].iter().filter(|arrival| arrival.intended.0 <= now).count() as u64;
        prop_assert_eq!(taken_over.planned_by(Nanos(now)), due);
        prop_assert_eq!(taken_over.due_by(Nanos(now)), due);
        prop_assert_eq!(taken_over.number_of_start(7), Some(anothers as u64 + 7));
        prop_assert_eq!(arrivals(taken_over), &all[anothers..]);
    }

    #[test]
    fn passing_what_is_due_is_taking_it(
        executor in either(),
        first in 0_u64..4_000_000_000,
        now in 0_u64..5_000_000_000,
    ) {
        let mut passing = open(whole(&executor));
        let mut taking = open(whole(&executor));
        for now in [first, now] {
            let mut taken = 0;
            while taking.next_due().is_some_and(|due| due.0 <= now) {
                taking.take();
                taken += 1;
            }
            prop_assert_eq!(passing.pass_due(Nanos(now)), taken);
            prop_assert_eq!(passing.next_due(), taking.next_due());
        }
        prop_assert_eq!(arrivals(passing), arrivals(taking));
    }

    #[test]
    fn every_division_sums_to_the_whole(
        executor in either(),
        division in divisions(),
        at in 0_u64..4_000_000_000,
    ) {
        let parts: Vec<Open> = divided(&executor, &division).into_iter().map(open).collect();
        let whole = open(whole(&executor));
        let sum = |of: &dyn Fn(&Open) -> u64| parts.iter().map(of).sum::<u64>();
        prop_assert_eq!(sum(&|part| part.planned_by(Nanos(at))), whole.planned_by(Nanos(at)));
        prop_assert_eq!(sum(&|part| u64::from(part.vus())), u64::from(whole.vus()));
        prop_assert_eq!(sum(&|part| u64::from(part.pre_allocated())), u64::from(whole.pre_allocated()));
        if let Some(total) = whole.planned_total() {
            prop_assert_eq!(sum(&|part| part.planned_total().unwrap_or(0)), total);
        }
        let mut vus: Vec<u32> =
            parts.iter().flat_map(|part| (0..part.vus()).map(|vu| part.global_vu(vu))).collect();
        vus.sort_unstable();
        prop_assert_eq!(vus, (0..whole.vus()).collect::<Vec<_>>());
        let mut union: Vec<Arrival> = parts.into_iter().flat_map(arrivals).collect();
        union.sort_unstable_by_key(|arrival| arrival.iteration);
        prop_assert_eq!(union, arrivals(whole));
    }
}

const SECOND: u64 = 1_000_000_000;

/// k6 starts eleven at 10/s for 1 s, the last one at the end of that second.
#[test]
fn a_ticker_starts_one_more_at_the_very_end() {
    let ticks = |spacing| {
        let executor = Executor::ConstantArrivalRate {
            rate: ArrivalRate::per_second(10),
            duration: Some(Duration::from_secs(1)),
            spacing,
            iterations: None,
            pre_allocated_vus: 1,
            max_vus: 1,
        };
        let mut open = open(whole(&executor));
        let total = open.planned_total();
        let taken: Vec<u64> = std::iter::from_fn(|| open.take())
            .map(|one| one.intended.0)
            .collect();
        let is_over = |at| open.is_over(Nanos(at));
        let lasts = [900_000_000, 999_999_999, SECOND, SECOND + 1]
            .into_iter()
            .find(|at| is_over(*at));
        (total, taken.last().copied(), lasts)
    };
    assert_eq!(
        ticks(Spacing::Even),
        (Some(10), Some(900_000_000), Some(SECOND))
    );
    assert_eq!(
        ticks(Spacing::EvenToTheEnd),
        (Some(11), Some(SECOND), Some(SECOND + 1))
    );
}

/// A thousand million starts a second for ninety-five years: no overflow, and the count is exact.
#[test]
fn huge_plans_stay_exact() {
    let executor = Executor::ConstantArrivalRate {
        rate: ArrivalRate::per_second(1_000_000_000),
        duration: Some(Duration::from_secs(3_000_000_000)),
        spacing: Spacing::Even,
        iterations: None,
        pre_allocated_vus: 1,
        max_vus: 1,
    };
    let open = open(whole(&executor));
    assert_eq!(open.planned_total(), Some(3_000_000_000_000_000_000));
    assert_eq!(
        open.planned_by(Nanos(1_234_567_890_123_456_789)),
        1_234_567_890_123_456_790
    );
}

/// Poisson arrivals of a ramp from 0 to 2,000/s over 10 s: a mean of 10,000, with 2,500 in the first half; the
/// standard deviation of each is its square root.
#[test]
fn poisson_arrivals_follow_the_rate() {
    let executor = Executor::RampingArrivalRate {
        start_rate: ArrivalRate::per_second(0),
        stages: vec![RateStage {
            duration: Duration::from_secs(10),
            target: ArrivalRate::per_second(2_000),
        }],
        spacing: Spacing::Poisson { seed: 11 },
        iterations: None,
        pre_allocated_vus: 1,
        max_vus: 1,
    };
    let open = open(whole(&executor));
    let half = open.planned_by(Nanos::from_secs(5)) as f64;
    let all = open.planned_by(Nanos::from_secs(10)) as f64;
    assert!((half - 2_500.0).abs() < 4.0 * 50.0, "{half}");
    assert!((all - 10_000.0).abs() < 4.0 * 100.0, "{all}");
}
