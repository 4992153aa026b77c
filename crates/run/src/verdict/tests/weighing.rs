//! Situations in which one side looks guilty but another is, and the same on a busy machine.
//!
//! Invariant: a CPU-starved generator weakens a correct verdict, and never turns it into a wrong one.

use loadline_model::error_class::ErrorClass;
use loadline_model::verdict::{Limit, Verdict};

use super::builder::{Run, arrivals, codes, constant_vus, found, percentiles};
use crate::verdict::Code;

const MS: u64 = 1_000_000;

/// Other processes keep the generator waiting for a CPU for this share of the time.
fn starve(run: &mut Run, share: f64) {
    let rows = run.series.iter_mut();
    rows.for_each(|row| row.generator.run_queue_ns = (share * 1e9) as u64);
}

/// 50 users wait for a pool of 8 that takes 50 ms: the first responses are fast, all others queue.
fn pool_of_eight() -> Run {
    let mut run = Run::new(arrivals(2_500, 10, 50), 10.0, 1_600, 312.0);
    run.answer(1_600, &[(0.005, 50 * MS), (0.995, 312 * MS)]);
    run.totals.asked = Some(25_000);
    run.totals.never_started = 23_400;
    run.totals.active_vus_max = 50;
    run
}

/// `hey -q 50 -c 50` against a service of 2.5 s.
fn slow_service() -> Run {
    let mut run = Run::new(arrivals(2_500, 10, 50), 10.0, 200, 2_500.0);
    run.totals.asked = Some(25_000);
    run.totals.never_started = 24_800;
    run.totals.active_vus_max = 50;
    run
}

#[test]
fn lag_and_starvation_beside_much_longer_waits_are_cautions() {
    for mut run in [pool_of_eight(), slow_service()] {
        assert_eq!(run.judge().limit, Limit::Target);
        starve(&mut run, 0.22);
        run.metric("schedule_lag_ns", &[(MS, 40), (17 * MS, 10)]);
        let verdict = run.judge();
        assert_eq!(verdict.limit, Limit::Target, "{}", verdict.headline);
        for code in [Code::GeneratorStarved, Code::ScheduleLag] {
            assert!(found(&verdict, code).is_some(), "{code:?}");
        }
        assert!(found(&verdict, Code::SharedLimit).is_none());
    }
}

#[test]
fn refusals_within_a_moment_are_the_targets_whatever_the_generator_did() {
    let mut run = Run::new(constant_vus(50, 1), 0.148, 0, 1.0);
    run.series.clear();
    run.fail(ErrorClass::Refused, 1_000, MS);
    run.totals.cpu_ns = 148 * MS;
    assert_eq!(run.judge().limit, Limit::Target);
}

#[test]
fn a_target_that_mostly_refuses_is_the_limit_in_any_model() {
    let mut run = Run::new(constant_vus(8, 10), 10.0, 60_000, 0.1);
    run.totals.seen.counts.good = 9_600;
    *run.totals.seen.statuses.row(200) -= 50_400;
    *run.totals.seen.statuses.row(429) += 50_400;
    starve(&mut run, 0.4);
    assert_eq!(run.judge().limit, Limit::Target);
}

#[test]
fn too_few_users_say_what_more_of_them_would_find() {
    let mut run = Run::new(arrivals(200, 10, 4), 10.0, 800, 50.0);
    run.totals.asked = Some(2_000);
    run.totals.never_started = 1_200;
    run.totals.active_vus_max = 4;
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Plan);
    let text = &found(&verdict, Code::TooFewVus).expect("told").text;
    assert!(
        text.contains("responses show no queue in the target (the fastest took 45"),
        "{text}"
    );
}

/// 20 users fetch bodies of 512 KiB: constant bytes per second, however long one body takes.
fn link(spread: f64) -> Run {
    let mut run = Run::new(constant_vus(20, 10), 10.0, 390, 511.0);
    run.totals.seen.counts.body_bytes = 390 * 512 * 1024;
    for step in 0..20_u32 {
        let ns = 500e6 * (1.0 + spread * f64::from(step) / 19.0);
        run.totals.seen.phases.receiving.record(ns as u64);
    }
    let rows = run.series.iter_mut();
    rows.for_each(|row| row.bytes_received = 20_000_000);
    run
}

#[test]
fn a_full_link_is_the_networks_and_a_slow_sender_the_targets() {
    let verdict = link(1.0).judge();
    assert_eq!(verdict.limit, Limit::Network);
    let text = &found(&verdict, Code::LinkFull).expect("told").text;
    assert!(
        text.starts_with("20.00 MB/s were transferred, which"),
        "{text}"
    );
    let mut busy = link(1.0);
    starve(&mut busy, 0.3);
    assert_eq!(busy.judge().limit, Limit::Network);
    assert_eq!(link(0.1).judge().limit, Limit::Target, "each takes as long");
    // A worker that does nothing but read 2.8 GB/s on one machine: there no link is ever full.
    starve(&mut busy, 0.35);
    let rows = busy.series.iter_mut();
    rows.for_each(|row| row.generator.busiest_worker = 0.5);
    let verdict = busy.judge();
    assert_ne!(verdict.limit, Limit::Network);
    assert!(found(&verdict, Code::LinkFull).is_none());
}

#[test]
fn a_worker_among_many_others_waits_for_all_of_them() {
    // 150 ms each; waiting for a CPU 84 % of the time, 57 ms per turn.
    let crowded = |turns| {
        let mut run = Run::new(arrivals(20_000, 10, 500), 10.0, 31_878, 150.0);
        run.totals.asked = Some(200_000);
        run.totals.active_vus_max = 500;
        starve(&mut run, 0.84);
        for row in &mut run.series {
            row.active_vus = 500;
            row.generator.busiest_worker = 0.07;
        }
        run.totals.seen.run_queue_ns = 8_400_000_000;
        run.totals.seen.turns = turns;
        run.judge().limit
    };
    assert_eq!(crowded(147), Limit::Generator);
    assert_ne!(crowded(8_400), Limit::Generator);
    // However short its turns are, a worker that never rests has no time left.
    let mut run = Run::new(arrivals(20_000, 10, 500), 10.0, 11_566, 405.0);
    run.totals.asked = Some(200_000);
    run.totals.active_vus_max = 500;
    starve(&mut run, 0.93);
    for row in &mut run.series {
        row.active_vus = 500;
        row.generator.busiest_worker = 0.08;
    }
    assert_eq!(run.judge().limit, Limit::Generator);
}

#[test]
fn what_was_read_late_is_the_generators_time() {
    // 60 ms each on a worker that waits for a CPU half of the time, and seems to have time left.
    let reads = |delay_ms: u64, opened| {
        let mut run = Run::new(constant_vus(40, 8), 8.0, 5_300, 60.0);
        starve(&mut run, 0.55);
        let rows = run.series.iter_mut();
        rows.for_each(|row| row.generator.busiest_worker = 0.2);
        let connections = &mut run.totals.seen.connections;
        connections.opened = opened;
        (0..20).for_each(|_| connections.read_delay.record(delay_ms * 1_000_000));
        run.judge().limit
    };
    assert_eq!(reads(1, 40), Limit::Target);
    assert_eq!(reads(40, 40), Limit::Generator);
    // Connection setup waits for the worker too.
    assert_eq!(reads(20, 40), Limit::Target);
    assert_eq!(reads(20, 5_300), Limit::Generator);
}

#[test]
fn a_worker_that_connects_late_is_no_jitter() {
    let mut run = Run::new(constant_vus(40, 8), 8.0, 54_000, 5.6);
    let connections = &mut run.totals.seen.connections;
    for _ in 0..16 {
        connections.min_rtt.record(5_000);
        connections.rtt.record(3_500_000);
        connections.connect.record(11_000_000);
    }
    assert_eq!(run.judge().limit, Limit::Target);
}

#[test]
fn two_sides_that_share_the_time_are_both_told() {
    // 6 ms each, of which CPU starvation explains 2.4 ms.
    let mut run = Run::new(constant_vus(50, 10), 10.0, 80_000, 6.0);
    starve(&mut run, 0.3);
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target);
    let text = &found(&verdict, Code::SharedLimit).expect("told").text;
    assert!(
        text.contains("in the target (60") && text.contains("in the generator (40"),
        "{text}"
    );
    assert!(
        verdict.headline.ends_with("(60 % target, 40 % generator)"),
        "{}",
        verdict.headline
    );
    starve(&mut run, 0.345);
    assert_eq!(run.judge().limit, Limit::Unknown, "54 to 46");
}

#[test]
fn sides_without_half_of_the_time_leave_the_limit_open() {
    let mut run = Run::new(constant_vus(50, 10), 10.0, 80_000, 6.0);
    starve(&mut run, 0.33);
    for _ in 0..50 {
        run.totals.seen.connections.min_rtt.record(1_500_000);
    }
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Unknown, "{}", verdict.headline);
    let shared = &found(&verdict, Code::SharedLimit).expect("told").text;
    for place in ["in the target", "in the generator", "on the network"] {
        assert!(shared.contains(place), "{shared}");
    }
}

#[test]
fn a_worker_that_uses_each_slice_up_waits_for_as_many_of_others() {
    // It gets 8 % of a core, and a request takes as long as the gap between two turns.
    let mut run = Run::new(arrivals(20_000, 10, 500), 10.0, 90_000, 54.0);
    run.totals.asked = Some(200_000);
    run.totals.never_started = 110_000;
    run.totals.active_vus_max = 500;
    run.series
        .iter_mut()
        .for_each(|row| row.generator.busiest_worker = 0.08);
    starve(&mut run, 0.92);
    assert_eq!(run.judge().limit, Limit::Generator);
}

/// A run whose seconds have these medians and 99th percentiles, in milliseconds.
fn second_by_second(times: &[(f64, f64)]) -> Verdict {
    let seconds = times.len() as u64;
    let mut run = Run::new(
        arrivals(200, seconds, 50),
        seconds as f64,
        200 * seconds,
        2.0,
    );
    for (row, (p50, p99)) in run.series.iter_mut().zip(times) {
        row.service_time_ns = percentiles(*p50, *p99);
    }
    run.judge()
}

#[test]
fn a_cold_start_is_told_whatever_its_share() {
    let mut times = vec![(80.0, 120.0); 6];
    times.extend([(2.0, 5.0); 10]);
    let verdict = second_by_second(&times);
    let text = &found(&verdict, Code::ColdStart).expect("told").text;
    assert!(
        text.starts_with("responses of the first 6 s were slower"),
        "{text}"
    );
    assert!(found(&verdict, Code::Pauses).is_none());
}

/// If the first seconds were excluded, the arrivals waiting in them would be hidden.
#[test]
fn a_start_that_falls_short_is_not_to_be_left_out() {
    for (dropped, words) in [(0, "run longer"), (20, "what the target lacks at first")] {
        let mut run = Run::new(arrivals(100, 12, 20), 12.0, 1_200, 5.0);
        run.seconds(12, |second, row| {
            (row.started, row.completed, row.good) = (100, 100, 100);
            let is_first = second < 3;
            row.dropped = if is_first { dropped } else { 0 };
            let ms = if is_first { 90.0 } else { 2.0 };
            row.service_time_ns = percentiles(ms, ms);
        });
        let verdict = run.judge();
        let told = found(&verdict, Code::ColdStart).expect("told");
        let advice = told.advice.as_deref().unwrap_or_default();
        assert!(advice.contains(words), "{advice}");
    }
}

#[test]
fn pauses_are_told_with_their_period() {
    let times: Vec<(f64, f64)> = (0..12)
        .map(|second| (2.0, if second % 2 == 0 { 3.0 } else { 200.0 }))
        .collect();
    let verdict = second_by_second(&times);
    let text = &found(&verdict, Code::Pauses).expect("told").text;
    assert!(
        text.starts_with("in 6 of 12 seconds responses stalled for up to 200 ms, about every 2 s"),
        "{text}"
    );
}

#[test]
fn a_short_stall_in_between_does_not_hide_the_period_of_pauses() {
    let times: Vec<(f64, f64)> = (0..15)
        .map(|second| match second {
            _ if second % 3 == 2 => (2.0, 500.0),
            7 => (2.0, 90.0),
            _ => (2.0, 6.0),
        })
        .collect();
    let verdict = second_by_second(&times);
    let text = &found(&verdict, Code::Pauses).expect("told").text;
    assert!(
        text.starts_with("in 6 of 15 seconds responses stalled for up to 500 ms, about every 3 s"),
        "{text}"
    );
}

#[test]
fn handshakes_that_take_much_of_the_time_are_told() {
    let mut run = Run::new(constant_vus(10, 10), 10.0, 10_000, 10.0);
    run.totals.seen.connections.opened = 10_000;
    for _ in 0..10_000 {
        run.totals.seen.connections.connect.record(MS / 20);
        run.totals.seen.connections.tls.record(8 * MS);
    }
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target);
    let text = &found(&verdict, Code::Handshakes).expect("told").text;
    assert!(
        text.contains("handshakes took 80.5 % of their time"),
        "{text}"
    );
    run.totals.seen.connections.opened = 10;
    assert!(!codes(&run.judge()).contains(&Code::Handshakes.name()));
}

#[test]
fn errors_and_empty_objects_with_a_status_of_success_are_told() {
    for (body, words) in [
        (
            r#"{"error":"no such row"}"#,
            "contain an error: {\"error\":\"no such row\"}",
        ),
        ("{}", "are empty objects"),
    ] {
        let mut run = Run::new(arrivals(100, 10, 10), 10.0, 1_000, 2.0);
        let rows = r#"{"rows":[1,2,3]}"#;
        run.bodies(&[rows, body, rows]);
        let verdict = run.judge();
        let finding = found(&verdict, Code::MixedAnswers);
        let text = &finding.unwrap_or_else(|| panic!("{verdict:#?}")).text;
        assert!(text.contains(words), "{text}");
    }
    let mut run = Run::new(arrivals(100, 10, 10), 10.0, 1_000, 2.0);
    run.bodies(&[r#"{"error":null,"rows":[1]}"#; 3]);
    assert!(found(&run.judge(), Code::MixedAnswers).is_none());
}

#[test]
fn slow_answers_that_are_as_many_as_the_wrong_ones_are_told_so() {
    let mut run = Run::new(arrivals(1_000, 20, 50), 20.0, 20_000, 2.0);
    run.answer(20_000, &[(0.9, 2 * MS), (0.1, 1_000 * MS)]);
    run.totals.seen.counts.good = 18_000;
    let verdict = run.judge();
    let text = &found(&verdict, Code::Spikes).expect("told").text;
    assert!(
        text.ends_with("there are as many slow ones as wrong responses"),
        "{text}"
    );
    run.answer(20_000, &[(0.55, MS), (0.45, 1_000 * MS)]);
    run.totals.seen.counts.good = 9_000;
    let text = &found(&run.judge(), Code::Spikes)
        .expect("told")
        .text
        .clone();
    assert!(
        text.ends_with("there are as many fast ones as wrong responses"),
        "{text}"
    );
}

/// 100 users with a think time of one second; a pool of 20 takes half a second for each, and serves waiting
/// requests in any order.
#[test]
fn thinking_users_who_are_served_at_an_even_pace_wait_in_a_queue() {
    for (uneven, limit) in [(0, Limit::Target), (9, Limit::Plan)] {
        let mut run = Run::new(constant_vus(100, 12), 12.0, 480, 1_500.0);
        run.answer(
            480,
            &[(0.1, 500 * MS), (0.6, 1_500 * MS), (0.3, 2_500 * MS)],
        );
        run.plan.script = Some(std::sync::Arc::default());
        run.seconds(12, |second, row| {
            row.completed = 40 + uneven * (second % 2);
            row.active_vus = 100;
        });
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// All virtual users wait for responses of 1.5 s: in the target's queue, or each for its own.
#[test]
fn answers_that_all_take_as_long_do_not_queue() {
    let limit_of = |times: &[(f64, u64)]| {
        let mut run = Run::new(arrivals(5, 10, 3), 10.0, 21, 1_500.0);
        run.answer(21, times);
        run.totals.asked = Some(50);
        run.totals.never_started = 29;
        run.totals.active_vus_max = 3;
        run.judge().limit
    };
    assert_eq!(
        limit_of(&[(0.9, 1_500 * MS), (0.1, 1_520 * MS)]),
        Limit::Plan
    );
    assert_eq!(
        limit_of(&[(0.2, 300 * MS), (0.8, 1_800 * MS)]),
        Limit::Target
    );
}

/// Six users, 43 ms per response, of which the network takes 22 ms; the rest of their time is the script's.
#[test]
fn a_quota_that_is_used_up_is_the_limit_whoever_takes_the_time() {
    let judged = |cpu_ms: u64| {
        let mut run = Run::new(constant_vus(6, 9), 9.0, 1_024, 43.0);
        for _ in 0..6 {
            run.totals.seen.connections.min_rtt.record(22 * MS);
            run.totals.seen.connections.connect.record(22 * MS);
        }
        run.environment.cores = 0.15;
        run.totals.throttled_ns = Some(3_500 * MS);
        run.totals.cpu_ns = cpu_ms * MS;
        run.judge()
    };
    let verdict = judged(1_350);
    assert_eq!(verdict.limit, Limit::Generator);
    let bound = found(&verdict, Code::NetworkBound).and_then(|told| told.advice.as_deref());
    assert!(
        bound.is_none_or(|advice| !advice.contains("more connections")),
        "{bound:?}"
    );
    assert_ne!(judged(700).limit, Limit::Generator);
}

/// A path that lets 58 responses through in the first second, and only one now and then after that.
#[test]
fn a_link_that_is_cut_down_is_no_death_of_the_target() {
    let judged = |round_trip_ms: u64, bytes: u64| {
        let mut run = Run::new(constant_vus(6, 10), 10.0, 83, 806.0);
        run.answer(83, &[(0.7, 60 * MS), (0.3, 2_600 * MS)]);
        for _ in 0..6 {
            run.totals.seen.connections.min_rtt.record(11 * MS);
            run.totals.seen.connections.rtt.record(round_trip_ms * MS);
        }
        let phases = &mut run.totals.seen.phases;
        for _ in 0..83 {
            phases.waiting.record(600 * MS);
            phases.receiving.record(200 * MS);
        }
        run.totals.seen.counts.body_bytes = 83 * 20_000;
        run.seconds(10, |second, row| {
            let answers = if second == 0 { 58 } else { 2 };
            (row.started, row.completed, row.good) = (answers, answers, answers);
            row.bytes_received = if second == 0 { 1_000_000 } else { bytes };
            row.active_vus = 6;
        });
        run.judge()
    };
    let verdict = judged(836, 0);
    assert!(
        found(&verdict, Code::TargetDied).is_none(),
        "{}",
        verdict.headline
    );
    assert_eq!(verdict.limit, Limit::Network);
    assert!(found(&judged(12, 0), Code::TargetDied).is_some());
    // Packets hardly queue, and a fifth of the bytes still arrive.
    assert!(found(&judged(12, 200_000), Code::TargetDied).is_none());
}

/// A generator without a CPU doubles the times of two users; the stamps of the kernel tell its part.
#[test]
fn few_users_of_a_starved_generator_show_no_queue_either() {
    for (delay_ms, is_told) in [(8, true), (0, false)] {
        let mut run = Run::new(constant_vus(2, 8), 8.0, 660, 20.0);
        run.answer(
            660,
            &[(0.1, 10_300_000), (0.7, 19_800_000), (0.2, 30_000_000)],
        );
        let delays = &mut run.totals.seen.connections.read_delay;
        (0..100).for_each(|_| delays.record(delay_ms * 1_000_000));
        run.series.iter_mut().for_each(|row| row.active_vus = 2);
        starve(&mut run, 0.4);
        let verdict = run.judge();
        let told = found(&verdict, Code::TooFewVus);
        assert_eq!(told.is_some(), is_told, "{}", verdict.headline);
    }
}
