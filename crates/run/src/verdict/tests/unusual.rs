//! Other things than responses that virtual users wait for: pauses, computation, responses that never come; and
//! changes of responses over time. The figures are those of staged runs.

use std::sync::Arc;
use std::time::Duration;

use loadline_model::error_class::ErrorClass;
use loadline_model::plan::OnExhausted;
use loadline_model::result::StopReason;
use loadline_model::verdict::{Delivery, Gravity, Limit};

use super::builder::{Run, arrivals, constant_vus, found, percentiles, shared, vu_ramp};
use crate::verdict::Code;

const MS: u64 = 1_000_000;

/// A script at 100/s with 10 virtual users whose iterations sleep 0.5 s and hold a request of 7.5 ms.
fn sleepers() -> Run {
    let mut run = Run::new(arrivals(100, 5, 10), 5.0, 100, 7.5);
    run.plan.script = Some(Arc::default());
    run.plan.scenarios[0].on_exhausted = OnExhausted::Drop;
    run.totals.asked = Some(500);
    run.totals.seen.counts.dropped = 400;
    run.totals.active_vus_max = 10;
    for row in &mut run.series {
        row.active_vus = 10;
        row.generator.busiest_worker = 0.06;
    }
    // Other processes on the machine: half of the time of such a short request is the generator's.
    run.metric("schedule_lag_ns", &[(200_000, 60), (4 * MS, 40)]);
    run.metric("response_time_ns", &[(8_500_000, 100)]);
    run
}

#[test]
fn virtual_users_that_sleep_are_held_by_the_plan_however_late_a_start_is() {
    let verdict = sleepers().judge();
    assert_eq!(
        (verdict.delivery, verdict.limit),
        (Delivery::FellShort, Limit::Plan)
    );
    let text = &found(&verdict, Code::TooFewVus).expect("told").text;
    assert!(
        text.contains("10 virtual users / 500 ms for an iteration = 20/s, and 20/s was reached; 100/s needs 50"),
        "{text}"
    );
    assert!(
        text.contains("they spent 98.5 % of their time between requests"),
        "{text}"
    );

    let mut computing = sleepers();
    let rows = computing.series.iter_mut();
    rows.for_each(|row| row.generator.busiest_worker = 0.8);
    assert_eq!(computing.judge().limit, Limit::Generator);
}

#[test]
fn a_ramp_of_a_script_is_judged_by_the_virtual_users_that_it_had() {
    // 4 workers of 20 ms: 180/s from 4 virtual users on, with 40 in the end.
    let mut run = Run::new(vu_ramp(40, 8), 8.0, 1_369, 120.0);
    run.plan.script = Some(Arc::default());
    run.seconds(8, |number, row| {
        row.active_vus = 5 * (number + 1);
        row.completed = if number == 0 { 105 } else { 177 };
        row.good = row.completed;
        row.service_time_ns = percentiles(30.0 * (number + 1) as f64, 35.0 * (number + 1) as f64);
    });
    assert_eq!(run.judge().limit, Limit::Target);
}

#[test]
fn a_target_that_takes_connections_and_stays_silent_is_the_limit() {
    let mut run = Run::new(constant_vus(5, 4), 9.0, 0, 0.0);
    run.totals.seen.counts.started = 5;
    run.totals.seen.counts.interrupted = 5;
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Unknown, "nothing could be sent");
    run.totals.seen.counts.bytes_sent = 5;
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target);
    let advice = found(&verdict, Code::NothingAnswered)
        .expect("told")
        .advice
        .as_deref();
    assert!(
        advice.is_some_and(|advice| advice.contains("hangs")),
        "{advice:?}"
    );
}

#[test]
fn virtual_users_that_never_got_an_answer_are_told() {
    let mut run = Run::new(constant_vus(20, 5), 10.0, 349, 7.3);
    run.plan.script = Some(Arc::default());
    run.totals.seen.counts.started += 20;
    run.totals.seen.counts.interrupted = 20;
    run.totals.seen.counts.bytes_sent = 20;
    run.seconds(10, |number, row| {
        row.active_vus = 20;
        row.started = if number == 0 { 369 } else { 0 };
        row.completed = if number == 0 { 349 } else { 0 };
        row.good = row.completed;
    });
    let verdict = run.judge();
    assert_eq!(
        verdict.limit,
        Limit::Target,
        "a script that sleeps would be the plan's"
    );
    assert_eq!(
        verdict.headline,
        "69.8/s of 73.8/s were good responses; 20 requests never got a response and held 20 VUs"
    );
    assert!(found(&verdict, Code::NeverAnswered).is_some());

    // Stopped manually after three seconds of silence, which may be its usual time.
    let mut soon = Run::new(constant_vus(20, 3), 3.0, 0, 20.0);
    soon.totals.seen.counts.started = 20;
    soon.totals.seen.counts.interrupted = 20;
    soon.totals.seen.counts.bytes_sent = 20;
    let advice = |run: &mut Run| {
        let told = found(&run.judge(), Code::NothingAnswered)?.advice.clone();
        Some(told?.contains("hangs"))
    };
    assert_eq!(advice(&mut soon), Some(true));
    soon.totals.stop = StopReason::Interrupted;
    assert_eq!(advice(&mut soon), Some(false));

    // Cut off at the end like any other: they had waited no longer than others.
    let mut cut = Run::new(constant_vus(20, 5), 5.0, 5_000, 20.0);
    cut.totals.seen.counts.started += 20;
    cut.totals.seen.counts.interrupted = 20;
    cut.totals.seen.counts.bytes_sent = 20;
    (0..20).for_each(|_| cut.totals.seen.connections.min_rtt.record(19 * MS));
    let verdict = cut.judge();
    assert_eq!(verdict.limit, Limit::Network);
    assert!(found(&verdict, Code::NeverAnswered).is_none());
}

/// 60/s for two seconds, and hardly any requests after that.
fn silence(busiest_worker: f64) -> Run {
    let mut run = Run::new(constant_vus(50, 6), 6.0, 118, 367.0);
    run.seconds(6, |number, row| {
        let each = if number < 2 { 60 } else { 1 };
        (row.started, row.completed, row.good) = (each, each, each);
        row.active_vus = 50;
        row.service_time_ns = percentiles(367.0, 700.0);
        row.generator.busiest_worker = busiest_worker;
    });
    run
}

/// As fast as the generator could for three seconds; after that one request per virtual user, which times out.
#[test]
fn a_target_that_dies_is_the_limit_whoever_was_it_before() {
    let mut run = Run::new(constant_vus(4, 6), 6.0, 60_000, 0.2);
    run.fail(ErrorClass::Timeout, 12, 1_000_000_000);
    run.seconds(6, |number, row| {
        let each = if number < 3 { 20_000 } else { 0 };
        (row.started, row.completed, row.good) = (each.max(4), each, each);
        row.active_vus = 4;
        row.generator.busiest_worker = if number < 3 { 1.0 } else { 0.0 };
    });
    let verdict = run.judge();
    assert!(found(&verdict, Code::TargetDied).is_some());
    assert_eq!(verdict.limit, Limit::Target);
    assert!(
        verdict
            .headline
            .ends_with("until the target stopped responding after 3 s"),
        "{}",
        verdict.headline
    );
}

#[test]
fn a_generator_that_computes_has_seen_nobody_die() {
    assert!(found(&silence(0.1).judge(), Code::TargetDied).is_some());
    assert!(found(&silence(0.9).judge(), Code::TargetDied).is_none());
}

#[test]
fn requests_that_are_not_even_acknowledged_are_lost_on_the_way() {
    let hangs = || {
        let mut run = Run::new(arrivals(50, 6, 100), 6.0, 100, 6.0);
        run.fail(ErrorClass::Timeout, 200, 1_000 * MS);
        (0..32).for_each(|_| run.totals.seen.connections.min_rtt.record(50_000));
        run
    };
    let verdict = hangs().judge();
    assert_eq!(verdict.limit, Limit::Target);
    assert!(found(&verdict, Code::Unacknowledged).is_none());
    let mut cut = hangs();
    cut.totals.seen.connections.unacknowledged = 30;
    let verdict = cut.judge();
    assert_eq!(verdict.limit, Limit::Network);
    let text = &found(&verdict, Code::Unacknowledged).expect("told").text;
    assert!(
        text.starts_with("of 32 connections sampled, 30 were still retransmitting"),
        "{text}"
    );
}

#[test]
fn answers_that_take_longer_once_all_users_wait_are_the_targets_queue() {
    // 20 ms for five seconds, then three times that, and 60 users wait.
    let mut run = Run::new(arrivals(250, 10, 60), 10.0, 2_500, 231.0);
    run.totals.seen.counts.started = 1_958;
    run.totals.active_vus_max = 60;
    run.answer(1_958, &[(0.5, 21 * MS), (0.5, 460 * MS)]);
    run.seconds(10, |number, row| {
        let is_slow = number >= 5;
        row.offered = Some(250);
        row.active_vus = if is_slow { 60 } else { 5 };
        row.service_time_ns = match is_slow {
            true => percentiles(460.0, 490.0),
            false => percentiles(21.0, 23.0),
        };
        (row.started, row.completed) = if is_slow { (130, 130) } else { (250, 250) };
        row.good = row.completed;
    });
    assert_eq!(run.judge().limit, Limit::Target);
}

#[test]
fn answers_that_take_longer_from_some_second_on_are_told() {
    let slower_from = |second| {
        let mut run = Run::new(arrivals(80, 10, 50), 10.0, 800, 30.0);
        run.seconds(10, |number, row| {
            row.offered = Some(80);
            (row.started, row.completed, row.good) = (80, 80, 80);
            let ms = if number >= second { 60.0 } else { 20.0 };
            row.service_time_ns = percentiles(ms, ms + 2.0);
        });
        let verdict = run.judge();
        found(&verdict, Code::Slowing).map(|finding| finding.text.clone())
    };
    assert_eq!(
        slower_from(5).as_deref(),
        Some("responses took longer from second 5 on: 20 ms at first, 60 ms at the end (medians)")
    );
    assert_eq!(slower_from(11), None);
}

#[test]
fn a_generator_that_is_stopped_sees_no_outage() {
    let mut run = Run::new(constant_vus(10, 7), 7.0, 2_720, 22.0);
    run.seconds(7, |number, row| {
        let each = if number == 3 { 10 } else { 450 };
        (row.started, row.completed, row.good) = (each, each, each);
        row.service_time_ns = percentiles(22.0, 24.0);
    });
    assert!(found(&run.judge(), Code::OutageSeen).is_some());
    // A stall of the fourth second may be recorded in the fifth.
    run.series[4].generator.stalled_ns = 960 * MS;
    let verdict = run.judge();
    assert!(found(&verdict, Code::OutageSeen).is_none());
    let text = &found(&verdict, Code::GeneratorStopped).expect("told").text;
    assert!(
        text.starts_with("the generator did not run for 960 ms"),
        "{text}"
    );
}

#[test]
fn iterations_that_throw_are_told() {
    let mut run = Run::new(constant_vus(10, 4), 4.0, 5_234, 7.6);
    run.plan.script = Some(Arc::default());
    let change = loadline_model::snapshot::ScenarioChange {
        iterations: 5_234,
        thrown: 5_234,
        ..Default::default()
    };
    let scenarios = &mut run.totals.seen.scenarios;
    scenarios.insert("default".into(), change);
    let verdict = run.judge();
    let text = &found(&verdict, Code::IterationsThrew).expect("told").text;
    assert!(
        text.starts_with("5,234 of 5,234 iterations ended with an uncaught exception"),
        "{text}"
    );
}

#[test]
fn threads_that_end_early_are_told() {
    let mut run = Run::new(constant_vus(10, 4), 1.0, 20, 7.6);
    let ended = &mut run.totals.seen.ended_threads;
    ended.out_of_data = 10;
    let verdict = run.judge();
    let told = found(&verdict, Code::ThreadsEnded).expect("told");
    assert_eq!(told.gravity, Gravity::Note);
    assert!(told.text.contains("no line left"), "{}", told.text);
    run.totals.seen.ended_threads.failed = 1;
    let verdict = run.judge();
    let told = found(&verdict, Code::ThreadsEnded).expect("told");
    assert_eq!(told.gravity, Gravity::Caution);
    assert!(told.text.contains("a sample failed"), "{}", told.text);
}

#[test]
fn a_target_that_turns_to_wrong_answers_has_not_died() {
    let mut run = Run::new(arrivals(50, 8, 50), 8.0, 400, 6.0);
    run.totals.seen.counts.good = 150;
    run.series[3..].iter_mut().for_each(|row| row.good = 0);
    let verdict = run.judge();
    let died = found(&verdict, Code::TargetDied).expect("told");
    assert!(
        died.text.ends_with("the responses after that were wrong"),
        "{}",
        died.text
    );
}

#[test]
fn failures_at_once_make_no_cold_start_of_what_was_before() {
    let mut run = Run::new(arrivals(50, 8, 50), 8.0, 150, 6.0);
    run.fail(ErrorClass::Refused, 250, 400_000);
    run.totals.asked = Some(400);
    for row in &mut run.series[3..] {
        (row.completed, row.good, row.failed) = (0, 0, 50);
        row.service_time_ns = percentiles(0.37, 0.5);
    }
    assert!(found(&run.judge(), Code::ColdStart).is_none());
}

#[test]
fn answers_that_get_slower_are_told() {
    let slower = |step: f64| {
        let mut run = Run::new(arrivals(100, 6, 200), 6.0, 600, 30.0);
        for (number, row) in run.series.iter_mut().enumerate() {
            row.service_time_ns = percentiles(5.0 + step * number as f64, 70.0);
        }
        run.judge()
    };
    let verdict = slower(10.0);
    let text = &found(&verdict, Code::Slowing).expect("told").text;
    assert!(text.contains("15 ms at first, 55 ms at the end"), "{text}");
    assert!(found(&slower(0.1), Code::Slowing).is_none());

    // After the end of the load, only the slow ones are left.
    let mut run = Run::new(constant_vus(10, 8), 8.0, 600, 30.0);
    for row in &mut run.series[..6] {
        row.service_time_ns = percentiles(5.0, 70.0);
    }
    for row in &mut run.series[6..] {
        row.started = 0;
        row.service_time_ns = percentiles(55.0, 70.0);
    }
    assert!(found(&run.judge(), Code::Slowing).is_none());
}

#[test]
fn small_answers_in_two_pieces_wait_for_an_acknowledgment() {
    let mut run = Run::new(constant_vus(5, 4), 4.0, 426, 47.0);
    run.totals.seen.counts.body_bytes = 2 * 426;
    run.totals.seen.phases.receiving.record(44 * MS);
    assert!(found(&run.judge(), Code::DelayedAck).is_some());
    run.totals.seen.counts.body_bytes = 100_000 * 426;
    assert!(
        found(&run.judge(), Code::DelayedAck).is_none(),
        "a large body takes its time"
    );
}

#[test]
fn requests_that_met_a_closed_connection_are_told() {
    let mut run = Run::new(constant_vus(5, 4), 4.0, 2_809, 7.0);
    run.totals.seen.counts.retried = 289;
    let verdict = run.judge();
    let text = &found(&verdict, Code::ClosedConnections).expect("told").text;
    assert!(text.starts_with("289 requests (10.3 %)"), "{text}");
}

/// A target that closes most connections without a response is the limit, also if most requests find another.
#[test]
fn requests_that_are_resent_all_the_time_are_cut_off_by_the_target() {
    for (retried, limit) in [(8_000, Limit::Target), (300, Limit::Network)] {
        let mut run = Run::new(constant_vus(100, 7), 7.0, 10_000, 22.0);
        run.fail(ErrorClass::Closed, 150, 20 * MS);
        run.totals.seen.counts.retried = retried;
        for _ in 0..100 {
            run.totals.seen.connections.min_rtt.record(20 * MS);
            run.totals.seen.connections.rtt.record(20 * MS);
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// The target did not close them.
#[test]
fn connections_that_are_given_up_are_told_with_their_reason() {
    let mut run = Run::new(arrivals(80, 5, 50), 5.0, 400, 7.0);
    run.totals.seen.connections.opened = 400;
    let text = |run: &mut Run| {
        let verdict = run.judge();
        let told = found(&verdict, Code::ClosedConnections).expect("told");
        told.text.clone()
    };
    run.totals.seen.connections.surplus = 400;
    assert_eq!(
        text(&mut run),
        "400 connections were given up because the target sent bytes on them that belong to no response"
    );
    run.totals.seen.connections.surplus = 0;
    run.totals.seen.connections.half_sent = 1;
    assert!(text(&mut run).contains("the target closes each"));
    run.totals.seen.connections.half_sent = 400;
    assert!(text(&mut run).contains("did not take the rest of the request"));
}

#[test]
fn connections_that_end_after_each_answer_are_told() {
    let mut run = Run::new(arrivals(80, 5, 50), 5.0, 400, 7.0);
    run.totals.active_vus_max = 2;
    run.totals.seen.connections.opened = 400;
    let told = |run: &mut Run| {
        let verdict = run.judge();
        found(&verdict, Code::ClosedConnections).map(|finding| finding.text.clone())
    };
    let text = told(&mut run).expect("they are to be kept");
    assert!(
        text.starts_with("400 connections were opened for 400 responses"),
        "{text}"
    );
    run.plan.client.keep_alive = false;
    assert_eq!(told(&mut run), None);
}

#[test]
fn requests_that_are_not_allowed_are_the_plans_mistake_whoever_is_busy() {
    let mut run = Run::new(constant_vus(12, 3), 3.0, 12_000, 2.7);
    run.totals.seen.counts.good = 0;
    run.totals.seen.statuses = loadline_model::bounded::Bounded::new(64);
    *run.totals.seen.statuses.row(401) += 12_000;
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Plan);
    assert_eq!(
        verdict.headline,
        "0 of 4,000/s were good responses, all have status 401"
    );
    // A plan may expect such responses.
    run.totals.seen.counts.good = 12_000;
    assert_ne!(run.judge().limit, Limit::Plan);
}

#[test]
fn a_delivered_load_with_refusals_is_not_called_delivered_and_well() {
    let mut run = Run::new(arrivals(100, 5, 50), 5.0, 500, 4.0);
    run.totals.seen.counts.good = 298;
    let statuses = &mut run.totals.seen.statuses;
    *statuses.row(200) = 298;
    *statuses.row(429) += 202;
    assert_eq!(
        run.judge().headline,
        "the load of 100/s was sent, but only 59.6/s got good responses (most others: status 429)"
    );
    // The last response came two seconds after the last arrival: the rate is still that of the load.
    let mut late = Run::new(arrivals(100, 5, 50), 7.0, 499, 4.0);
    late.totals.seen.counts.started = 500;
    late.totals.asked = Some(500);
    late.totals.seen.counts.failed[ErrorClass::Timeout.index()] = 1;
    assert_eq!(
        late.judge().headline,
        "the offered load was delivered: 99.8/s good responses of 100/s planned"
    );
}

#[test]
fn what_spoils_a_load_that_was_sent_is_named() {
    let sent = || Run::new(arrivals(100, 5, 50), 5.0, 500, 4.0);
    let failing = |class: ErrorClass, failed: u64| {
        let mut run = sent();
        let counts = &mut run.totals.seen.counts;
        (counts.good, counts.completed) = (500 - failed, 500 - failed);
        counts.failed[class.index()] = failed;
        run.judge().limit
    };
    assert_eq!(failing(ErrorClass::Truncated, 9), Limit::Nobody);
    assert_eq!(failing(ErrorClass::Truncated, 20), Limit::Target);
    // A few resets may come from anything in between.
    assert_eq!(failing(ErrorClass::ResetReading, 20), Limit::Unknown);
    assert_eq!(failing(ErrorClass::ResetReading, 100), Limit::Target);

    let wrong = |good: u64| {
        let mut run = sent();
        run.totals.seen.counts.good = good;
        run.judge().limit
    };
    assert_eq!(wrong(460), Limit::Nobody);
    assert_eq!(wrong(400), Limit::Target, "a fifth lacks what others hold");
    assert_eq!(wrong(0), Limit::Unknown, "the check may be the mistake");
}

#[test]
fn arrivals_wait_for_a_virtual_user_or_for_the_generator() {
    let mut run = Run::new(arrivals(20, 5, 50), 5.0, 100, 45.0);
    run.metric("response_time_ns", &[(140 * MS, 100)]);
    run.metric("schedule_lag_ns", &[(MS, 100)]);
    let text = |run: &mut Run| {
        let verdict = run.judge();
        found(&verdict, Code::ArrivalsWaited).map(|finding| finding.text.clone())
    };
    assert!(text(&mut run).is_some_and(|text| text.contains("for a free VU:")));
    run.metric("schedule_lag_ns", &[(50 * MS, 100)]);
    // That is told once, as the lag of the generator.
    assert_eq!(text(&mut run), None);
    assert!(found(&run.judge(), Code::ScheduleLag).is_some());
    run.plan.start_window = Duration::from_millis(100);
    assert!(text(&mut run).is_some_and(|text| text.contains("for the generator,")));
}

/// Everything started in the end, but most of it late: the target did not carry the planned rate.
#[test]
fn a_load_that_was_delivered_late_has_a_limit() {
    let judged = |waiting: u64| {
        let mut run = Run::new(arrivals(140, 10, 60), 10.0, 1_400, 400.0);
        run.totals.active_vus_max = 60;
        for row in &mut run.series {
            row.waiting = waiting;
            row.active_vus = 60;
        }
        run.series[9].waiting = 0;
        let slow = [(0.1, 40 * MS), (0.4, 300 * MS), (0.5, 610 * MS)];
        run.answer(1_400, &slow);
        run.judge()
    };
    let late = judged(70);
    assert_eq!(late.limit, Limit::Target, "{late:?}");
    assert_eq!(late.delivery, Delivery::FellShort);
    assert_eq!(
        late.headline,
        "140/s good responses of 140/s planned, but late: the target was the limit"
    );
    assert_eq!(judged(5).limit, Limit::Nobody);
}

/// Large bodies arrive over a long path in several flights, again on each new connection.
#[test]
fn the_flights_of_a_new_connection_are_the_networks() {
    let limit_of = |opened: u64| {
        let mut run = Run::new(constant_vus(5, 7), 7.0, 70, 620.0);
        let seen = &mut run.totals.seen;
        seen.counts.body_bytes = 70 * 300_000;
        seen.connections.opened = opened;
        (0..opened).for_each(|_| seen.connections.min_rtt.record(100 * MS));
        (0..70).for_each(|_| seen.phases.receiving.record(430 * MS));
        run.judge().limit
    };
    assert_eq!(limit_of(70), Limit::Network);
    assert_ne!(limit_of(5), Limit::Network);
}

#[test]
fn the_first_connection_of_each_virtual_user_is_no_short_lived_one() {
    let told = |opened: u64| {
        let mut run = Run::new(arrivals(30, 7, 50), 7.0, 210, 10.0);
        run.totals.active_vus_max = 2;
        run.totals.seen.connections.opened = opened;
        found(&run.judge(), Code::ClosedConnections).is_some()
    };
    assert!(!told(50));
    assert!(told(210));
}

/// Arrivals due while the process was stopped come all at once, more than there are virtual users.
#[test]
fn arrivals_that_a_stopped_generator_drops_are_its_own() {
    let limit_of = |stalled_ns: u64| {
        let mut run = Run::new(arrivals(50, 7, 20), 7.0, 320, 6.0);
        run.plan.script = Some(Arc::default());
        run.totals.asked = Some(351);
        run.totals.seen.counts.dropped = 31;
        run.totals.active_vus_max = 20;
        run.series[2].dropped = 31;
        run.series[2].generator.stalled_ns = stalled_ns;
        run.judge().limit
    };
    assert_eq!(limit_of(990 * MS), Limit::Generator);
    assert_eq!(limit_of(0), Limit::Plan);
}

/// Busy VUs are counted once a second: a shorter run only shows those that were left at its end.
#[test]
fn a_run_of_less_than_a_second_names_the_vus_that_were_asked_for() {
    let headline = |seconds: f64| {
        let answered = (seconds * 20_000.0) as u64;
        let mut run = Run::new(shared(10, answered), seconds, answered, 0.5);
        run.totals.active_vus_max = 2;
        run.judge().headline
    };
    for (seconds, vus) in [(0.05, "answered 10 VUs"), (5.0, "all that 2 VUs")] {
        let headline = headline(seconds);
        assert!(headline.contains(vus), "{headline}");
    }
}
