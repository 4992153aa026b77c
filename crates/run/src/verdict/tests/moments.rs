//! Loads that fall short in a few seconds of the run, and targets that fall silent at its end.

use loadline_metric::TimeTrend;
use loadline_model::error_class::ErrorClass;
use loadline_model::heat::Heat;
use loadline_model::verdict::{Limit, Verdict};

use super::builder::{MS, Run, arrivals, constant_vus, found, percentiles};
use crate::verdict::Code;

/// 20 s, of which some ask for 500/s instead of 50/s and get 120/s, 380/s having been dropped.
fn spike(is_in_it: impl Fn(u64) -> bool) -> Verdict {
    let spike = (0..20).filter(|second| is_in_it(*second)).count() as u64;
    let (asked, got) = (
        500 * spike + 50 * (20 - spike),
        120 * spike + 50 * (20 - spike),
    );
    let mut run = Run::new(arrivals(asked / 20, 20, 60), 20.0, got, 300.0);
    run.totals.asked = Some(asked);
    run.totals.active_vus_max = 60;
    let seen = &mut run.totals.seen;
    seen.counts.dropped = asked - got;
    let part = (120 * spike) as f64 / got as f64;
    run.answer(got, &[(1.0 - part, 20 * MS), (part, 500 * MS)]);
    run.totals.seen.counts.dropped = asked - got;
    run.seconds(20, |second, row| {
        let (offered, done, vus, ms) = match is_in_it(second) {
            true => (500, 120, 60, 500.0),
            false => (50, 50, 1, 20.0),
        };
        row.offered = Some(offered);
        (row.started, row.completed, row.good) = (done, done, done);
        row.dropped = offered - done;
        row.active_vus = vus;
        row.service_time_ns = percentiles(ms, ms * 1.1);
    });
    run.judge()
}

#[test]
fn a_spike_is_told_with_its_seconds_and_its_figures() {
    let verdict = spike(|second| (8..12).contains(&second));
    assert!(
        verdict
            .headline
            .starts_with("from 8 s to 12 s asked for 500/s, got 120/s good responses: "),
        "{}",
        verdict.headline
    );
    let apart = spike(|second| second % 5 == 3);
    assert!(
        apart.headline.starts_with("in 4 of 20 s asked for 500/s"),
        "{}",
        apart.headline
    );
    let rest = spike(|second| second >= 12);
    assert!(rest.headline.starts_with("asked for "), "{}", rest.headline);
    let whole = spike(|_| true);
    assert!(
        whole.headline.starts_with("asked for 500/s, got 120/s"),
        "{}",
        whole.headline
    );
}

#[test]
fn failures_of_a_moment_are_told_with_its_seconds() {
    let mut run = Run::new(arrivals(100, 20, 200), 20.0, 2_000, 5.0);
    run.totals.seen.counts.good = 1_760;
    *run.totals.seen.statuses.row(200) -= 240;
    *run.totals.seen.statuses.row(503) += 240;
    for row in &mut run.series[6..10] {
        row.good = 40;
    }
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target);
    assert_eq!(
        verdict.headline,
        "the load of 100/s was sent, but from 6 s to 10 s only 40/s of 100/s were good responses"
    );
}

/// The load is sent in time; what it finds is a queue.
#[test]
fn a_queue_of_a_moment_is_told_with_its_seconds() {
    let mut run = Run::new(arrivals(100, 20, 1_000), 20.0, 2_000, 5.0);
    run.answer(2_000, &[(0.7, 5 * MS), (0.3, 1_500 * MS)]);
    let heat = |ns: u64| {
        let mut times = TimeTrend::default();
        times.record_n(ns, 100);
        Heat::of(&times)
    };
    for (second, row) in run.series.iter_mut().enumerate() {
        let is_in_it = (8..14).contains(&second);
        row.heat = heat(if is_in_it { 1_500 * MS } else { 5 * MS });
        row.active_vus = if is_in_it { 150 } else { 1 };
        row.service_time_ns = percentiles(if is_in_it { 1_500.0 } else { 5.0 }, 1_600.0);
    }
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target, "{}", verdict.headline);
    assert!(
        verdict
            .headline
            .contains("queued from 8 s to 14 s: 100/s good responses of 100/s sent")
            || verdict.headline.contains("stalled"),
        "{}",
        verdict.headline
    );
}

/// 100/s of 60 s, nothing from second 55 on; 500 requests are in flight when the load ends.
#[test]
fn a_target_that_falls_silent_at_the_end_is_no_delivery() {
    let mut run = Run::new(arrivals(100, 60, 3_000), 60.0, 5_500, 5.0);
    run.totals.asked = Some(6_000);
    let seen = &mut run.totals.seen;
    (seen.counts.started, seen.counts.interrupted) = (6_000, 500);
    for waited in 0..500 {
        seen.cut_short_time.record(waited * 10 * MS);
    }
    seen.counts.bytes_sent = 1;
    run.seconds(60, |second, row| {
        row.offered = Some(100);
        row.started = 100;
        row.active_vus = 1;
        row.service_time_ns = percentiles(5.0, 6.0);
        (row.completed, row.good) = (100, 100);
        if second >= 55 {
            row.service_time_ns = None;
            (row.completed, row.good) = (0, 0);
            row.active_vus = 100 * (second - 54);
        }
    });
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target, "{}", verdict.headline);
    assert!(
        verdict
            .headline
            .ends_with("until the target stopped responding after 55 s"),
        "{}",
        verdict.headline
    );
    assert!(found(&verdict, Code::NeverAnswered).is_some());
}

/// One of four replicas hangs in the last seconds: a quarter of the users wait for it, the others go on.
#[test]
fn users_that_wait_far_longer_than_usual_at_the_end_are_told() {
    for (waited_ms, told) in [(5_000, true), (20, false)] {
        let mut run = Run::new(constant_vus(20, 20), 20.0, 30_000, 10.0);
        let seen = &mut run.totals.seen;
        (seen.counts.started, seen.counts.interrupted) = (30_005, 5);
        (0..5).for_each(|_| seen.cut_short_time.record(waited_ms * MS));
        let verdict = run.judge();
        let text = found(&verdict, Code::NeverAnswered).map(|it| it.text.as_str());
        let words = "5 of 20 virtual users still waited for a response when the load ended, far longer than usual, while others were served";
        assert_eq!(text, told.then_some(words));
    }
}

/// Requests of an open load that one of several replicas keeps.
#[test]
fn a_few_requests_that_wait_far_longer_than_usual_at_the_end_are_told() {
    for (left, told) in [(12, true), (2, false)] {
        let mut run = Run::new(arrivals(100, 16, 1_000), 20.0, 1_600, 8.0);
        run.answer(1_600 - left, &[(1.0, 8 * MS)]);
        let seen = &mut run.totals.seen;
        (seen.counts.started, seen.counts.interrupted) = (1_600, left);
        (0..left).for_each(|_| seen.cut_short_time.record(4_000 * MS));
        let verdict = run.judge();
        assert_eq!(verdict.limit, Limit::Nobody, "{}", verdict.headline);
        let text = found(&verdict, Code::NeverAnswered).map(|it| it.text.as_str());
        let words =
            "12 requests still waited for a response when the run ended, far longer than usual";
        assert_eq!(text, told.then_some(words));
    }
}

/// Ten users over a path of 40 ms; all in all, network and target take about as much.
fn far() -> Run {
    let mut run = Run::new(constant_vus(10, 16), 16.0, 1_940, 82.5);
    let seen = &mut run.totals.seen;
    seen.peers.row("10.0.0.2:80".to_owned()).answered = 1_940;
    seen.connections.opened = 10;
    for _ in 0..10 {
        seen.connections.connect.record(40 * MS);
        seen.connections.min_rtt.record(40 * MS);
        seen.connections.rtt.record(44 * MS);
    }
    run.series.iter_mut().for_each(|row| row.active_vus = 10);
    run
}

#[test]
fn a_target_that_slows_down_at_once_is_named_beside_a_long_path() {
    for (after_ms, limit) in [(105.0, Limit::Target), (83.0, Limit::Unknown)] {
        let mut run = far();
        for (second, row) in run.series.iter_mut().enumerate() {
            let (ms, each) = match second < 7 {
                true => (62.0, 160),
                false => (after_ms, (10_000.0 / after_ms) as u64),
            };
            row.service_time_ns = percentiles(ms, ms + 5.0);
            (row.started, row.completed, row.good) = (each, each, each);
        }
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        let words = ", the target slowed down after 7 s: 62 ms, then 105 ms";
        assert_eq!(
            verdict.headline.ends_with(words),
            limit == Limit::Target,
            "{}",
            verdict.headline
        );
    }
}

/// For two seconds connections are refused, as while a service is replaced.
#[test]
fn a_target_that_was_away_is_named_beside_a_long_path() {
    let mut run = far();
    run.fail(ErrorClass::Refused, 500, 40 * MS);
    for row in &mut run.series[6..8] {
        (row.started, row.completed, row.good, row.failed) = (250, 0, 0, 250);
        row.service_time_ns = percentiles(40.0, 41.0);
    }
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target, "{}", verdict.headline);
    assert!(
        verdict
            .headline
            .ends_with(", the target was not there from 6 s to 8 s (refused)"),
        "{}",
        verdict.headline
    );
}

/// A rate that varies because the target was away does not become even in a longer run.
#[test]
fn a_rate_is_not_called_uncertain_without_its_cause() {
    for (is_away, advice) in [
        (true, "what changed it is named above"),
        (false, "run longer"),
    ] {
        let mut run = Run::new(constant_vus(10, 20), 20.0, 16_000, 10.0);
        for (second, row) in run.series.iter_mut().enumerate() {
            let completed = match is_away {
                true if (8..12).contains(&second) => 0,
                true => 1_000,
                false => 400 + 400 * (second as u64 % 3),
            };
            (row.started, row.completed, row.good) = (completed, completed, completed);
            row.active_vus = 10;
        }
        let verdict = run.judge();
        let uncertain = found(&verdict, Code::RateUncertain).expect("told");
        let told = uncertain.advice.clone().unwrap_or_default();
        assert!(told.contains(advice), "{told}: {:?}", verdict.findings);
    }
}
