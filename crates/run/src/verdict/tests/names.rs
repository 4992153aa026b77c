//! Runs of several requests: which of them takes the time, and which fails.

use std::sync::Arc;

use loadline_metric::{HttpTimes, Measurements, SeriesPlan, TagSet};
use loadline_model::error_class::ErrorClass;
use loadline_model::test_summary::{CheckSummary, TestSummary};

use loadline_model::verdict::Limit;

use super::builder::{Run, codes, constant_vus, found, percentiles};
use crate::verdict::Code;

const MS: u64 = 1_000_000;

/// The requests of a script: name, number, milliseconds each, and number of failures.
pub(super) fn summary(requests: &[(&str, u64, u64, u64)]) -> Option<TestSummary> {
    let plan = SeriesPlan {
        by_tag: Some("name".to_owned()),
        ..SeriesPlan::default()
    };
    let mut seen = Measurements::new(&plan, Arc::default());
    for (name, count, ms, failed) in requests {
        let tags: TagSet = [("name", *name), ("status", "404")].into_iter().collect();
        let times = HttpTimes {
            waiting: ms * MS,
            ..HttpTimes::default()
        };
        for number in 0..*count {
            seen.record_http(&times, Some(number < *failed), 1, &tags);
        }
    }
    Some(TestSummary::of(&seen.take(), 1, Some("name"), &[]))
}

fn run(requests: &[(&str, u64, u64, u64)]) -> Run {
    let mut run = Run::new(constant_vus(10, 10), 10.0, 3_000, 100.0);
    run.plan.script = Some(Arc::default());
    run.summary = summary(requests);
    run
}

#[test]
fn the_slow_one_of_several_requests_is_named() {
    let verdict = run(&[
        ("/get", 1_000, 2, 0),
        ("/slow", 1_000, 300, 0),
        ("/uuid", 1_000, 2, 0),
    ])
    .judge();
    let slow = found(&verdict, Code::SlowRequest).expect("it takes nearly all of the time");
    assert_eq!(
        slow.text,
        "98.7 % of the time went to /slow, which is 33.3 % of the requests: 300 ms on average, the others 2 ms"
    );
    for even in [
        &[("/a", 1_000, 20, 0), ("/b", 1_000, 30, 0)][..],
        &[("/a", 3_000, 20, 0)],
        // Both take next to no time.
        &[("/a", 1_000, 1, 0), ("/b", 1_000, 4, 0)],
    ] {
        let verdict = run(even).judge();
        assert!(found(&verdict, Code::SlowRequest).is_none(), "{even:?}");
    }
}

#[test]
fn the_one_that_fails_is_named() {
    let verdict = run(&[("/a", 1_000, 20, 0), ("/gone", 1_000, 20, 1_000)]).judge();
    let failing = found(&verdict, Code::FailingRequest).expect("all failures are of one");
    assert_eq!(
        failing.text,
        "all of the failures come from /gone: 100 % of its requests failed"
    );
    for alike in [
        [("/a", 1_000, 20, 100), ("/b", 1_000, 20, 100)],
        // A few of many fail.
        [("/a", 1_000, 20, 0), ("/b", 1_000, 20, 5)],
    ] {
        let verdict = run(&alike).judge();
        assert!(found(&verdict, Code::FailingRequest).is_none(), "{alike:?}");
    }
}

#[test]
fn seconds_with_a_slow_request_among_others_are_no_pauses() {
    let unlike = |requests| {
        let mut run = run(requests);
        for (number, row) in run.series.iter_mut().enumerate() {
            if number % 3 == 0 {
                row.service_time_ns = percentiles(20.0, 400.0);
            }
        }
        run.judge()
    };
    let pauses = unlike(&[("/a", 1_000, 20, 0), ("/b", 1_000, 25, 0)]);
    assert!(
        found(&pauses, Code::Pauses).is_some(),
        "{:?}",
        codes(&pauses)
    );
    let known = unlike(&[("/a", 1_000, 20, 0), ("/report", 30, 400, 0)]);
    assert!(found(&known, Code::Pauses).is_none(), "{:?}", codes(&known));
}

/// Half of the responses reject the request as wrong; if all of them belong to one request, slightly fewer are
/// enough.
#[test]
fn a_request_that_always_fails_is_the_plans_mistake() {
    let limit_of = |requests, not_allowed| {
        let mut run = run(requests);
        let seen = &mut run.totals.seen;
        seen.counts.good -= not_allowed;
        *seen.statuses.row(200) -= not_allowed;
        *seen.statuses.row(401) += not_allowed;
        run.judge().limit
    };
    let one = [("/login", 1_600, 2, 0), ("/orders", 1_400, 5, 1_400)];
    assert_eq!(limit_of(&one, 1_400), Limit::Plan);
    let all_alike = [("/login", 1_600, 2, 700), ("/orders", 1_400, 5, 700)];
    assert_ne!(limit_of(&all_alike, 1_400), Limit::Plan);
}

/// A target that hangs in one request, or a link that drops packets as large as its response.
#[test]
fn one_request_that_is_never_answered_over_a_long_way_has_two_suspects() {
    let judged = |requests, round_trip_ns: u64, needless| {
        let mut run = run(requests);
        run.answer(250, &[(1.0, 12 * MS)]);
        run.fail(ErrorClass::Timeout, 250, 3_000 * MS);
        let connections = &mut run.totals.seen.connections;
        (0..20).for_each(|_| connections.min_rtt.record(round_trip_ns));
        connections.needless = needless;
        run.totals.seen.counts.bytes_received = 3_000;
        run.judge()
    };
    let limit_of = |requests, round_trip_ns| judged(requests, round_trip_ns, 2).limit;
    let one = [("/small", 250, 12, 0), ("/large", 250, 3_000, 250)];
    assert_eq!(limit_of(&one, 10 * MS), Limit::Unknown);
    assert_eq!(limit_of(&one, 20_000), Limit::Target);
    // A hanging target's kernel acknowledges before a request is sent again.
    let lost = judged(&one, 10 * MS, 20);
    assert_eq!(lost.limit, Limit::Network, "{}", lost.headline);
    let advice = found(&lost, Code::RequestsFailed).and_then(|it| it.advice.as_deref());
    assert!(advice.is_some_and(|it| it.starts_with("look for a link that drops large packets")));
    let both = [("/small", 250, 1_500, 125), ("/large", 250, 1_500, 125)];
    assert_eq!(limit_of(&both, 10 * MS), Limit::Target);
}

/// Three requests in turn, of which one is never answered: within its timeout, or until the run ends.
#[test]
fn one_request_that_hangs_is_not_the_death_of_the_target() {
    for times_out in [true, false] {
        let mut run = Run::new(constant_vus(10, 10), 10.0, 100, 5.0);
        run.requests(3);
        let seen = &mut run.totals.seen;
        for path in ["/a", "/b", "/hang"] {
            let tally = seen.requests.row(format!("GET http://127.0.0.1:80{path}"));
            if path != "/hang" {
                (tally.answered, tally.good) = (50, 50);
                tally.time.record_n(5 * MS, 50);
            } else if times_out {
                tally.failed = 45;
                (0..45).for_each(|_| tally.failed_time.record(2_000 * MS));
            } else {
                (0..10).for_each(|_| tally.cut_short_time.record(9_900 * MS));
            }
        }
        seen.counts.bytes_sent = 1;
        match times_out {
            true => run.fail(ErrorClass::Timeout, 45, 2_000 * MS),
            false => {
                let counts = &mut run.totals.seen.counts;
                (counts.started, counts.interrupted) = (110, 10);
            }
        }
        run.seconds(10, |second, row| {
            row.active_vus = 10;
            row.started = if second == 0 {
                90
            } else {
                u64::from(times_out) * 3
            };
            row.completed = if second == 0 {
                80
            } else {
                u64::from(times_out) * 2
            };
            row.good = row.completed;
        });
        let verdict = run.judge();
        assert_eq!(verdict.limit, Limit::Target, "{}", verdict.headline);
        assert!(found(&verdict, Code::TargetDied).is_none());
        assert!(verdict.headline.contains(" /hang "), "{}", verdict.headline);
        let hangs = found(&verdict, Code::FailingRequest).expect("it is named");
        assert!(
            hangs
                .text
                .starts_with("GET http://127.0.0.1:80/hang hangs: none of its "),
            "{}",
            hangs.text
        );
    }
}

/// A check may be made for each of several requests.
#[test]
fn the_request_whose_response_fails_the_checks_is_named() {
    let requests = [("/a", 1_000, 20, 0), ("/b", 1_000, 20, 0)];
    for (of_b, words) in [(400, "; all on /b"), (370, "; nearly all on /b"), (200, "")] {
        let mut run = run(&requests);
        let summary = run.summary.as_mut().expect("a script has one");
        summary.root.checks.push(CheckSummary {
            name: "has items".to_owned(),
            first_seen: 0,
            passes: 1_600,
            fails: 400,
        });
        let table = &mut run.totals.seen.failed_checks_of;
        *table.row("/b".to_owned()) += of_b;
        *table.row("/a".to_owned()) += 400 - of_b;
        let verdict = run.judge();
        let told = &found(&verdict, Code::ChecksFailed)
            .expect("it is told")
            .text;
        assert!(told.ends_with(&format!("400 of 2,000{words}")), "{told}");
    }
}
