//! The ruler: reported percentiles against queueing theory.
//!
//! Must not know how a percentile is computed. Invariant: simulated time and fixed seeds, so each
//! run gives the same numbers.

use std::sync::Arc;
use std::time::Duration;

use loadline_model::executor::Spacing;
use loadline_model::segment::Share;
use loadline_model::{ArrivalRate, Executor, Nanos, OnExhausted};
use loadline_schedule::{IterationPool, Open, Schedule};
use loadline_sim::{Law, OpenRun, Outcome, Server, ServerPlan, run_open};

const SERVERS: u32 = 4;
const UTILISATION: f64 = 0.7;
const ARRIVALS: u64 = 1_000_000;
/// 2,800 arrivals a second at four servers of a thousand a second each: rho = 0.7.
const ARRIVALS_PER_SECOND: u64 = 2_800;
const SERVICE_MEAN_NS: f64 = 1e6;
/// More than ever are busy at once: arrivals queue at the server, not here.
const VUS: u32 = 200;
const TOLERANCE: f64 = 0.02;

fn schedule(seed: u64) -> Open {
    let executor = Executor::ConstantArrivalRate {
        rate: ArrivalRate::per_second(ARRIVALS_PER_SECOND),
        duration: None,
        spacing: Spacing::Poisson { seed },
        iterations: Some(ARRIVALS),
        pre_allocated_vus: VUS,
        max_vus: VUS,
    };
    let share = Share::whole(0, 1);
    let pool = Arc::new(IterationPool::for_executor(&executor, &share));
    match Schedule::new(&executor, &share, &pool) {
        Schedule::Open(open) => open,
        Schedule::Closed(_) => panic!("an arrival rate is an open model"),
    }
}

fn run(seed: u64) -> Outcome {
    let law = Law::Exponential {
        mean_ns: SERVICE_MEAN_NS,
    };
    let mut server = Server::new(ServerPlan::new(law, SERVERS, seed ^ 0x5eed_0fc0_ffee));
    let run = OpenRun {
        vus: VUS,
        on_exhausted: OnExhausted::Drop,
        grace: Duration::from_secs(1),
    };
    run_open(&mut schedule(seed), run, &mut server)
}

/// Probability that an arrival waits in M/M/c: Erlang's C, from his B by the usual recursion
/// (Kleinrock, Queueing Systems I, 1975, sections 3.5 and 3.6).
fn erlang_c(servers: u32, offered: f64) -> f64 {
    let blocked = (1..=servers).fold(1.0, |b, n| offered * b / (f64::from(n) + offered * b));
    let utilisation = offered / f64::from(servers);
    blocked / (1.0 - utilisation * (1.0 - blocked))
}

/// Share of arrivals with a sojourn (wait and service) longer than `t` mean service times.
///
/// The wait is zero with probability `1 - C` and otherwise exponential of rate
/// `theta = c * (1 - rho)` per mean service time (Kleinrock, as above); the service is exponential
/// of rate one and independent of it. Their sum's tail, for `theta != 1`, is
/// `(1 - C) e^-t + C (theta e^-t - e^(-theta t)) / (theta - 1)`.
fn sojourn_tail(t: f64) -> f64 {
    let waits = erlang_c(SERVERS, UTILISATION * f64::from(SERVERS));
    let theta = f64::from(SERVERS) * (1.0 - UTILISATION);
    let served_at_once = (1.0 - waits) * (-t).exp();
    served_at_once + waits * (theta * (-t).exp() - (-theta * t).exp()) / (theta - 1.0)
}

/// The quantile in nanoseconds, by bisection.
fn theory(quantile: f64) -> f64 {
    let (mut low, mut high) = (0.0, 100.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if sojourn_tail(middle) > 1.0 - quantile {
            low = middle;
        } else {
            high = middle;
        }
    }
    low * SERVICE_MEAN_NS
}

/// Asserts p50, p90 and p99 of every single seed, not of their mean.
fn each_seed_agrees_with_theory(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let outcome = run(seed);
        assert_eq!((outcome.completed, outcome.dropped), (ARRIVALS, 0));
        for quantile in [0.5, 0.9, 0.99] {
            let seen = outcome
                .response_time
                .quantile(quantile)
                .expect("a million values");
            let error = seen / theory(quantile) - 1.0;
            assert!(
                error.abs() < TOLERANCE,
                "seed {seed}: p{quantile} is off by {error:+.4}"
            );
        }
    }
}

/// By hand for 2.8 erlang: the terms a^n/n! are 1, 2.8, 3.92, 3.6587 and 2.5611, the last of which
/// counts 1/(1-rho) times; so C = 8.5371 / (11.3787 + 8.5371) = 0.4287.
#[test]
fn erlangs_formula_gives_the_known_value() {
    assert!(
        (erlang_c(4, 2.8) - 0.4287).abs() < 1e-4,
        "{}",
        erlang_c(4, 2.8)
    );
    assert!((erlang_c(1, 0.7) - 0.7).abs() < 1e-12);
    assert!((sojourn_tail(0.0) - 1.0).abs() < 1e-12);
}

// The twenty seeds in two tests, which the two cores run at once.

#[test]
fn m_m_4_at_seven_tenths_seeds_0_to_9() {
    each_seed_agrees_with_theory(0..10);
}

#[test]
fn m_m_4_at_seven_tenths_seeds_10_to_19() {
    each_seed_agrees_with_theory(10..20);
}

/// The queue may form before the virtual users too: the response time does not tell the difference,
/// and the service time tells only the server's part.
#[test]
fn response_time_counts_the_wait_for_a_virtual_user() {
    let law = Law::Exponential {
        mean_ns: SERVICE_MEAN_NS,
    };
    let plan = ServerPlan::new(law, SERVERS, 77);
    let few = OpenRun {
        vus: 4,
        on_exhausted: OnExhausted::Queue,
        grace: Duration::ZERO,
    };
    let many = OpenRun { vus: VUS, ..few };
    let [few, many] =
        [few, many].map(|run| run_open(&mut schedule(5), run, &mut Server::new(plan)));
    for quantile in [0.5, 0.99] {
        assert_eq!(
            few.response_time.quantile(quantile),
            many.response_time.quantile(quantile)
        );
    }
    let p99 = few.service_time.quantile(0.99).expect("values");
    assert!(
        (p99 / (SERVICE_MEAN_NS * 100_f64.ln()) - 1.0).abs() < TOLERANCE,
        "{p99}"
    );
    assert!(many.response_time.max() > Some(Nanos::from_millis(10).0));
}
