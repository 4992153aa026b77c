//! The lives of threads, compared with numbers computed by hand or observed in JMeter.

use std::sync::Arc;

use loadline_model::Executor;

use super::*;
use crate::{IterationPool, Schedule};

fn life(start_ms: u64, end_ms: u64) -> Option<ThreadLife> {
    Some(ThreadLife {
        start_ms,
        end_ms: Some(end_ms),
    })
}

fn lives(group: &ThreadGroup) -> Vec<Option<ThreadLife>> {
    (0..u64::from(group.threads_max()))
        .map(|thread| life_of(group, thread))
        .collect()
}

#[test]
fn a_ramp_starts_threads_in_equal_steps_and_ends_them_together() {
    let ramp = |leaves_out_late| ThreadGroup::Ramp {
        threads: 3,
        delay_ms: 500,
        step_ms: 1000,
        lasts_ms: Some(2000),
        leaves_out_late,
    };
    let all = [life(500, 2500), life(1500, 2500), life(2500, 2500)];
    assert_eq!(lives(&ramp(false)), all);
    assert_eq!(lives(&ramp(true)), [all[0], all[1], None]);
    assert_eq!(life_of(&ramp(false), 3), None);
}

#[test]
fn threads_of_a_row_are_counted_down() {
    let rows = ThreadGroup::Rows {
        rows: vec![
            ThreadRow {
                threads: 2,
                delay_s: 1,
                startup_s: 4,
                hold_s: 3,
                shutdown_s: 2,
            },
            ThreadRow {
                threads: 1,
                ..ThreadRow::default()
            },
        ],
    };
    let all = [life(5000, 10_000), life(3000, 9000), life(0, 0)];
    assert_eq!(lives(&rows), all);
}

#[test]
fn a_stepping_group_comes_and_goes_in_bunches() {
    let steps = ThreadGroup::Steps(ThreadSteps {
        threads: 5,
        delay_s: 1,
        first_bunch: 1,
        bunch: 2,
        period_s: 10,
        ramp_s: 4,
        hold_s: 30,
        stop_bunch: 3,
        stop_period_s: 7,
    });
    // Two later batches of 14 s; the ramp of the last batch's two threads; the hold.
    let descent = 1000 + 2 * 14_000 + 2 * 2000 + 30_000;
    assert_eq!(
        lives(&steps),
        [
            life(1000, descent),
            life(15_000, descent),
            life(17_000, descent),
            life(29_000, descent + 7000),
            life(31_000, descent + 7000),
        ]
    );
}

#[test]
fn concurrency_is_rounded_to_the_nearest_thread() {
    let starts = |steps| {
        let group = ThreadGroup::Concurrency(Concurrency {
            target: 4,
            ramp_s: 8,
            steps,
            hold_s: 2,
        });
        let starts = lives(&group);
        starts
            .into_iter()
            .flatten()
            .map(|life| life.start_ms)
            .collect::<Vec<_>>()
    };
    assert_eq!(starts(0), [1000, 3000, 5000, 7000]);
    assert_eq!(starts(2), [0, 0, 4000, 4000]);
    // Four thirds of a thread each: totals of 1, 3 and 4.
    assert_eq!(starts(3), [0, 2667, 2667, 5334]);
}

fn schedules(group: &ThreadGroup, workers: u32) -> Vec<Schedule> {
    let executor = Executor::ThreadGroup(group.clone());
    let whole = Share::whole(0, workers);
    let pool = Arc::new(IterationPool::for_executor(&executor, &whole));
    (0..workers)
        .map(|worker| Schedule::new(&executor, &whole.for_worker(worker), &pool))
        .collect()
}

#[test]
fn each_thread_starts_once_whatever_worker_has_it() {
    let group = ThreadGroup::Ramp {
        threads: 5,
        delay_ms: 0,
        step_ms: 10,
        lasts_ms: None,
        leaves_out_late: false,
    };
    for workers in 1..=3 {
        let mut started = Vec::new();
        for schedule in &mut schedules(&group, workers) {
            let Schedule::Closed(closed) = schedule else {
                panic!("a ramp is a closed model")
            };
            for vu in 0..closed.vus() {
                let mut now = Nanos::ZERO;
                while let Next::Wait { until } = closed.next(vu, now) {
                    now = until;
                    if let Next::Start { iteration } = closed.next(vu, now) {
                        started.push((iteration, now.0));
                    }
                }
                if now == Nanos::ZERO {
                    started.push((u64::from(closed.global_vu(vu)), 0));
                }
            }
            assert_eq!(closed.unstarted(), 0);
        }
        started.sort_unstable();
        let wanted: Vec<(u64, u64)> = (0..5).map(|thread| (thread, thread * 10_000_000)).collect();
        assert_eq!(started, wanted, "{workers} workers");
    }
}

#[test]
fn a_thread_that_is_kept_up_starts_anew_until_the_end() {
    let group = ThreadGroup::Concurrency(Concurrency {
        target: 2,
        ramp_s: 0,
        steps: 0,
        hold_s: 1,
    });
    let mut schedules = schedules(&group, 1);
    let Schedule::Closed(closed) = &mut schedules[0] else {
        panic!("concurrency is a closed model")
    };
    let second = Nanos(1_000_000_000);
    assert_eq!(closed.next(0, Nanos::ZERO), Next::Start { iteration: 0 });
    assert_eq!(closed.next(1, Nanos::ZERO), Next::Start { iteration: 1 });
    assert_eq!(closed.next(0, Nanos(5)), Next::Start { iteration: 2 });
    closed.keep_up(1);
    assert_eq!(closed.next(1, Nanos(9)), Next::Wait { until: second });
    closed.keep_up(2);
    assert_eq!(closed.next(1, Nanos(9)), Next::Start { iteration: 3 });
    assert_eq!(closed.next(0, second), Next::Finished);
    assert_eq!(closed.next(1, second), Next::Finished);
}
