//! What a generator at its limits is blamed for, and what it cannot have brought about.

use loadline_model::error_class::ErrorClass;
use loadline_model::verdict::Limit;

use super::builder::{Run, constant_vus, shared};

const MS: u64 = 1_000_000;

#[test]
fn a_run_that_is_all_beginning_has_no_busy_generator() {
    let mut beginning = Run::new(shared(1, 3), 0.03, 3, 2.0);
    beginning.totals.cpu_ns = 60 * MS;
    let rows = beginning.series.iter_mut();
    rows.for_each(|row| row.generator.busiest_worker = 1.0);
    assert_ne!(beginning.judge().limit, Limit::Generator);
}

#[test]
fn what_a_generator_without_time_cannot_cause_is_not_its_doing() {
    for (class, limit) in [
        (ErrorClass::Refused, Limit::Target),
        (ErrorClass::Certificate, Limit::Plan),
        (ErrorClass::FdLimit, Limit::Generator),
        (ErrorClass::Timeout, Limit::Generator),
    ] {
        let mut run = Run::new(constant_vus(50, 20), 20.0, 500_000, 2.0);
        run.fail(class, 1_000_000, MS);
        let rows = run.series.iter_mut();
        rows.for_each(|row| row.generator.run_queue_ns = 300 * MS);
        assert_eq!(run.judge().limit, limit, "{class:?}");
    }
}

/// A script whose virtual users spend a tenth of their time on requests.
fn between_requests() -> Run {
    let mut run = Run::new(constant_vus(20, 4), 4.0, 160, 50.0);
    run.plan.script = Some(std::sync::Arc::default());
    run
}

#[test]
fn between_requests_a_script_sleeps_or_waits_for_the_generator() {
    assert_eq!(between_requests().judge().limit, Limit::Nobody);
    let mut starved = between_requests();
    let rows = starved.series.iter_mut();
    rows.for_each(|row| row.generator.run_queue_ns = 700 * MS);
    assert_eq!(starved.judge().limit, Limit::Generator);
    let mut stopped = between_requests();
    stopped.totals.throttled_ns = Some(2_400 * MS);
    assert_eq!(stopped.judge().limit, Limit::Generator);
}

/// Ten virtual users who compute for most of their time on one core, and ask over a round trip of 40 ms.
#[test]
fn what_users_compute_between_requests_is_the_generators() {
    let limit_of = |busiest: f64| {
        let mut run = Run::new(constant_vus(10, 10), 10.0, 450, 50.0);
        run.plan.script = Some(std::sync::Arc::default());
        run.totals.seen.connections.min_rtt.record(40 * MS);
        run.totals.seen.connections.opened = 10;
        run.seconds(10, |_, row| {
            row.active_vus = 10;
            row.generator.busiest_worker = busiest;
        });
        run.judge().limit
    };
    assert_eq!(limit_of(0.97), Limit::Generator);
    assert_eq!(limit_of(0.3), Limit::Nobody);
}
