//! A target with a queue, and times that only look like one.

use std::sync::Arc;

use loadline_metric::TimeTrend;
use loadline_model::heat::Heat;
use loadline_model::plan::OnExhausted;
use loadline_model::verdict::Limit;

use super::builder::{MS, Run, arrivals, constant_vus, found, percentiles, rate_ramp, vu_ramp};
use crate::verdict::Code;

/// Arrivals for which all virtual users are in use from the first second on; `answers` returns for a second the
/// service times of its responses in milliseconds, equally frequent, and their number.
fn all_in_use(answers: impl Fn(u64) -> (Vec<u64>, u64)) -> Run {
    let times = |second| {
        let (times, number) = answers(second);
        let mut trend = TimeTrend::new();
        let each = number / times.len() as u64;
        times.iter().for_each(|ms| trend.record_n(ms * MS, each));
        trend
    };
    let mut run = Run::new(arrivals(2_000, 12, 50), 12.0, 12_000, 10.0);
    run.totals.asked = Some(24_000);
    run.totals.active_vus_max = 50;
    run.totals.never_started = 12_000;
    run.totals.seen.answered_time = TimeTrend::new();
    (0..12).for_each(|second| run.totals.seen.answered_time.merge(&times(second)));
    run.seconds(12, |second, row| {
        let times = times(second);
        row.offered = Some(2_000);
        (row.started, row.completed, row.good) = (times.count(), times.count(), times.count());
        row.active_vus = 50;
        row.heat = Heat::of(&times);
    });
    run
}

#[test]
fn quick_answers_before_a_queue_stands_tell_it() {
    let filling = |second| match second {
        0 => (vec![20, 50, 50, 50, 55, 60, 80, 90], 1_000),
        _ => (vec![50, 50, 50, 50, 55, 60, 80, 90], 1_000),
    };
    let mut run = all_in_use(filling);
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target, "{}", verdict.headline);
}

/// Three users for a service that takes as long for each, and some errors that it answers at once.
#[test]
fn errors_that_come_at_once_are_not_the_fastest_responses() {
    for (wrong, limit) in [(6, Limit::Plan), (0, Limit::Target)] {
        let mut run = Run::new(arrivals(80, 8, 3), 8.0, 220, 100.0);
        run.totals.asked = Some(640);
        run.totals.active_vus_max = 3;
        run.totals.never_started = 420;
        run.answer(220, &[(0.03, MS), (0.97, 100 * MS)]);
        run.totals.seen.counts.good = 220 - wrong;
        run.series.iter_mut().for_each(|row| row.active_vus = 3);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

#[test]
fn times_far_from_the_fastest_leave_open_whose_they_are() {
    let times = vec![20, 50, 50, 50, 55, 60, 80, 90];
    // So many responses each second only come from something that serves them in turn.
    let even = all_in_use(|_| (times.clone(), 1_000)).judge();
    assert_eq!(even.limit, Limit::Target, "{}", even.headline);
    let mut run = all_in_use(|second| (times.clone(), 960 + second % 2 * 80));
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Unknown, "{}", verdict.headline);
    let few = found(&verdict, Code::TooFewVus).expect("virtual users were all in use");
    assert!(
        few.text
            .contains("do not show whether they waited in the target (the fastest took 20 ms"),
        "{}",
        few.text
    );
}

/// A peak: all virtual users wait while it lasts, each for its turn; before and after it responses are quick.
#[test]
fn a_queue_that_stands_for_a_while_is_one() {
    let peak = |second: u64| match (2..8).contains(&second) {
        true => (
            vec![240, 250, 250, 255, 255, 260, 260, 265],
            960 + second % 2 * 80,
        ),
        false => (vec![20, 20, 25, 30, 35, 40, 45, 50], 1_000),
    };
    let mut run = all_in_use(peak);
    for (second, row) in (0..).zip(&mut run.series) {
        row.active_vus = if (1..8).contains(&second) { 50 } else { 20 };
    }
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target, "{}", verdict.headline);
}

/// Three of ten requests miss a cache: they wait for a lock, or all take equally long.
#[test]
fn misses_that_wait_for_each_other_may_be_a_queue() {
    let limit_of = |misses: &[(f64, u64)]| {
        let mut run = Run::new(arrivals(100, 10, 20), 10.0, 660, 300.0);
        let hits = [(0.7, 5 * MS)];
        run.answer(660, &[&hits, misses].concat());
        run.totals.asked = Some(1_000);
        run.totals.never_started = 340;
        run.totals.active_vus_max = 20;
        run.judge().limit
    };
    let locked: Vec<(f64, u64)> = (1..=10).map(|step| (0.03, step * 60 * MS)).collect();
    assert_eq!(limit_of(&locked), Limit::Unknown);
    assert_eq!(limit_of(&[(0.3, 330 * MS)]), Limit::Plan);
}

/// Users who think between requests, more of them from second to second.
#[test]
fn users_who_only_wait_longer_have_found_the_targets_limit() {
    for (at_the_top, limit) in [(97, Limit::Target), (180, Limit::Plan)] {
        let mut run = Run::new(vu_ramp(60, 8), 8.0, 650, 180.0);
        run.plan.script = Some(Arc::default());
        let users = [18, 32, 46, 60, 60, 50, 37, 22];
        let ms = [41.0, 60.0, 180.0, 300.0, 400.0, 350.0, 300.0, 110.0];
        for (row, (users, ms)) in run.series.iter_mut().zip(users.into_iter().zip(ms)) {
            row.active_vus = users;
            row.good = if users > 50 { at_the_top } else { 95 };
            (row.started, row.completed) = (row.good, row.good);
            row.service_time_ns = percentiles(ms, ms + 40.0);
        }
        assert_eq!(run.judge().limit, limit);
    }
}

/// An event loop that a report blocks for most of each second: no second is quiet, and everything is answered in the end.
#[test]
fn responses_that_come_in_bunches_all_along_have_stalled() {
    for (least, limit) in [(2, Limit::Target), (50, Limit::Nobody)] {
        let mut run = Run::new(arrivals(180, 10, 500), 10.0, 1_800, 330.0);
        run.answer(1_800, &[(0.2, 3 * MS), (0.4, 330 * MS), (0.4, 700 * MS)]);
        for (number, row) in run.series.iter_mut().enumerate() {
            row.active_vus = least + 30 * (number as u64 % 4) * u64::from(least < 50);
            row.service_time_ns = percentiles(330.0, 750.0);
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let told = found(&verdict, Code::Pauses).map(|it| it.text.as_str());
        let text = "responses stalled again and again, and then came together: 2 to 92 requests were in flight";
        assert_eq!(told, (limit == Limit::Target).then_some(text));
    }
}

/// Half of the time is the path's, half the target's, and neither shows a queue: more users would find none.
#[test]
fn a_far_target_without_a_queue_lacks_users() {
    let mut run = Run::new(arrivals(100, 9, 5), 9.0, 90, 446.0);
    run.totals.asked = Some(900);
    run.totals.active_vus_max = 5;
    run.totals.never_started = 810;
    run.series.iter_mut().for_each(|row| row.active_vus = 5);
    let connections = &mut run.totals.seen.connections;
    connections.opened = 5;
    for _ in 0..5 {
        connections.connect.record(200 * MS);
        connections.min_rtt.record(200 * MS);
    }
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Plan, "{verdict:#?}");
    assert!(found(&verdict, Code::TooFewVus).is_some());
}

/// Two scenarios, of which one rises to more than the target's four connections to its store carry; the users of the other are
/// free all the time.
#[test]
fn a_ramp_that_gets_slower_and_no_further_has_found_the_target() {
    for (at_first_ms, limit) in [(22.0, Limit::Target), (450.0, Limit::Plan)] {
        let mut run = Run::new(rate_ramp(572, 8, 150), 8.0, 2_100, 450.0);
        run.totals.asked = Some(3_000);
        run.totals.active_vus_max = 300;
        run.totals.never_started = 900;
        let mut other = run.plan.scenarios[0].clone();
        "home".clone_into(&mut other.name);
        run.plan.scenarios.push(other);
        for (row, second) in run.series.iter_mut().zip(1_u32..) {
            let offered = 71 * u64::from(second);
            row.offered = Some(offered);
            (row.started, row.good) = (offered.min(290), offered.min(290));
            row.completed = row.good;
            row.active_vus = if offered > 290 { 300 } else { 5 };
            let median = if second > 6 { 450.0 } else { at_first_ms };
            row.service_time_ns = percentiles(median, median);
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{verdict:#?}");
    }
}

/// A single user waits for nobody, however few would have to.
#[test]
fn few_users_who_never_wait_for_each_other_are_too_few() {
    for (users, slow_ms, limit) in [
        (5, 44, Limit::Plan),
        (1, 44, Limit::Target),
        (5, 80, Limit::Target),
        (20, 44, Limit::Target),
    ] {
        let answered = 250 * u64::from(users);
        let mut run = Run::new(constant_vus(users, 10), 10.0, answered, 40.0);
        run.answer(answered, &[(0.6, 40 * MS), (0.4, slow_ms * MS)]);
        let verdict = run.judge();
        assert_eq!(
            verdict.limit, limit,
            "{users} {slow_ms} {}",
            verdict.headline
        );
    }
}

/// A burst of a second fills the queue, so that users are free in most of the others.
#[test]
fn a_burst_that_waits_for_the_target_until_the_end_has_found_it() {
    let mut run = Run::new(rate_ramp(450, 8, 400), 8.0, 1_140, 1_170.0);
    run.plan.script = Some(Arc::default());
    run.plan.scenarios[0].on_exhausted = OnExhausted::Drop;
    run.totals.asked = Some(1_290);
    run.totals.seen.counts.dropped = 150;
    run.totals.active_vus_max = 400;
    run.answer(
        1_140,
        &[(0.3, 61 * MS), (0.4, 1_170 * MS), (0.3, 2_400 * MS)],
    );
    for (row, offered) in run
        .series
        .iter_mut()
        .zip([60, 60, 60, 450, 450, 90, 60, 60])
    {
        row.offered = Some(offered);
        row.active_vus = if offered > 100 { 200 } else { 4 };
        (row.completed, row.good) = (offered.min(160), offered.min(160));
    }
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target, "{}", verdict.headline);
}

/// Users that rest between requests and meet a queue: the longest times are alike, as all of them wait in it.
#[test]
fn the_longest_times_of_a_queue_are_alike() {
    for (slow_ms, limit) in [(165, Limit::Target), (290, Limit::Plan)] {
        let mut run = Run::new(constant_vus(40, 8), 8.0, 1_200, 120.0);
        run.answer(
            1_200,
            &[
                (0.01, 7 * MS),
                (0.14, 35 * MS),
                (0.6, 117 * MS),
                (0.25, slow_ms * MS),
            ],
        );
        run.plan.script = Some(Arc::new(loadline_model::ScriptSettings::default()));
        for (number, row) in run.series.iter_mut().enumerate() {
            row.active_vus = 40;
            row.completed = if number % 2 == 0 { 140 } else { 160 };
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// Twenty users for a service that answers all requests at once, ten times a second or a little less often, or one after the
/// other.
#[test]
fn responses_in_rounds_did_not_wait_for_each_other() {
    let ticks = |second: u64| 200 - 20 * u64::from(second % 3 == 2);
    let in_turn = |second: u64| 200 - 7 * (second % 3);
    for (number, limit) in [
        (&ticks as &dyn Fn(u64) -> u64, Limit::Plan),
        (&in_turn, Limit::Target),
    ] {
        let mut run = Run::new(arrivals(400, 8, 20), 8.0, 1_560, 100.0);
        run.totals.asked = Some(3_200);
        run.totals.active_vus_max = 20;
        run.totals.never_started = 1_640;
        run.answer(1_560, &[(0.01, 20 * MS), (0.99, 100 * MS)]);
        run.seconds(8, |second, row| {
            let number = number(second);
            (row.started, row.completed, row.good) = (number, number, number);
            row.offered = Some(400);
            row.active_vus = 20;
        });
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}
