//! Loads that were sent in full but not carried: responses that fall behind, or are wrong.

use std::sync::Arc;

use loadline_model::error_class::ErrorClass;
use loadline_model::verdict::{Delivery, Limit};

use super::builder::{MS, Run, arrivals, constant_vus, found, percentiles};
use super::names::summary;
use crate::verdict::Code;

/// A run with `per_second` responses per second, and at the end of each second the given number of requests in
/// flight.
fn piling(per_second: u64, under_way: impl Fn(u64) -> u64) -> Run {
    let mut run = Run::new(arrivals(200, 12, 400), 12.0, 2_400, 30.0);
    run.seconds(12, |second, row| {
        (row.started, row.completed) = (200, per_second);
        row.active_vus = under_way(second + 1);
    });
    run
}

#[test]
fn answers_that_fall_behind_from_beginning_to_end_are_not_delivered() {
    let verdict = piling(170, |second| 30 * second).judge();
    assert_eq!(verdict.limit, Limit::Target, "{verdict:#?}");
    assert_eq!(
        verdict.headline,
        "the offered load of 200/s was sent, but responses fell behind: 170/s at the end"
    );
}

#[test]
fn requests_that_always_take_long_do_not_pile_up() {
    for under_way in [|_| 180, |second| if second < 3 { 60 * second } else { 180 }] {
        let verdict = piling(200, under_way).judge();
        assert_eq!(verdict.limit, Limit::Nobody, "{verdict:#?}");
    }
}

/// One request in ten waits for a lock that carries half of them: the others go on, so that the pile is small.
#[test]
fn a_kind_of_responses_that_takes_longer_from_second_to_second_falls_behind() {
    for (slower_ms, limit) in [(500.0, Limit::Target), (0.0, Limit::Nobody)] {
        let mut run = Run::new(arrivals(600, 7, 500), 7.0, 4_200, 20.0);
        for (number, row) in (1_u32..).zip(&mut run.series) {
            row.active_vus = 25 * u64::from(number);
            row.completed = 575;
            row.service_time_ns = percentiles(20.0, 400.0 + slower_ms * f64::from(number));
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

#[test]
fn a_tenth_of_wrong_answers_is_somebodys() {
    // A target that accepts and rejects the very same request is not sure of itself.
    for (status, requests, limit) in [
        (403, 2, Limit::Plan),
        (403, 1, Limit::Target),
        (500, 2, Limit::Target),
    ] {
        let mut run = Run::new(arrivals(100, 10, 50), 10.0, 1_000, 5.0);
        run.requests(requests);
        run.totals.seen.counts.good = 800;
        *run.totals.seen.statuses.row(200) -= 200;
        *run.totals.seen.statuses.row(status) += 200;
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{status}: {verdict:#?}");
    }
}

#[test]
fn a_tenth_of_failures_is_in_the_way_of_users_who_think_too() {
    let mut run = Run::new(constant_vus(8, 10), 10.0, 800, 2.0);
    run.plan.script = Some(Arc::default());
    assert_eq!(run.judge().limit, Limit::Plan);
    run.fail(ErrorClass::Refused, 150, 1_000);
    assert_eq!(run.judge().limit, Limit::Target);
}

/// A fifth of the requests is in flight when the graceful stop is over.
#[test]
fn a_load_that_lacks_answers_has_a_limit() {
    for (cut, delivery, limit) in [
        (200, Delivery::FellShort, Limit::Target),
        (20, Delivery::Delivered, Limit::Nobody),
    ] {
        let mut run = Run::new(arrivals(100, 10, 500), 10.0, 1_000 - cut, 2_600.0);
        let counts = &mut run.totals.seen.counts;
        (counts.started, counts.interrupted) = (1_000, cut);
        run.totals.asked = Some(1_000);
        let verdict = run.judge();
        assert_eq!((verdict.delivery, verdict.limit), (delivery, limit));
    }
}

/// An event loop that blocks every few seconds, while arrivals find free users.
#[test]
fn a_load_that_was_carried_with_long_stalls_is_not_called_well() {
    for (part, stalled_ms, limit) in [
        (0.1, 700, Limit::Target),
        (0.1, 300, Limit::Nobody),
        (0.25, 300, Limit::Target),
    ] {
        let mut run = Run::new(arrivals(150, 9, 300), 9.0, 1_350, 20.0);
        run.answer(1_350, &[(1.0 - part, 20 * MS), (part, stalled_ms * MS)]);
        for (second, row) in run.series.iter_mut().enumerate() {
            let is_hit = second % 3 == 1;
            let worst = if is_hit { stalled_ms as f64 } else { 21.0 };
            row.service_time_ns = percentiles(20.0, worst);
        }
        run.metric(
            "service_time_ns",
            &[(20 * MS, 1_215), (stalled_ms * MS, 135)],
        );
        let verdict = run.judge();
        assert!(found(&verdict, Code::Pauses).is_some());
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let is_told = verdict.headline.contains("but responses stalled");
        assert_eq!(is_told, limit == Limit::Target);
    }
}

/// Keep-alive connections in an accept queue that is never emptied: others are served.
#[test]
fn users_that_are_kept_waiting_while_others_are_served_are_told() {
    for (kept, limit) in [(55, Limit::Target), (9, Limit::Nobody)] {
        let mut run = Run::new(arrivals(300, 7, 500), 7.0, 2_100, 30.0);
        run.answer(2_100, &[(0.974, 30 * MS), (0.026, 7_000 * MS)]);
        run.series.iter_mut().for_each(|row| row.active_vus = kept);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let is_told = verdict.headline.contains("but responses queued");
        assert_eq!(is_told, limit == Limit::Target, "{}", verdict.headline);
    }
}

/// One stop of a second and a half at the start: no second is empty, and a fifth of the users waited.
#[test]
fn one_stop_that_many_users_met_is_not_called_well() {
    for (in_flight, limit) in [([130, 206], Limit::Target), ([4, 3], Limit::Nobody)] {
        let mut run = Run::new(arrivals(200, 8, 400), 8.0, 1_600, 20.0);
        run.answer(1_600, &[(0.8, 20 * MS), (0.2, 1_050 * MS)]);
        for (second, row) in run.series.iter_mut().enumerate() {
            row.started = 200;
            row.active_vus = in_flight.get(second).copied().unwrap_or(4);
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let is_told = verdict.headline.contains("responses stalled");
        assert_eq!(is_told, limit == Limit::Target, "{}", verdict.headline);
    }
}

/// Fast requests beside a few slow ones that pile up: a pile of a hundredth of all arrivals is half of the slow
/// ones.
#[test]
fn a_pile_is_measured_by_the_requests_that_take_the_time() {
    for (slow, limit) in [(240, Limit::Target), (0, Limit::Nobody)] {
        let mut run = piling(195, |second| 4 * second);
        run.plan.script = Some(Arc::default());
        let mut other = run.plan.scenarios[0].clone();
        other.name = "other".to_owned();
        run.plan.scenarios.push(other);
        run.summary = summary(&[("/quick", 2_160, 1, 0), ("/slow", slow, 2_000, 0)]);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

#[test]
fn what_was_carried_at_first_and_got_slower_is_told_though_it_fell_short() {
    let slower = |carried: bool| {
        let mut run = Run::new(arrivals(100, 12, 20), 12.0, 839, 231.0);
        run.totals.asked = Some(1_200);
        run.totals.never_started = 361;
        for (number, row) in run.series.iter_mut().enumerate() {
            let is_slow = number >= 5;
            row.completed = if is_slow || !carried { 50 } else { 100 };
            row.waiting = if is_slow || !carried { 40 } else { 0 };
            row.service_time_ns = if is_slow {
                percentiles(400.0, 420.0)
            } else {
                percentiles(8.0, 9.0)
            };
        }
        let verdict = run.judge();
        found(&verdict, Code::Slowing).map(|finding| finding.text.clone())
    };
    assert_eq!(
        slower(true).as_deref(),
        Some("responses took longer from second 5 on: 8 ms at first, 400 ms at the end (medians)")
    );
    assert_eq!(slower(false), None, "a queue, told elsewhere");
}

#[test]
fn lateness_that_hardly_shows_beside_the_answers_is_not_told() {
    for (lag_ms, is_told) in [(2, false), (6, true), (15, true)] {
        let mut run = Run::new(arrivals(100, 10, 20), 10.0, 1_000, 20.0);
        run.metric("schedule_lag_ns", &[(50_000, 980), (lag_ms * MS, 20)]);
        let verdict = run.judge();
        assert_eq!(
            found(&verdict, Code::ScheduleLag).is_some(),
            is_told,
            "{lag_ms}"
        );
    }
}

/// One of three replicas takes 2.5 s from some second on. Requests that always do are answered late in the first seconds, too.
#[test]
fn a_part_of_the_responses_that_turns_slow_has_stalled() {
    for (from, limit) in [(5, Limit::Target), (2, Limit::Nobody)] {
        let mut run = Run::new(arrivals(120, 9, 500), 9.0, 1_080, 11.0);
        run.answer(1_080, &[(0.78, 11 * MS), (0.22, 2_510 * MS)]);
        for row in &mut run.series[from..] {
            row.service_time_ns = percentiles(11.0, 5_000.0);
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let told = found(&verdict, Code::Slowing).map(|it| it.text.as_str());
        let text = "from second 5 on, one in ten responses took 2.51 s or more";
        assert_eq!(told, (limit == Limit::Target).then_some(text));
    }
}

/// Half of the requests wait for what was lost on the way; nothing is sent twice to a target that is slow at times.
#[test]
fn losses_are_in_the_way_of_a_load_that_was_carried() {
    for (retransmits, limit) in [(200, Limit::Network), (4, Limit::Nobody)] {
        let mut run = Run::new(arrivals(60, 8, 40), 8.0, 480, 5.0);
        run.answer(480, &[(0.55, 5 * MS), (0.35, 220 * MS), (0.1, 1_400 * MS)]);
        let connections = &mut run.totals.seen.connections;
        connections.opened = 24;
        (0..24).for_each(|_| connections.min_rtt.record(4 * MS));
        connections.retransmits = retransmits;
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let is_told = verdict.headline.contains("but packets were lost");
        assert_eq!(is_told, limit == Limit::Network, "{}", verdict.headline);
    }
}

/// One of two replicas dies after four of ten seconds: what was missed at the end waited for virtual users, all of which
/// waited for the other replica.
#[test]
fn a_queue_that_uses_up_the_virtual_users_at_the_end_is_the_targets() {
    let limit_of = |free: u64| {
        let mut run = Run::new(arrivals(300, 10, 500), 10.0, 2_849, 900.0);
        run.answer(2_849, &[(0.4, 20 * MS), (0.3, 900 * MS), (0.3, 1_900 * MS)]);
        run.totals.asked = Some(3_000);
        run.totals.active_vus_max = 500;
        run.metric("response_time_ns", &[(990 * MS, 2_849)]);
        run.metric("service_time_ns", &[(900 * MS, 2_849)]);
        run.metric("schedule_lag_ns", &[(MS / 10, 2_300), (30 * MS, 200)]);
        run.seconds(10, |second, row| {
            row.offered = Some(300);
            row.active_vus = 7 + second.saturating_sub(3) * 100;
            if second > 7 {
                row.waiting = 151;
                row.active_vus = 500 - free;
            }
        });
        run.judge().limit
    };
    assert_eq!(limit_of(0), Limit::Target);
    assert_eq!(limit_of(100), Limit::Generator);
}

/// Forty users for 8 s, and 30 s in which a few requests hang.
#[test]
fn rates_are_those_of_the_schedule_if_the_run_only_waits_afterwards() {
    let judged = |late: u64| {
        let mut run = Run::new(constant_vus(40, 8), 38.0, 4_800 + late, 55.0);
        run.seconds(38, |second, row| {
            let each = match second {
                0..8 => 600,
                8 => late,
                _ => 0,
            };
            (row.started, row.completed, row.good) = (each, each, each);
            row.active_vus = if second < 8 { 40 } else { 7 };
        });
        run.judge().headline
    };
    let headline = judged(8);
    assert!(headline.starts_with("601/s good responses"), "{headline}");
    // What comes later is a part of what the target did.
    let headline = judged(3_800);
    assert!(headline.starts_with("226.3/s good responses"), "{headline}");
}
