//! Findings beside the limit must not blame another side.
//!
//! Invariant: advice follows the measurements instead of the usual cause.

use std::sync::Arc;

use loadline_model::error_class::ErrorClass;
use loadline_model::plan::TestPlan;
use loadline_model::snapshot::ScenarioChange;
use loadline_model::verdict::{Delivery, Limit, Verdict};

use super::builder::{MS, Run, arrivals, constant_vus, found, percentiles, shared, vu_ramp};
use crate::verdict::Code;

fn advice(verdict: &Verdict, code: Code) -> &str {
    let told = found(verdict, code).expect("told");
    told.advice.as_deref().unwrap_or_default()
}

#[test]
fn users_who_never_get_a_connection_are_kept_out_by_somebody_unknown() {
    let mut run = Run::new(constant_vus(30, 9), 9.0, 4_320, 20.0);
    run.fail(ErrorClass::Timeout, 60, 3_000 * MS);
    assert_eq!(run.judge().limit, Limit::Target);
    run.totals.seen.connections.failed = 60;
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Unknown, "{}", verdict.headline);
    let advice = advice(&verdict, Code::RequestsFailed);
    assert!(advice.contains("accept queue or a firewall"), "{advice}");
}

#[test]
fn what_is_lost_on_the_way_is_not_the_slow_targets() {
    let mut run = Run::new(constant_vus(10, 9), 9.0, 400, 20.0);
    run.fail(ErrorClass::Timeout, 40, 2_000 * MS);
    assert!(advice(&run.judge(), Code::RequestsFailed).contains("too slow"));
    let connections = &mut run.totals.seen.connections;
    (0..40).for_each(|_| connections.min_rtt.record(10 * MS));
    connections.gapped = 39;
    let verdict = run.judge();
    let advice = advice(&verdict, Code::RequestsFailed);
    assert!(advice.contains("lost on the network path"), "{advice}");
}

#[test]
fn a_way_that_ends_is_no_death_of_the_target() {
    for (is_cut, words) in [(false, "target's log"), (true, "cut the network path")] {
        let mut run = Run::new(arrivals(50, 8, 50), 8.0, 400, 6.0);
        run.fail(ErrorClass::Timeout, 250, 1_000 * MS);
        run.totals.asked = Some(650);
        for row in &mut run.series[3..] {
            (row.completed, row.good, row.failed) = (0, 0, 50);
        }
        if is_cut {
            let connections = &mut run.totals.seen.connections;
            (0..60).for_each(|_| connections.min_rtt.record(10 * MS));
            connections.unacknowledged = 55;
        }
        let verdict = run.judge();
        let advice = advice(&verdict, Code::TargetDied);
        assert!(advice.contains(words), "{advice}");
    }
}

#[test]
fn users_who_get_as_many_answers_in_another_order_saw_nothing_get_slower() {
    for (at_the_end, is_told) in [(8, false), (4, true)] {
        let mut run = Run::new(constant_vus(10, 9), 9.0, 68, 1_000.0);
        for (number, row) in run.series.iter_mut().enumerate() {
            row.good = if number < 4 { 8 } else { at_the_end };
            row.service_time_ns = percentiles(400.0 + 125.0 * number as f64, 2_000.0);
        }
        let verdict = run.judge();
        assert_eq!(found(&verdict, Code::Slowing).is_some(), is_told);
    }
}

#[test]
fn a_cache_that_warms_is_no_outage() {
    for (p90, is_told) in [(0.3, true), (604.0, false)] {
        let mut run = Run::new(constant_vus(12, 10), 10.0, 182_000, 0.24);
        run.seconds(10, |second, row| {
            let each = if second < 3 { 70 } else { 24_000 };
            (row.started, row.completed, row.good) = (each, each, each);
            row.active_vus = 12;
            row.service_time_ns = match second {
                0 | 1 => percentiles(606.0, 609.0),
                2 => percentiles(0.2, 2.0 * p90 - 0.2),
                _ => percentiles(0.2, 0.5),
            };
        });
        let verdict = run.judge();
        assert_eq!(found(&verdict, Code::OutageSeen).is_some(), is_told);
    }
}

#[test]
fn a_script_that_throws_asks_for_nothing() {
    for (thrown, is_told) in [(0, true), (121, false)] {
        let mut run = Run::new(arrivals(20, 10, 10), 10.0, 80, 5.0);
        run.plan.script = Some(Arc::default());
        run.totals.asked = Some(201);
        let change = ScenarioChange {
            iterations: 201,
            thrown,
            ..ScenarioChange::default()
        };
        let scenarios = &mut run.totals.seen.scenarios;
        scenarios.insert("default".into(), change);
        for (second, row) in run.series.iter_mut().enumerate() {
            let sent = if second < 4 { 20 } else { 0 };
            (row.started, row.completed, row.good) = (sent, sent, sent);
        }
        let verdict = run.judge();
        assert_eq!(found(&verdict, Code::TargetDied).is_some(), is_told);
    }
}

#[test]
fn a_rate_that_the_script_caps_is_the_options() {
    let mut run = Run::new(constant_vus(10, 8), 8.0, 240, 5.0);
    let mut script = loadline_model::ScriptSettings::default();
    script.http.requests_per_second = Some(30);
    run.plan = TestPlan {
        script: Some(Arc::new(script)),
        ..run.plan
    };
    let headline = run.judge().headline;
    assert!(
        headline.ends_with("paced by the option rps (30/s)"),
        "{headline}"
    );
}

/// 8 users of a service that is 20 ms away; failures are resets 20.6 ms after the start.
#[test]
fn a_reset_after_the_handshake_alone_is_no_answer_of_the_targets() {
    for (opened, retried, limit) in [
        (480, 0, Limit::Network),
        (193, 60, Limit::Network),
        (70, 0, Limit::Target),
    ] {
        let mut run = Run::new(arrivals(60, 8, 50), 8.0, 400, 23.0);
        run.fail(ErrorClass::ResetReading, 80, 20_600_000);
        run.totals.asked = Some(480);
        run.totals.seen.counts.retried = retried;
        let connections = &mut run.totals.seen.connections;
        connections.opened = opened;
        (0..60).for_each(|_| connections.min_rtt.record(20 * MS));
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{opened}: {}", verdict.headline);
    }
}

/// A worker that runs or waits a quarter of the time delays users by no more than that.
#[test]
fn users_wait_for_a_worker_only_while_it_has_something_to_do() {
    let mut run = Run::new(constant_vus(20, 10), 10.0, 133_000, 1.48);
    for row in &mut run.series {
        row.generator.busiest_worker = 0.07;
        row.generator.run_queue_ns = 200 * MS;
    }
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target, "{}", verdict.headline);
}

/// Random times between 5 and 60 ms look like those of an unfair queue; times around 50 ms do not.
#[test]
fn times_that_differ_may_be_a_queue() {
    let mut run = Run::new(arrivals(200, 10, 4), 10.0, 1_200, 32.0);
    run.totals.asked = Some(2_000);
    run.totals.never_started = 800;
    run.totals.active_vus_max = 4;
    for (fastest, limit) in [(5, Limit::Unknown), (35, Limit::Plan)] {
        let tenths: Vec<(f64, u64)> = (0..10)
            .map(|step| (0.1, (fastest + 6 * step) * MS))
            .collect();
        run.answer(1_200, &tenths);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

#[test]
fn a_target_that_answers_when_the_load_is_over_is_there() {
    for (at_the_end, is_told) in [(0, true), (40, false)] {
        let mut run = Run::new(arrivals(40, 6, 40), 6.0, 200, 1_800.0);
        run.seconds(8, |second, row| {
            let answers = match second {
                5 => 2,
                6.. => at_the_end,
                _ => 40,
            };
            row.started = 40;
            (row.completed, row.good) = (answers, answers);
            row.active_vus = 40;
        });
        let verdict = run.judge();
        assert_eq!(found(&verdict, Code::TargetDied).is_some(), is_told);
    }
}

#[test]
fn virtual_users_that_wait_for_their_pace_are_counted() {
    let mut run = Run::new(constant_vus(5, 10), 10.0, 50, 5.0);
    run.plan.scenarios[0].pacing = Some(std::time::Duration::from_secs(1));
    run.totals.active_vus_max = 1;
    let verdict = run.judge();
    assert!(
        verdict.headline.ends_with("paced by the plan (5 VUs)"),
        "{}",
        verdict.headline
    );
}

/// Each of 20 users is due four times a second, or all of them together 80 times: more users would get more
/// responses, and none waits.
#[test]
fn a_ramp_of_users_who_wait_for_their_pace_finds_no_limit() {
    for (is_capped, slower, limit) in [
        (false, 1, Limit::Plan),
        (false, 5, Limit::Target),
        (true, 1, Limit::Plan),
    ] {
        let mut run = Run::new(vu_ramp(20, 10), 10.0, 600, 10.0);
        let mut script = loadline_model::ScriptSettings::default();
        match is_capped {
            true => script.http.requests_per_second = Some(80),
            false => {
                let pacing = std::time::Duration::from_millis(250);
                run.plan.scenarios[0].pacing = Some(pacing);
            }
        }
        run.plan.script = Some(Arc::new(script));
        run.seconds(10, |number, row| {
            row.active_vus = 2 * (number + 1);
            row.completed = if number < 3 { 20 * (number + 1) } else { 80 };
            row.good = row.completed;
            let ms = if number < 4 { 10 } else { 10 * slower };
            row.service_time_ns = percentiles(ms as f64, ms as f64);
        });
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

#[test]
fn a_count_that_users_who_wait_do_not_reach_in_time_is_the_plans() {
    let mut run = Run::new(shared(5, 500), 6.0, 150, 5.0);
    run.plan.scenarios[0].pacing = Some(std::time::Duration::from_millis(200));
    run.totals.seen.counts.dropped = 350;
    run.totals.never_started = 350;
    let verdict = run.judge();
    assert_eq!(
        (verdict.delivery, verdict.limit),
        (Delivery::FellShort, Limit::Plan),
        "{}",
        verdict.headline
    );
}

#[test]
fn what_was_held_up_by_an_outage_and_comes_after_it_is_not_usual() {
    let mut run = Run::new(arrivals(300, 10, 100), 10.0, 3_000, 10.0);
    let good = [300, 300, 300, 0, 0, 0, 1_200, 300, 300, 300];
    let waiting = [0, 0, 0, 200, 500, 800, 0, 0, 0, 0];
    for (row, (good, waiting)) in run.series.iter_mut().zip(good.into_iter().zip(waiting)) {
        (row.started, row.completed, row.good, row.waiting) = (good, good, good, waiting);
    }
    let verdict = run.judge();
    let told = found(&verdict, Code::OutageSeen).expect("told");
    assert!(told.text.contains("its usual 300/s"), "{}", told.text);
}

/// Half of the responses take 5 ms, half 600 ms, so that the median is sometimes of the one kind, sometimes of the other.
#[test]
fn a_median_between_two_kinds_is_no_slowdown() {
    for (at_first, is_told) in [([5, 600], false), ([5, 6], true)] {
        let mut run = Run::new(arrivals(60, 9, 60), 9.0, 540, 300.0);
        for (number, row) in run.series.iter_mut().enumerate() {
            let (both, median) = match number {
                0..4 => (at_first, 5.0),
                _ => ([5, 600], 600.0),
            };
            let mut times = loadline_metric::TimeTrend::default();
            both.iter().for_each(|ms| times.record_n(ms * MS, 30));
            row.heat = loadline_model::heat::Heat::of(&times);
            row.service_time_ns = percentiles(median, 600.0);
        }
        let verdict = run.judge();
        assert_eq!(found(&verdict, Code::Slowing).is_some(), is_told);
    }
}

/// From the middle of the run on, the same request is rejected.
#[test]
fn what_the_target_had_at_first_is_no_mistake_of_the_plan() {
    for (status, limit) in [(404, Limit::Target), (401, Limit::Plan)] {
        let mut run = Run::new(arrivals(80, 8, 50), 8.0, 640, 8.0);
        run.totals.seen.counts.good = 320;
        let statuses = &mut run.totals.seen.statuses;
        *statuses.row(200) = 320;
        *statuses.row(status) += 320;
        run.series[4..].iter_mut().for_each(|row| row.good = 0);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}
