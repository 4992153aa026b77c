//! Properties of the closed model: planned virtual users and iterations, however they are divided.
//!
//! Must not know how the executors are built. Invariant: no clock.

mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use loadline_model::executor::VuStage;
use loadline_model::{Executor, Nanos};
use loadline_schedule::{Closed, Next, Schedule};
use proptest::prelude::*;

use support::{divided, divisions, whole};

const MILLISECOND: u64 = 1_000_000;

fn closed(schedule: Schedule) -> Closed {
    match schedule {
        Schedule::Closed(closed) => closed,
        Schedule::Open(_) => panic!("virtual users are a closed model"),
    }
}

fn all(executor: &Executor, division: &(Vec<u64>, u32)) -> Vec<Closed> {
    divided(executor, division)
        .into_iter()
        .map(closed)
        .collect()
}

prop_compose! {
    fn ramping()(
        start_vus in 0_u32..12,
        stages in prop::collection::vec((prop_oneof![Just(0), 1_u64..1_000], 0_u32..12), 1..6),
        graceful in 0_u64..600,
    ) -> Executor {
        let stage = |(milliseconds, target)| VuStage {
            duration: Duration::from_millis(milliseconds),
            target,
        };
        Executor::RampingVus {
            start_vus,
            stages: stages.into_iter().map(stage).collect(),
            graceful_ramp_down: Duration::from_millis(graceful),
        }
    }
}

fn shared() -> impl Strategy<Value = Executor> {
    (1_u32..20, 0_u64..400).prop_map(|(vus, more)| Executor::SharedIterations {
        vus,
        iterations: u64::from(vus) + more,
        max_duration: Some(Duration::from_secs(1)),
    })
}

fn per_vu() -> impl Strategy<Value = Executor> {
    (1_u32..20, 0_u64..20).prop_map(|(vus, iterations)| Executor::PerVuIterations {
        vus,
        iterations,
        max_duration: Some(Duration::from_secs(1)),
    })
}

fn constant() -> impl Strategy<Value = Executor> {
    (1_u32..20, 1_u64..5).prop_map(|(vus, seconds)| Executor::ConstantVus {
        vus,
        duration: Some(Duration::from_secs(seconds)),
    })
}

fn any_closed() -> impl Strategy<Value = Executor> {
    prop_oneof![ramping(), shared(), per_vu(), constant()]
}

/// Starts in random order whatever is possible, and returns the indexes in order.
fn start(parts: &mut [Closed], turns: &[prop::sample::Index], now: Nanos) -> Vec<u64> {
    let vus: Vec<(usize, u32)> = parts
        .iter()
        .enumerate()
        .flat_map(|(part, closed)| (0..closed.vus()).map(move |vu| (part, vu)))
        .collect();
    let mut started: Vec<u64> = turns
        .iter()
        .map(|turn| vus[turn.index(vus.len())])
        .filter_map(|(part, vu)| match parts[part].next(vu, now) {
            Next::Start { iteration } => Some(iteration),
            Next::Wait { .. } | Next::Finished => None,
        })
        .collect();
    started.sort_unstable();
    started
}

/// Starts until every virtual user is finished.
fn exhaust(parts: &mut [Closed]) -> Vec<u64> {
    let mut started = Vec::new();
    for closed in parts {
        for vu in 0..closed.vus() {
            while let Next::Start { iteration } = closed.next(vu, Nanos::ZERO) {
                started.push(iteration);
            }
        }
    }
    started
}

proptest! {
    #[test]
    fn virtual_users_are_divided_completely(executor in any_closed(), division in divisions()) {
        let mut vus: Vec<u32> = all(&executor, &division)
            .iter()
            .flat_map(|part| (0..part.vus()).map(|vu| part.global_vu(vu)).collect::<Vec<_>>())
            .collect();
        vus.sort_unstable();
        prop_assert_eq!(vus, (0..executor.max_vus()).collect::<Vec<_>>());
    }

    #[test]
    fn the_union_of_ramps_is_the_whole_ramp(
        executor in ramping(),
        division in divisions(),
        instants in prop::collection::vec(0_u64..5_000 * MILLISECOND, 1..20),
    ) {
        let parts = all(&executor, &division);
        let whole = closed(whole(&executor));
        for now in instants.into_iter().map(Nanos) {
            let sum: u32 = parts.iter().map(|part| part.active_vus(now)).sum();
            prop_assert_eq!(sum, whole.active_vus(now));
        }
    }

    /// The curve and the answers to the virtual users are computed independently.
    #[test]
    fn active_virtual_users_are_those_that_start(
        executor in ramping(),
        instants in prop::collection::btree_set(0_u64..5_000 * MILLISECOND, 1..20),
    ) {
        let mut closed = closed(whole(&executor));
        for now in instants.into_iter().map(Nanos) {
            let active = closed.active_vus(now);
            for vu in 0..closed.vus() {
                let next = closed.next(vu, now);
                prop_assert_eq!(matches!(next, Next::Start { .. }), vu < active, "{:?}", next);
                if let Next::Wait { until } = next {
                    prop_assert!(until > now && closed.end().is_some_and(|end| until < end));
                    prop_assert!(closed.active_vus(until) > vu);
                    prop_assert!(closed.active_vus(Nanos(until.0 - 1)) <= vu);
                }
            }
        }
    }

    /// Between an interruption and the graceful ramp-down before it, the virtual user is never planned.
    #[test]
    fn cuts_come_after_an_unbroken_ramp_down(executor in ramping(), at in 0_u64..5_000 * MILLISECOND) {
        let Executor::RampingVus { graceful_ramp_down, .. } = &executor else {
            panic!("generated so");
        };
        let closed = closed(whole(&executor));
        let grace = Nanos::from(*graceful_ramp_down).0;
        for vu in 0..closed.active_vus(Nanos(at)) {
            let Some(cut) = closed.interrupt_at(vu, Nanos(at)) else { continue };
            let left = cut.0 - grace;
            prop_assert!(left > at);
            prop_assert!(closed.active_vus(Nanos(left - 1)) > vu);
            for tenth in 0..10 {
                prop_assert!(closed.active_vus(Nanos(left + grace * tenth / 10)) <= vu);
            }
        }
    }

    #[test]
    fn shared_iterations_are_each_started_once(
        executor in shared(),
        division in divisions(),
        turns in prop::collection::vec(any::<prop::sample::Index>(), 0..300),
    ) {
        let mut parts = all(&executor, &division);
        let mut started = start(&mut parts, &turns, Nanos::ZERO);
        started.extend(exhaust(&mut parts));
        started.sort_unstable();
        let planned = executor.planned_iterations().expect("a count");
        prop_assert_eq!(started, (0..planned).collect::<Vec<_>>());
        prop_assert_eq!(parts.iter().map(Closed::unstarted).sum::<u64>(), 0);
    }

    #[test]
    fn iterations_per_virtual_user_are_each_started_once(
        executor in per_vu(),
        division in divisions(),
        turns in prop::collection::vec(any::<prop::sample::Index>(), 0..300),
    ) {
        let mut parts = all(&executor, &division);
        let mut started = start(&mut parts, &turns, Nanos::ZERO);
        started.extend(exhaust(&mut parts));
        started.sort_unstable();
        let planned = executor.planned_iterations().expect("a count");
        prop_assert_eq!(started, (0..planned).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_not_started_is_counted(
        executor in prop_oneof![shared(), per_vu()],
        division in divisions(),
        turns in prop::collection::vec(any::<prop::sample::Index>(), 0..200),
        late in any::<prop::sample::Index>(),
    ) {
        let mut parts = all(&executor, &division);
        let started = start(&mut parts, &turns, Nanos::ZERO).len() as u64;
        // One virtual user notices the end on its own; the others are stopped.
        prop_assert_eq!(start(&mut parts, &[late], Nanos::from_secs(1)), Vec::<u64>::new());
        parts.iter_mut().for_each(Closed::stop);
        let unstarted: u64 = parts.iter().map(Closed::unstarted).sum();
        prop_assert_eq!(Some(started + unstarted), executor.planned_iterations());
    }

    #[test]
    fn nothing_starts_after_a_stop(
        executor in any_closed(),
        turns in prop::collection::vec(any::<prop::sample::Index>(), 1..50),
    ) {
        prop_assume!(executor.max_vus() > 0);
        let mut parts = all(&executor, &(Vec::new(), 1));
        parts.iter_mut().for_each(Closed::stop);
        prop_assert_eq!(start(&mut parts, &turns, Nanos::ZERO), Vec::<u64>::new());
        prop_assert_eq!(parts[0].active_vus(Nanos::ZERO), 0);
    }

    #[test]
    fn indexes_are_unique_without_a_count(
        executor in prop_oneof![constant(), ramping()],
        division in divisions(),
        turns in prop::collection::vec(any::<prop::sample::Index>(), 0..300),
    ) {
        prop_assume!(executor.max_vus() > 0);
        let started = start(&mut all(&executor, &division), &turns, Nanos(500 * MILLISECOND));
        prop_assert_eq!(started.iter().collect::<BTreeSet<_>>().len(), started.len());
    }

    #[test]
    fn finished_is_final(
        executor in any_closed(),
        instants in prop::collection::btree_set(0_u64..6_000 * MILLISECOND, 1..30),
    ) {
        let mut closed = closed(whole(&executor));
        let mut finished = vec![false; closed.vus() as usize];
        for now in instants.into_iter().map(Nanos).chain([Nanos::MAX, Nanos::MAX]) {
            for vu in 0..closed.vus() {
                let next = closed.next(vu, now);
                prop_assert!(!finished[vu as usize] || next == Next::Finished);
                finished[vu as usize] = next == Next::Finished;
            }
        }
        prop_assert!(finished.iter().all(|finished| *finished));
    }
}
