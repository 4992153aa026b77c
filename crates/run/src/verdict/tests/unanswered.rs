//! Requests that never get a response or a connection, and responses that wait for each other.

use loadline_model::error_class::ErrorClass;
use loadline_model::verdict::Limit;

use super::builder::{MS, Run, arrivals, constant_vus, found, percentiles};
use crate::verdict::Code;

/// 600 requests in 10 s, of which the last ones never get a response, and 5 s of graceful stop.
fn left_behind(unanswered: u64) -> Run {
    let mut run = Run::new(arrivals(60, 10, 30), 15.0, 600, 5.0);
    run.answer(600 - unanswered, &[(1.0, 5 * MS)]);
    let counts = &mut run.totals.seen.counts;
    (counts.started, counts.interrupted) = (600, unanswered);
    run
}

#[test]
fn a_load_that_is_sent_and_not_answered_is_the_targets() {
    let verdict = left_behind(20).judge();
    assert_eq!(verdict.limit, Limit::Target, "{}", verdict.headline);
    let told = found(&verdict, Code::NeverAnswered).expect("they are told");
    assert!(
        told.text.starts_with(
            "20 requests were still waiting for a response after 5 s or more when the run ended"
        ),
        "{}",
        told.text
    );
    assert_eq!(left_behind(5).judge().limit, Limit::Nobody);
}

/// Large responses over a long path, with some bytes arriving each second.
#[test]
fn responses_that_never_end_may_be_carried_slowly() {
    // With packets queueing on the path, it is not the target that sends slowly.
    let cases = [
        (40_000, 20, Limit::Unknown),
        (40_000, 200, Limit::Network),
        (0, 20, Limit::Target),
    ];
    for (bytes, smoothed_ms, limit) in cases {
        let mut run = left_behind(200);
        let connections = &mut run.totals.seen.connections;
        for _ in 0..30 {
            connections.min_rtt.record(20 * MS);
            connections.rtt.record(smoothed_ms * MS);
        }
        run.series
            .iter_mut()
            .for_each(|row| row.bytes_received = bytes);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// Nothing shows whether the target or something before it accepts no more connections, except failures on the
/// network path.
#[test]
fn requests_that_wait_for_a_connection_do_not_tell_that_the_target_hangs() {
    let judged = |unreachable: u64| {
        let mut run = left_behind(200);
        if unreachable > 0 {
            run.fail(ErrorClass::Unreachable, unreachable, MS);
        }
        let connections = &mut run.totals.seen.connections;
        (connections.opened, connections.failed) = (400, 200 + unreachable);
        run.totals.seen.counts.bytes_sent = 1;
        run.judge()
    };
    let silent = judged(0);
    assert_eq!(silent.limit, Limit::Unknown, "{}", silent.headline);
    let told = found(&silent, Code::NeverAnswered).expect("they are told");
    assert!(
        told.text.contains("waiting for a connection"),
        "{}",
        told.text
    );
    assert_eq!(judged(3).limit, Limit::Network);
}

/// SYNs that are lost on a short path: with a full accept queue, accepted connections wait too.
#[test]
fn connections_that_are_let_in_late_and_answered_at_once_leave_the_limit_open() {
    let limit_of = |waiting_ms: u64| {
        let mut run = Run::new(constant_vus(12, 10), 10.0, 60, 2_100.0);
        let seen = &mut run.totals.seen;
        seen.connections.opened = 60;
        seen.connections.retransmits = 100;
        for n in 0..60 {
            seen.connections
                .connect
                .record(if n == 0 { 100_000 } else { 2_000 * MS });
            seen.connections.min_rtt.record(10_000);
            seen.phases
                .waiting
                .record(if n == 0 { 5 * MS } else { waiting_ms * MS });
        }
        run.judge().limit
    };
    assert_eq!(limit_of(6), Limit::Unknown);
    // Others were ahead of them in a short queue, or the target was always busy.
    assert_eq!(limit_of(20), Limit::Target);
    assert_eq!(limit_of(600), Limit::Target);
}

#[test]
fn connections_that_wait_to_be_accepted_are_no_want_of_virtual_users() {
    // One connection per request and an accept queue of one: one SYN in three is retransmitted.
    let mut run = Run::new(arrivals(150, 5, 100), 10.0, 737, 400.0);
    run.answer(737, &[(0.5, 14 * MS), (0.3, 100 * MS), (0.2, 1_800 * MS)]);
    run.totals.asked = Some(750);
    run.totals.never_started = 26;
    run.totals.active_vus_max = 100;
    run.totals.seen.phases.blocked.record(240_000 * MS);
    let connections = &mut run.totals.seen.connections;
    connections.opened = 737;
    connections.retransmits = 321;
    [97_000, 4_100 * MS]
        .into_iter()
        .for_each(|ns| connections.connect.record(ns));
    assert_eq!(run.judge().limit, Limit::Target);
    run.answer(737, &[(1.0, 400 * MS)]);
    assert_eq!(run.judge().limit, Limit::Target);
    run.totals.seen.connections.opened = 100;
    run.totals.seen.connections.retransmits = 0;
    assert_eq!(run.judge().limit, Limit::Plan);
}

/// Arrivals that find no free virtual user while a few responses, or all at once, take long.
fn dropped(times: &[(f64, u64)], in_use: impl Fn(u64) -> u64) -> Limit {
    let mut run = Run::new(arrivals(80, 10, 40), 10.0, 600, 400.0);
    run.answer(600, times);
    run.totals.asked = Some(800);
    run.totals.active_vus_max = 40;
    run.totals.seen.counts.dropped = 200;
    for (second, row) in (0..).zip(&mut run.series) {
        row.active_vus = in_use(second);
        row.service_time_ns = percentiles(400.0, 450.0);
    }
    run.judge().limit
}

#[test]
fn answers_that_come_in_bunches_wait_for_one_thing() {
    let varied = [(0.2, 20 * MS), (0.3, 300 * MS), (0.5, 490 * MS)];
    assert_eq!(dropped(&varied, |second| 40 * (second % 2)), Limit::Target);
    // If the same number is in use all the time, each may take its own time.
    assert_eq!(dropped(&varied, |second| 40 - second % 3), Limit::Unknown);
    let alike = [(0.2, 300 * MS), (0.3, 400 * MS), (0.5, 490 * MS)];
    assert_eq!(dropped(&alike, |_| 40), Limit::Plan);
}

/// A burst in a second or two, perhaps due to missing CPU time, does not show that the script's pauses hold its
/// users.
#[test]
fn drops_of_a_moment_are_not_the_scripts_pauses() {
    let limit_of = |seconds_with_drops: usize| {
        let mut run = Run::new(arrivals(800, 8, 30), 8.0, 5_500, 1.4);
        run.answer(5_500, &[(0.9, 80_000), (0.1, 14 * MS)]);
        run.plan.script = Some(std::sync::Arc::default());
        run.totals.asked = Some(5_600);
        run.totals.active_vus_max = 30;
        run.totals.seen.counts.dropped = 76;
        for row in &mut run.series[..seconds_with_drops] {
            row.dropped = 76 / seconds_with_drops as u64;
        }
        run.series.iter_mut().for_each(|row| row.active_vus = 8);
        run.judge().limit
    };
    assert_ne!(limit_of(2), Limit::Plan);
    assert_eq!(limit_of(8), Limit::Plan);
}

#[test]
fn a_few_answers_that_hold_the_virtual_users_are_the_targets() {
    let few = [(0.96, 50 * MS), (0.04, 9_000 * MS)];
    assert_eq!(dropped(&few, |_| 40), Limit::Target);
    // Slow by nature, for every client.
    let some = [(0.94, 11 * MS), (0.06, 2_000 * MS)];
    assert_eq!(dropped(&some, |_| 40), Limit::Plan);
    let alike = [(0.5, 380 * MS), (0.5, 420 * MS)];
    assert_eq!(dropped(&alike, |_| 40), Limit::Plan);
}

/// Workers that wait for a pipe that nobody reads send no requests.
#[test]
fn what_sinks_hold_up_is_no_death_of_the_target() {
    let judged = |back_pressure_ns: u64| {
        let mut run = Run::new(constant_vus(20, 9), 9.0, 37_000, 1.5);
        run.totals.seen.back_pressure_ns = back_pressure_ns;
        for row in &mut run.series[3..] {
            (row.started, row.completed, row.good) = (10, 10, 10);
            row.active_vus = 20;
        }
        run.judge()
    };
    let held = judged(7_000 * MS);
    assert_eq!(held.limit, Limit::Generator, "{}", held.headline);
    assert!(found(&held, Code::TargetDied).is_none());
    assert!(found(&judged(0), Code::TargetDied).is_some());
    // They only waited from then on.
    assert!(found(&judged(4_000 * MS), Code::TargetDied).is_none());
}

/// Eight workers that each keep one connection: the other users wait until the load ends.
#[test]
fn users_that_are_not_served_during_the_load_are_told() {
    for (kept, told) in [(22, true), (0, false), (30, false)] {
        let mut run = Run::new(constant_vus(30, 6), 6.0, 815, 60.0);
        let part = f64::from(kept) / 815.0;
        run.answer(815, &[(1.0 - part, 59 * MS), (part, 6_050 * MS)]);
        run.totals.active_vus_max = 30;
        let verdict = run.judge();
        let is_told = found(&verdict, Code::NeverAnswered).is_some();
        assert_eq!(is_told, told, "{}", verdict.headline);
        assert_eq!(
            verdict.headline.contains("8 of 30 VUs"),
            told,
            "{}",
            verdict.headline
        );
    }
}
