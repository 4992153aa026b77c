//! What a generator at its limits is blamed for, and what it cannot have caused.

use std::sync::Arc;

use loadline_model::error_class::ErrorClass;
use loadline_model::snapshot::{ErrorKey, ScenarioChange};
use loadline_model::verdict::{Delivery, Limit};

use super::builder::{Run, arrivals, constant_vus, found, shared};
use crate::verdict::Code;

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

/// A tool that limits the CPU use of a process with signals stops it several times a second.
#[test]
fn stops_of_a_part_of_each_second_are_told() {
    for (stalls_ms, is_told) in [(500, true), (100, false)] {
        let mut run = Run::new(arrivals(100, 10, 20), 10.0, 1_000, 2.0);
        run.metric("schedule_lag_ns", &[(50_000, 900), (75 * MS, 100)]);
        for row in &mut run.series {
            row.generator.stalled_ns = 75 * MS;
            row.generator.stalls_ns = stalls_ms * MS;
        }
        let verdict = run.judge();
        let stopped = found(&verdict, Code::GeneratorStopped);
        assert_eq!(stopped.is_some(), is_told);
        assert_eq!(
            verdict.limit == Limit::Generator,
            is_told,
            "{}",
            verdict.headline
        );
    }
}

/// Users that sleep between requests are not what slows a generator that stands still.
#[test]
fn stops_of_a_part_of_each_second_slow_users_down() {
    for (stalls_ms, limit) in [(330, Limit::Generator), (100, Limit::Plan)] {
        let mut run = Run::new(constant_vus(20, 8), 8.0, 33_000, 0.7);
        run.plan.script = Some(Arc::default());
        for row in &mut run.series {
            row.generator.stalls_ns = stalls_ms * MS;
        }
        assert_eq!(run.judge().limit, limit);
    }
}

/// Users far away from the target, and a generator that is hardly given a CPU: from near they would get no more.
#[test]
fn a_generator_without_a_cpu_is_not_helped_by_a_shorter_path() {
    for (starved_ms, limit) in [(860, Limit::Generator), (600, Limit::Network)] {
        let mut run = Run::new(constant_vus(100, 8), 8.0, 5_200, 150.0);
        let connections = &mut run.totals.seen.connections;
        connections.opened = 100;
        for _ in 0..100 {
            connections.min_rtt.record(100 * MS);
            connections.connect.record(100 * MS);
            connections.read_delay.record(45 * MS);
        }
        for row in &mut run.series {
            row.generator.busiest_worker = 0.02;
            row.generator.run_queue_ns = starved_ms * MS;
        }
        assert_eq!(run.judge().limit, limit);
    }
}

/// Endless bytes that are no response keep the generator busy, but are the target's fault.
#[test]
fn a_flood_before_any_response_is_the_targets() {
    let judged = |awaited: &str, bytes_received: u64| {
        let mut run = Run::new(constant_vus(50, 20), 20.0, 0, 2.0);
        run.fail(ErrorClass::Timeout, 100, 2_000 * MS);
        let rows = run.series.iter_mut();
        rows.for_each(|row| row.generator.run_queue_ns = 900 * MS);
        let seen = &mut run.totals.seen;
        seen.counts.bytes_received = bytes_received;
        *seen.errors.row(ErrorKey {
            class: ErrorClass::Timeout,
            request: "GET https://a/".to_owned(),
            address: None,
            detail: format!("timed out {awaited}"),
        }) += 100;
        run.judge()
    };
    let flood = judged(ErrorKey::HEADERS_AWAITED, 1 << 30);
    assert_eq!(flood.limit, Limit::Target, "{}", flood.headline);
    let told = found(&flood, Code::NothingAnswered).expect("it is told");
    assert!(
        told.text
            .starts_with("none of 100 requests was answered, while 1.07 GB arrived"),
        "{}",
        told.text
    );
    // Bodies that are not read in time may be due to missing CPU time, and a few bytes need hardly any.
    for (awaited, bytes) in [
        ("while reading the response body", 1 << 30),
        (ErrorKey::HEADERS_AWAITED, 1 << 20),
    ] {
        assert_eq!(judged(awaited, bytes).limit, Limit::Generator, "{awaited}");
    }
}

/// A script whose virtual users spend a tenth of their time on requests.
fn between_requests() -> Run {
    let mut run = Run::new(constant_vus(20, 4), 4.0, 160, 50.0);
    run.plan.script = Some(Arc::default());
    run
}

#[test]
fn between_requests_a_script_sleeps_or_waits_for_the_generator() {
    assert_eq!(between_requests().judge().limit, Limit::Plan);
    let mut starved = between_requests();
    let rows = starved.series.iter_mut();
    rows.for_each(|row| row.generator.run_queue_ns = 700 * MS);
    assert_eq!(starved.judge().limit, Limit::Generator);
    let mut stopped = between_requests();
    stopped.totals.throttled_ns = Some(2_400 * MS);
    assert_eq!(stopped.judge().limit, Limit::Generator);
}

/// Ten virtual users that compute most of the time on one core, and send requests over a round trip of 40 ms.
#[test]
fn what_users_compute_between_requests_is_the_generators() {
    let limit_of = |busiest: f64| {
        let mut run = Run::new(constant_vus(10, 10), 10.0, 450, 50.0);
        run.plan.script = Some(Arc::default());
        run.totals.seen.connections.min_rtt.record(40 * MS);
        run.totals.seen.connections.opened = 10;
        run.seconds(10, |_, row| {
            row.active_vus = 10;
            row.generator.busiest_worker = busiest;
        });
        run.judge().limit
    };
    assert_eq!(limit_of(0.97), Limit::Generator);
    assert_eq!(limit_of(0.3), Limit::Plan);
}

/// Ten users of a service of 20 ms whose generator stalls for 600 ms of each second: one response in ten stays
/// unread for that long.
#[test]
fn what_lies_unread_while_the_generator_is_stopped_is_its_doing() {
    for (stalled_ms, limit) in [(600, Limit::Generator), (0, Limit::Target)] {
        let mut run = Run::new(constant_vus(10, 8), 8.0, 1_460, 54.0);
        run.answer(1_460, &[(0.945, 21 * MS), (0.055, 640 * MS)]);
        let rows = run.series.iter_mut();
        rows.for_each(|row| {
            row.generator.busiest_worker = 0.01;
            row.generator.stalled_ns = stalled_ms * MS;
        });
        let delays = &mut run.totals.seen.connections.read_delay;
        (0..946).for_each(|_| delays.record(100_000));
        (0..54).for_each(|_| delays.record(600 * MS));
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// An open model of 500/s; the arrivals of three seconds start late, but all start.
#[test]
fn a_load_that_was_sent_partly_late_was_held_up_by_whoever_stood_still() {
    for (stalled_ms, part, limit) in [
        (2_980, 0.29, Limit::Generator),
        (0, 0.29, Limit::Target),
        (0, 0.05, Limit::Nobody),
    ] {
        let mut run = Run::new(arrivals(500, 10, 100), 10.0, 5_000, 50.0);
        run.answer(5_000, &[(0.98, 10 * MS), (0.02, 2_000 * MS)]);
        let late = (part * 5_000.0) as u64;
        let response = &mut run.totals.seen.response_time;
        response.record_n(10 * MS, 5_000 - late);
        response.record_n(1_500 * MS, late);
        run.totals.active_vus_max = 100;
        run.series.iter_mut().for_each(|row| row.active_vus = 10);
        run.series[3].generator.stalled_ns = stalled_ms * MS;
        let (service, response) = (13 * MS, 10 * MS);
        run.metric("service_time_ns", &[(service, 5_000)]);
        run.metric(
            "response_time_ns",
            &[(response, 5_000 - late), (1_500 * MS, late)],
        );
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let is_late = verdict.headline.contains(", but partly late: the ");
        assert_eq!(is_late, limit != Limit::Nobody, "{}", verdict.headline);
        assert_eq!(verdict.delivery == Delivery::FellShort, is_late);
    }
}

/// Four users whose responses take the generator seconds to handle, beside other processes: no second ends within the
/// planned time.
#[test]
fn a_few_responses_that_lie_unread_are_the_generators() {
    for (waited_ms, limit) in [(13_500, Limit::Generator), (0, Limit::Target)] {
        let mut run = Run::new(constant_vus(4, 5), 14.0, 4, 6_000.0);
        run.series.clear();
        run.totals.cpu_ns = 900 * MS;
        run.totals.seen.run_queue_ns = waited_ms * MS;
        assert_eq!(run.judge().limit, limit);
    }
}

/// Workers that do little always wait for a CPU, and the stamps of the kernel say how long responses waited for them.
#[test]
fn responses_that_are_read_soon_were_not_kept_by_a_starved_generator() {
    for (delay_ms, limit) in [(20, Limit::Target), (400, Limit::Generator)] {
        let mut run = Run::new(arrivals(6_000, 8, 100), 8.0, 1_600, 580.0);
        run.totals.asked = Some(48_000);
        run.totals.never_started = 46_400;
        run.totals.active_vus_max = 100;
        run.answer(1_600, &[(0.1, 14 * MS), (0.5, 340 * MS), (0.4, 1_000 * MS)]);
        let delays = &mut run.totals.seen.connections.read_delay;
        (0..100).for_each(|_| delays.record(delay_ms * MS));
        for row in &mut run.series {
            row.active_vus = 100;
            row.generator.busiest_worker = 0.005;
            row.generator.run_queue_ns = 1_000 * MS;
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// Ten users whose iterations hash for 40 ms each, and send one quick request.
#[test]
fn a_script_that_computes_is_named() {
    for (cpu_ms, is_named) in [(16_000, true), (60, false)] {
        let mut run = Run::new(constant_vus(10, 20), 20.0, 400, 2.0);
        run.plan.script = Some(Arc::default());
        let change = ScenarioChange {
            iterations: 400,
            ..ScenarioChange::default()
        };
        run.totals.seen.scenarios.insert("default".into(), change);
        run.totals.seen.worker_cpu_ns = cpu_ms * MS;
        for row in &mut run.series {
            row.active_vus = 10;
            row.generator.busiest_worker = 0.99;
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, Limit::Generator, "{}", verdict.headline);
        let busy = found(&verdict, Code::GeneratorBusy).expect("told");
        let own = busy.text.contains("the script itself took");
        assert_eq!(own, is_named, "{}", busy.text);
        let of_headline = verdict
            .headline
            .contains("as fast as the script could compute");
        assert_eq!(of_headline, is_named, "{}", verdict.headline);
    }
}

/// The same beside processes that take half of the CPUs, and with users who sleep instead.
#[test]
fn users_who_neither_sleep_nor_wait_are_held_by_their_script() {
    for (slept_s, limit) in [(0, Limit::Generator), (150, Limit::Plan)] {
        let mut run = Run::new(constant_vus(10, 20), 20.0, 400, 60.0);
        run.plan.script = Some(Arc::default());
        let change = ScenarioChange {
            iterations: 400,
            slept_ns: slept_s * 1_000 * MS,
            ..ScenarioChange::default()
        };
        run.totals.seen.scenarios.insert("default".into(), change);
        run.totals.seen.worker_cpu_ns = 8_000 * MS;
        for row in &mut run.series {
            row.active_vus = 10;
            row.generator.busiest_worker = 0.4;
            row.generator.run_queue_ns = 250 * MS;
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let told = found(&verdict, Code::GeneratorBusy).is_some();
        assert_eq!(told, limit == Limit::Generator, "{:?}", verdict.findings);
    }
}

/// The same for threads of a plan, whose elements compute or whose timers hold them.
#[test]
fn threads_that_neither_sleep_nor_wait_are_held_by_the_elements_of_their_plan() {
    for (slept_s, limit) in [(0, Limit::Generator), (150, Limit::Plan)] {
        let mut run = Run::new(constant_vus(10, 20), 20.0, 400, 60.0);
        run.plan.scenarios[0].behaviour =
            loadline_model::Behaviour::Steps(loadline_model::plan::StepsBehaviour {
                group: 0,
                sends: true,
            });
        run.totals.seen.threads = loadline_model::snapshot::ThreadTimes {
            iterations: 400,
            slept_ns: slept_s * 1_000 * MS,
        };
        run.totals.seen.worker_cpu_ns = 8_000 * MS;
        for row in &mut run.series {
            row.active_vus = 10;
            row.generator.busiest_worker = 0.4;
            row.generator.run_queue_ns = 250 * MS;
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let told = found(&verdict, Code::GeneratorBusy);
        assert_eq!(told.is_some(), limit == Limit::Generator);
        if let Some(told) = told {
            assert!(
                told.text.contains("the plan's elements took"),
                "{}",
                told.text
            );
        }
    }
}

/// A process that a signal stopped for three seconds needs no more cores.
#[test]
fn what_a_stop_delayed_is_not_told_as_a_want_of_cores() {
    for (stalled_ms, is_of_stop) in [(2_980, true), (0, false)] {
        let mut run = Run::new(arrivals(200, 12, 100), 12.0, 2_400, 60.0);
        run.metric("schedule_lag_ns", &[(50_000, 1_900), (2_920 * MS, 500)]);
        run.series[4].generator.stalled_ns = stalled_ms * MS;
        let verdict = run.judge();
        let late = found(&verdict, Code::ScheduleLag).expect("told");
        let advice = late.advice.clone().unwrap_or_default();
        assert_eq!(advice.contains("what stopped the generator"), is_of_stop);
        let again = found(&verdict, Code::LagExceedsLatency);
        assert_eq!(again.is_none(), is_of_stop);
    }
}
