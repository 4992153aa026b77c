//! Loads that do not keep their pace: timers that are missed, users who are held up or sleep.
//!
//! Must not know which rule says what. Invariant: each situation differs from its neighbour by one number.

use std::sync::Arc;

use loadline_model::ThreadGroup;
use loadline_model::executor::Executor;
use loadline_model::result::TimeMetric;
use loadline_model::snapshot::Pace;
use loadline_model::verdict::Limit;

use super::builder::{MS, Run, arrivals, constant_vus, found, rate_ramp, vu_ramp};
use crate::verdict::Code;
use crate::verdict::tests::builder::percentiles;

#[test]
fn timers_that_hold_nothing_back_are_missed() {
    for (held_back, is_missed) in [(5, true), (95, false)] {
        let mut run = Run::new(constant_vus(4, 10), 10.0, 200, 200.0);
        run.totals.seen.pace = Pace {
            held_back,
            overdue: 200 - held_back,
        };
        let verdict = run.judge();
        assert_eq!(found(&verdict, Code::PaceMissed).is_some(), is_missed);
        if is_missed {
            assert_eq!(verdict.limit, Limit::Plan, "{}", verdict.headline);
            assert_eq!(
                verdict.headline,
                "20/s good responses, the plan's timers ask for more than 4 VUs can send"
            );
        }
    }
}

#[test]
fn users_who_are_held_up_between_many_quick_requests_show_pauses() {
    for (vus, ms, is_told) in [(20, 0.5, true), (200, 5.0, false)] {
        let mut run = Run::new(constant_vus(vus, 12), 12.0, 480_000, ms);
        for (second, row) in run.series.iter_mut().enumerate() {
            let held = if second % 3 == 2 { 20 } else { 0 };
            row.active_vus = u64::from(vus);
            row.service_time_ns = percentiles(ms, 2.0 * ms);
            let mut times = loadline_metric::TimeTrend::default();
            times.record_n((ms * 1e6) as u64, row.completed - held);
            times.record_n(900 * MS, held);
            row.heat = loadline_model::heat::Heat::of(&times);
        }
        let verdict = run.judge();
        let pauses = found(&verdict, Code::Pauses);
        assert_eq!(pauses.is_some(), is_told);
        if let Some(pauses) = pauses {
            let text = &pauses.text;
            assert!(
                text.starts_with("in 4 of 12 seconds responses stalled for up to"),
                "{text}"
            );
        }
    }
}

#[test]
fn a_script_whose_users_all_sleep_saw_no_outage() {
    for (longest_ms, is_told) in [(8, false), (2_000, true)] {
        let mut run = Run::new(arrivals(40, 10, 80), 10.0, 400, 5.0);
        run.plan.script = Some(Arc::default());
        run.totals.seen.answered_time.record(longest_ms * MS);
        let asleep = &mut run.series[5..7];
        asleep
            .iter_mut()
            .for_each(|row| (row.completed, row.good) = (0, 0));
        let verdict = run.judge();
        assert_eq!(found(&verdict, Code::OutageSeen).is_some(), is_told);
    }
}

#[test]
fn two_long_pauses_are_enough() {
    for (ms, is_told) in [(700.0, true), (300.0, false)] {
        let mut run = Run::new(arrivals(80, 7, 100), 7.0, 560, 6.0);
        for (second, row) in run.series.iter_mut().enumerate() {
            let is_hit = second == 2 || second == 5;
            row.service_time_ns = percentiles(6.0, if is_hit { ms } else { 9.0 });
        }
        let verdict = run.judge();
        assert_eq!(found(&verdict, Code::Pauses).is_some(), is_told);
    }
}

/// Users that become more and more, and each gets as many responses as the first: nobody waits for another.
#[test]
fn a_rate_that_rises_with_the_users_to_the_end_is_the_plans() {
    for (last_ms, each, most, limit) in [
        (101, "100", 600, Limit::Plan),
        (140, "120", 600, Limit::Plan),
        (190, "", 250, Limit::Target),
    ] {
        let mut run = Run::new(vu_ramp(60, 6), 6.0, 1_782, 101.0);
        run.answer(1_782, &[(0.5, 100 * MS), (0.5, last_ms * MS)]);
        run.totals.active_vus_max = 60;
        for (users, row) in (1_u64..).map(|second| 10 * second).zip(&mut run.series) {
            row.active_vus = users;
            row.completed = ((users - 5) * 1_000 / 101).min(most);
            row.good = row.completed;
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        if limit == Limit::Plan {
            let words = format!("rising to the end with 60 VUs at {each} ms each");
            assert!(verdict.headline.ends_with(&words), "{}", verdict.headline);
        }
    }
}

/// JMeter's threads that send one request each, started one after another: two at a time.
#[test]
fn threads_that_end_as_others_start_are_paced_by_the_plan() {
    for (slow_ms, limit) in [(55, Limit::Plan), (110, Limit::Target)] {
        let mut run = Run::new(constant_vus(150, 6), 6.0, 150, 51.0);
        run.answer(150, &[(0.5, 51 * MS), (0.5, slow_ms * MS)]);
        run.plan.script = Some(Arc::new(loadline_model::ScriptSettings::default()));
        run.totals.active_vus_max = 2;
        run.series.iter_mut().for_each(|row| row.active_vus = 2);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// Users that rest between requests, and get fewer and fewer responses, each of which takes longer.
#[test]
fn a_target_that_gets_slower_takes_responses_from_users_who_rest() {
    for (slower, limit) in [(60.0, Limit::Target), (0.0, Limit::Plan)] {
        let mut run = Run::new(constant_vus(60, 9), 9.0, 1_080, 250.0);
        let apart = slower as u64 * 4;
        run.answer(
            1_080,
            &[(0.5, (250 - apart) * MS), (0.5, (250 + apart) * MS)],
        );
        run.plan.script = Some(Arc::new(loadline_model::ScriptSettings::default()));
        for (second, row) in (0_u32..).zip(&mut run.series) {
            let second = f64::from(second);
            row.active_vus = 60;
            row.good = (240.0 - slower / 3.0 * second) as u64;
            row.completed = row.good;
            row.service_time_ns = percentiles(30.0 + slower * second, 60.0 + slower * second);
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

fn rate_above(bound: &str) -> loadline_metric::threshold::Threshold {
    let text = format!("throughput:rate>{bound}");
    text.parse().expect("a threshold")
}

#[test]
fn thresholds_beyond_the_planned_rate_are_out_of_reach() {
    for (bound, is_told) in [("150", true), ("101", false), ("90", false)] {
        let mut run = Run::new(arrivals(100, 10, 20), 10.0, 1_000, 10.0);
        run.plan.thresholds = vec![rate_above(bound)];
        let verdict = run.judge();
        assert_eq!(verdict.limit, Limit::Nobody);
        let told = found(&verdict, Code::ThresholdOutOfReach);
        assert_eq!(told.is_some(), is_told, "{bound}");
    }
    // What users who go on at once reach depends on the target.
    let mut run = Run::new(constant_vus(10, 10), 10.0, 1_000, 100.0);
    run.plan.thresholds = vec![rate_above("5000")];
    assert!(found(&run.judge(), Code::ThresholdOutOfReach).is_none());
    // Users with a pace have a highest rate.
    run.plan.scenarios[0].pacing = Some(std::time::Duration::from_secs(1));
    let verdict = run.judge();
    let told = found(&verdict, Code::ThresholdOutOfReach).expect("told");
    assert_eq!(
        told.text,
        "throughput:rate>5000 cannot hold: 10 VUs send a request every 1.0 s each, so that at most 10/s requests start"
    );
}

#[test]
fn thresholds_of_a_script_that_sleeps_are_out_of_reach_whatever_the_target_does() {
    for (slept_s, is_told) in [(95_u64, true), (20, false)] {
        let mut run = Run::new(constant_vus(10, 10), 10.0, 1_000, 5.0);
        run.plan.script = Some(Arc::default());
        let threshold = loadline_model::ThresholdPlan::parse(
            "http_reqs",
            "rate>200",
            false,
            std::time::Duration::ZERO,
        );
        run.plan.script_thresholds = vec![threshold.expect("a threshold")];
        let change = loadline_model::ScenarioChange {
            iterations: 1_000,
            slept_ns: slept_s * 1_000 * MS,
            ..loadline_model::ScenarioChange::default()
        };
        run.totals.seen.scenarios.insert("default".into(), change);
        run.series.iter_mut().for_each(|row| row.active_vus = 10);
        let told = found(&run.judge(), Code::ThresholdOutOfReach).is_some();
        assert_eq!(told, is_told);
    }
}

/// A queue of the target that a short burst fills until no virtual user is free, while a few other starts are late.
#[test]
fn arrivals_of_a_burst_that_wait_for_a_virtual_user_are_late_by_the_target() {
    for (in_time, limit) in [(600, Limit::Target), (1_600, Limit::Generator)] {
        let mut run = Run::new(rate_ramp(600, 10, 500), 10.0, 1_600, 1_400.0);
        let times: Vec<(f64, u64)> = (1..=20).map(|n| (0.05, n * 115 * MS)).collect();
        run.answer(1_600, &times);
        run.totals.active_vus_max = 500;
        for ns in times.iter().map(|(_, ns)| *ns) {
            run.totals.seen.response_time.record_n(ns + ns / 2, 80);
        }
        let response = TimeMetric::of(run.totals.seen.response_time.clone());
        run.metrics.insert("response_time_ns".to_owned(), response);
        run.metric("schedule_lag_ns", &[(100_000, in_time - 20), (5 * MS, 20)]);
        run.totals.seen.schedule_lag.record_n(100_000, in_time);
        let offered = [50, 50, 50, 570, 600, 130, 50, 50, 50, 0];
        let in_use = [2, 2, 2, 340, 500, 500, 460, 280, 100, 0];
        for (second, row) in run.series.iter_mut().enumerate() {
            row.offered = Some(offered[second]);
            row.active_vus = in_use[second];
            row.waiting = if second == 4 || second == 5 { 200 } else { 0 };
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

#[test]
fn threads_whose_start_comes_after_the_end_are_told() {
    for (step_ms, is_told) in [(600, true), (100, false), (0, false)] {
        let mut run = Run::new(constant_vus(50, 6), 6.0, 600, 20.0);
        run.plan.scenarios[0].executor = Executor::ThreadGroup(ThreadGroup::Ramp {
            threads: 50,
            delay_ms: 0,
            step_ms,
            lasts_ms: Some(6_000),
            leaves_out_late: true,
        });
        let verdict = run.judge();
        let told = found(&verdict, Code::ThreadsNotStarted);
        assert_eq!(told.is_some(), is_told);
        if let Some(told) = told {
            let text = "only 10 of the 50 threads of default start before its end after 6 s: the ramp-up takes 30 s";
            assert_eq!(told.text, text);
        }
    }
}

/// Nobody waits for a single user, and a handful of equally long responses shows no queue.
#[test]
fn few_equally_slow_responses_show_no_queue() {
    for (vus, answers) in [(1, 5), (2, 9)] {
        let mut run = Run::new(arrivals(5, 10, vus), 10.0, answers, 2_000.0);
        run.answer(answers, &[(1.0, 2_000 * MS)]);
        run.totals.asked = Some(50);
        run.totals.never_started = 50 - answers;
        run.totals.active_vus_max = vus.into();
        run.series
            .iter_mut()
            .for_each(|row| row.active_vus = vus.into());
        let verdict = run.judge();
        assert_eq!(verdict.limit, Limit::Plan, "{}", verdict.headline);
        assert!(found(&verdict, Code::TooFewVus).is_some());
    }
}
