//! A target that freezes: what an honest report says, and what coordinated omission would hide.
//!
//! Must not know how the queue is kept. Invariant: simulated time and fixed seeds.

use std::sync::Arc;
use std::time::Duration;

use loadline_model::executor::Spacing;
use loadline_model::segment::Share;
use loadline_model::{ArrivalRate, Executor, Nanos, OnExhausted};
use loadline_schedule::{Closed, IterationPool, Open, Schedule};
use loadline_sim::{
    ClosedRun, Freeze, Law, OpenRun, Outcome, Server, ServerPlan, run_closed, run_open,
};

const VUS: u32 = 50;

/// 1,000/s for 10 s.
fn arrivals() -> Open {
    let executor = Executor::ConstantArrivalRate {
        rate: ArrivalRate::per_second(1_000),
        duration: Some(Duration::from_secs(10)),
        spacing: Spacing::Even,
        iterations: None,
        pre_allocated_vus: VUS,
        max_vus: VUS,
    };
    match schedule(&executor) {
        Schedule::Open(open) => open,
        Schedule::Closed(_) => panic!("an arrival rate is an open model"),
    }
}

fn users(executor: &Executor) -> Closed {
    match schedule(executor) {
        Schedule::Closed(closed) => closed,
        Schedule::Open(_) => panic!("virtual users are a closed model"),
    }
}

fn schedule(executor: &Executor) -> Schedule {
    let share = Share::whole(0, 1);
    let pool = Arc::new(IterationPool::for_executor(executor, &share));
    Schedule::new(executor, &share, &pool)
}

/// Four servers of 50 us each that stand still for one second.
fn frozen() -> Server {
    let freeze = Some(Freeze {
        from: Nanos::from_secs(5),
        to: Nanos::from_secs(6),
    });
    Server::new(ServerPlan {
        freeze,
        ..ServerPlan::new(Law::Constant { ns: 50_000 }, 4, 1)
    })
}

fn open_run(on_exhausted: OnExhausted) -> Outcome {
    let run = OpenRun {
        vus: VUS,
        on_exhausted,
        grace: Duration::from_secs(5),
    };
    run_open(&mut arrivals(), run, &mut frozen())
}

fn milliseconds(ns: Option<f64>) -> f64 {
    ns.expect("values were recorded") / 1e6
}

/// Of 10,000 arrivals 1,000 fall into the freeze and wait for what is left of it, from 1,000 ms
/// down to 1; the backlog then goes at 80,000/s less 1,000/s that arrive. So the slowest 5 % waited
/// 500 ms for the end and 6.25 ms behind 500 others; the slowest 1 % 900 ms and 1.25 ms.
#[test]
fn queued_arrivals_tell_the_freeze() {
    let outcome = open_run(OnExhausted::Queue);
    let response = &outcome.response_time;
    for (quantile, expected) in [(0.95, 506.3), (0.99, 901.3), (0.95, 505.0), (0.99, 900.0)] {
        let seen = milliseconds(response.quantile(quantile));
        assert!(
            (seen / expected - 1.0).abs() < 0.02,
            "p{quantile}: {seen} of {expected}"
        );
    }
    assert!(milliseconds(response.quantile(0.5)) < 0.3);
    assert_eq!((outcome.started, outcome.completed), (10_000, 10_000));
    assert_eq!(
        outcome.dropped + outcome.never_started + outcome.interrupted,
        0
    );
}

/// Only the fifty that were under way see the freeze in their service time: half a percent, which
/// is what a report without intended starts would show.
#[test]
fn service_time_alone_would_hide_it() {
    let outcome = open_run(OnExhausted::Queue);
    let service = &outcome.service_time;
    assert_eq!(service.count(), 10_000);
    assert!(milliseconds(service.quantile(0.99)) < 1.0);
    assert!(milliseconds(service.quantile(0.996)) > 900.0);
}

/// The freeze holds the fifty that came first; the 950 after them are dropped, and the one that
/// is due at the very thaw, before the first answer.
#[test]
fn dropped_arrivals_are_counted() {
    let outcome = open_run(OnExhausted::Drop);
    assert_eq!(outcome.started + outcome.dropped, 10_000);
    assert_eq!(outcome.completed, outcome.started);
    assert_eq!(outcome.dropped, 951);
}

#[test]
fn what_is_too_late_is_interrupted_or_never_started() {
    let freeze = Some(Freeze {
        from: Nanos::from_secs(9),
        to: Nanos::from_secs(90),
    });
    let plan = ServerPlan {
        freeze,
        ..ServerPlan::new(Law::Constant { ns: 50_000 }, 4, 1)
    };
    let run = OpenRun {
        vus: VUS,
        on_exhausted: OnExhausted::Queue,
        grace: Duration::from_secs(5),
    };
    let outcome = run_open(&mut arrivals(), run, &mut Server::new(plan));
    assert_eq!(
        (
            outcome.completed,
            outcome.interrupted,
            outcome.never_started
        ),
        (9_000, 50, 950)
    );
    assert_eq!(outcome.ended, Nanos::from_secs(15));
}

/// In the closed model the virtual users stop with the target: fifty slow iterations among many.
#[test]
fn a_closed_model_omits_the_freeze() {
    let mut schedule = users(&Executor::ConstantVus {
        vus: VUS,
        duration: Some(Duration::from_secs(10)),
    });
    let run = ClosedRun {
        graceful_stop: Duration::from_secs(1),
        stop_at: None,
    };
    let outcome = run_closed(&mut schedule, run, &mut frozen());
    assert_eq!(outcome.started, outcome.completed + outcome.interrupted);
    // Four servers work for nine seconds at 20,000/s each.
    assert!(
        outcome.completed.abs_diff(720_000) <= 50,
        "{}",
        outcome.completed
    );
    assert!(milliseconds(outcome.response_time.quantile(0.999)) < 1.0);
    assert!(outcome.response_time.max() > Some(Nanos::from_secs(1).0));
}

#[test]
fn a_stopped_closed_run_accounts_for_every_iteration() {
    for executor in [
        Executor::SharedIterations {
            vus: 50,
            iterations: 500_000,
            max_duration: None,
        },
        Executor::PerVuIterations {
            vus: 50,
            iterations: 10_000,
            max_duration: None,
        },
    ] {
        let mut schedule = users(&executor);
        let stop_at = Some(Nanos::from_millis(5_500));
        let run = ClosedRun {
            graceful_stop: Duration::from_millis(100),
            stop_at,
        };
        let outcome = run_closed(&mut schedule, run, &mut frozen());
        assert_eq!(outcome.interrupted, 50);
        assert_eq!(outcome.started, outcome.completed + outcome.interrupted);
        assert_eq!(outcome.started + schedule.unstarted(), 500_000);
        assert_eq!(outcome.ended, Nanos::from_millis(5_600));
    }
}

/// Little's law: in the closed model, virtual users = throughput x response time.
#[test]
fn littles_law_holds() {
    let mut schedule = users(&Executor::ConstantVus {
        vus: 8,
        duration: Some(Duration::from_secs(10)),
    });
    let law = Law::Lognormal {
        median_ns: 5e6,
        sigma: 0.4,
    };
    let run = ClosedRun {
        graceful_stop: Duration::from_secs(1),
        stop_at: None,
    };
    let outcome = run_closed(
        &mut schedule,
        run,
        &mut Server::new(ServerPlan::new(law, 4, 9)),
    );
    let per_second = outcome.completed as f64 / outcome.ended.as_secs_f64();
    let mean_s = outcome.response_time.mean().expect("values") / 1e9;
    assert!(
        (per_second * mean_s / 8.0 - 1.0).abs() < 0.01,
        "{}",
        per_second * mean_s
    );
    // Four servers never idle: throughput is 4 over the law's mean, median * exp(sigma^2 / 2).
    let capacity = 4.0 / (5e-3 * (0.08_f64).exp());
    assert!(
        (per_second / capacity - 1.0).abs() < 0.02,
        "{per_second} of {capacity}"
    );
}
