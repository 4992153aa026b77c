//! Responses of more than one kind: by times, by bodies, by origin.

use std::sync::Arc;
use std::time::Duration;

use loadline_metric::{Measurements, SeriesPlan, TagSet};
use loadline_model::test_summary::TestSummary;
use loadline_model::verdict::{Gravity, Limit};

use super::builder::{Run, arrivals, constant_vus, found, rate_ramp};
use crate::verdict::Code;

const MS: u64 = 1_000_000;

fn run() -> Run {
    let mut run = Run::new(constant_vus(10, 10), 10.0, 1_000, 20.0);
    run.method("GET");
    run
}

/// The finding for such times, each with its share.
fn of_times(times: &[(f64, u64)], connections: u64) -> Option<String> {
    let mut run = run();
    run.answer(1_000, times);
    run.totals.seen.connections.opened = connections;
    let verdict = run.judge();
    found(&verdict, Code::Spikes).map(|finding| finding.text.clone())
}

#[test]
fn two_kinds_of_answers_are_told_where_nothing_lies_between() {
    let halves = of_times(&[(0.5, 11 * MS), (0.5, 511 * MS)], 10).expect("two kinds");
    assert!(
        halves.starts_with("service times fall into two groups: 50 % within 11"),
        "{halves}"
    );
    let fifth = of_times(&[(0.8, 5 * MS), (0.2, 300 * MS)], 200).expect("two kinds");
    assert!(
        fifth.contains("as many slow ones as connections"),
        "{fifth}"
    );
    let spread: Vec<(f64, u64)> = (1..=100).map(|ms| (0.01, ms * MS)).collect();
    assert_eq!(of_times(&spread, 10), None, "no gap");
}

#[test]
fn two_kinds_of_few_answers_are_told_if_both_are_many() {
    let of = |answered, part: f64| {
        let mut run = run();
        run.answer(answered, &[(1.0 - part, 20 * MS), (part, 900 * MS)]);
        found(&run.judge(), Code::Spikes).map(|finding| finding.text.clone())
    };
    let halves = of(40, 0.5).expect("two kinds");
    assert!(
        halves.starts_with("service times fall into two groups"),
        "{halves}"
    );
    assert_eq!(of(40, 0.1), None, "four of forty may be chance");
    assert_eq!(of(20, 0.5), None, "too few");
}

#[test]
fn a_long_tail_is_told_by_its_share() {
    let mut times = vec![(0.7, 6 * MS)];
    times.extend((1..=30).map(|step| (0.01, (6 + 5 * step) * MS)));
    let tail = of_times(&times, 10).expect("a tenth waits");
    assert!(tail.starts_with("one in 10 responses took 1"), "{tail}");
    assert!(tail.contains("the median was 6"), "{tail}");
}

#[test]
fn answers_without_a_byte_are_told() {
    let mut all = run();
    let verdict = all.judge();
    let hollow = found(&verdict, Code::HollowAnswers).expect("nothing was received");
    assert_eq!(
        hollow.text,
        "every one of 1,000 responses had an empty body"
    );
    all.totals.seen.counts.body_bytes = 20_000;
    assert!(found(&all.judge(), Code::HollowAnswers).is_none());

    let mut some = run();
    some.totals.seen.counts.body_bytes = 20_000;
    some.some_bodies(600, &[r#"{"id":17}"#]);
    some.some_bodies(400, &[""]);
    let verdict = some.judge();
    let mixed = found(&verdict, Code::MixedAnswers).expect("four of ten");
    assert!(
        mixed.text.starts_with("40.0 % of the 2xx responses"),
        "{}",
        mixed.text
    );
}

#[test]
fn bare_answers_alone_are_told_with_care() {
    let mut run = run();
    run.totals.seen.counts.body_bytes = 2_000;
    run.some_bodies(1_000, &["{}"; 5]);
    let verdict = run.judge();
    let hollow = found(&verdict, Code::HollowAnswers).expect("nothing is in them");
    assert_eq!(hollow.gravity, Gravity::Caution);
    assert!(
        hollow
            .text
            .ends_with("without content (1,000 responses with status 200): {}"),
        "{}",
        hollow.text
    );
}

#[test]
fn redirects_that_were_followed_are_told() {
    let mut run = run();
    run.totals.seen.counts.body_bytes = 20_000;
    run.totals.seen.counts.redirects = 100;
    assert!(found(&run.judge(), Code::Redirected).is_none());
    run.totals.seen.counts.redirects = 1_000;
    let verdict = run.judge();
    let redirected =
        found(&verdict, Code::Redirected).expect("each response is of another address");
    assert!(
        redirected
            .text
            .starts_with("1,000 redirects (1.0 per other response)"),
        "{}",
        redirected.text
    );
}

/// Of 200 results of two checks, `failed` of one check fail.
fn with_failed_checks(mut run: Run, failed: u64) -> Run {
    let mut seen = Measurements::new(&SeriesPlan::default(), Arc::default());
    for number in 0..100 {
        let paid: TagSet = [("check", "paid"), ("group", "::cart")]
            .into_iter()
            .collect();
        seen.check(number >= failed, number, &paid);
        seen.check(true, number, &TagSet::new().with("check", "is there"));
    }
    run.plan.script = Some(Arc::default());
    run.summary = Some(TestSummary::of(&seen.take(), 1, None, &[]));
    run
}

#[test]
fn errors_in_answers_that_a_script_checks_are_the_targets() {
    let judged = |bodies: &[&str]| {
        let mut run = Run::new(arrivals(60, 10, 40), 10.0, 600, 100.0);
        run.totals.asked = Some(600);
        run.bodies(bodies);
        with_failed_checks(run, 80).judge()
    };
    let verdict = judged(&[r#"{"ok":true,"n":1}"#, r#"{"error":"pool timeout"}"#]);
    assert_eq!(verdict.limit, Limit::Target);
    assert_eq!(
        verdict.headline,
        "the load of 60 iterations/s was sent, but 40.0 % of the checks failed"
    );
    // If something else fails the check, it may be anybody's fault.
    assert_eq!(judged(&[r#"{"ok":true,"n":1}"#]).limit, Limit::Nobody);
}

#[test]
fn checks_that_mostly_fail_may_be_the_plans_mistake() {
    let mut run = Run::new(arrivals(60, 10, 40), 10.0, 600, 100.0);
    run.totals.asked = Some(600);
    let verdict = with_failed_checks(run, 100).judge();
    assert_eq!(verdict.limit, Limit::Unknown);
    assert_eq!(
        verdict.headline,
        "the load of 60 iterations/s was sent, but 50.0 % of the checks failed"
    );
}

#[test]
fn checks_that_fail_for_responses_of_another_shape_are_the_targets() {
    let limit = |others: u64| {
        let mut run = Run::new(arrivals(60, 10, 40), 10.0, 600, 100.0);
        run.totals.asked = Some(600);
        run.some_bodies(600 - others, &["ok"]);
        run.some_bodies(others, &["<html>Please log in to the shop</html>"]);
        with_failed_checks(run, 80).judge().limit
    };
    // 80 checks failed.
    assert_eq!(limit(80), Limit::Target);
    assert_eq!(limit(200), Limit::Nobody);
}

#[test]
fn checks_that_do_not_hold_are_told_by_the_worst() {
    let told = |failed: u64| {
        let verdict = with_failed_checks(run(), failed).judge();
        found(&verdict, Code::ChecksFailed).map(|finding| finding.text.clone())
    };
    assert_eq!(told(1), None, "one of two hundred");
    let most = told(80).expect("it hardly ever holds");
    assert_eq!(
        most,
        "80 of 200 checks failed (40.0 %), most often \"cart › paid\": 80 of 100"
    );
}

#[test]
fn a_slow_part_of_a_run_is_located() {
    for (slow, place) in [
        (3..6, Some("between 3 s and 6 s")),
        (0..3, Some("in the first 3 s")),
        (0..9, None),
    ] {
        let mut run = Run::new(arrivals(100, 9, 50), 9.0, 900, 8.0);
        run.answer(900, &[(0.66, 8 * MS), (0.34, 900 * MS)]);
        for (second, row) in run.series.iter_mut().enumerate() {
            let mut times = loadline_metric::TimeTrend::default();
            times.record_n(
                if slow.contains(&second) {
                    900 * MS
                } else {
                    8 * MS
                },
                100,
            );
            row.heat = loadline_model::heat::Heat::of(&times);
        }
        let verdict = run.judge();
        let text = &found(&verdict, Code::Spikes).expect("reported").text;
        let told = text.split_once("; these came ").map(|(_, place)| place);
        assert_eq!(told, place, "{text}");
    }
}

#[test]
fn responses_that_contain_an_error_are_not_called_good() {
    let judged = |executor, bodies: &[&str]| {
        let mut run = Run::new(executor, 10.0, 3_000, 20.0);
        run.bodies(bodies);
        run.judge().headline
    };
    let bodies = [r#"{"ok":true,"n":1}"#, r#"{"error":"pool timeout"}"#];
    assert_eq!(
        judged(arrivals(300, 10, 50), &bodies),
        "the offered load was delivered: 300/s responses (about 50.0 % with an error) of 300/s planned"
    );
    let headline = judged(constant_vus(10, 10), &bodies);
    let start = "300/s responses (about 50.0 % with an error), as fast as";
    assert!(headline.starts_with(start), "{headline}");
    assert_eq!(
        judged(arrivals(300, 10, 50), &bodies[..1]),
        "the offered load was delivered: 300/s good responses of 300/s planned"
    );
}

#[test]
fn what_was_asked_for_and_what_came_of_it_are_told_without_the_warm_up() {
    let mut run = Run::new(rate_ramp(200, 10, 50), 10.0, 1_000, 20.0);
    run.plan.warm_up = Duration::from_secs(5);
    run.totals.measured_ns = 5_000 * MS;
    let seen = &mut run.totals.seen;
    (seen.warm_up.started, seen.warm_up.completed) = (250, 250);
    seen.counts.started -= 250;
    seen.counts.completed -= 250;
    seen.counts.good -= 250;
    let told = run.judge().headline;
    assert!(
        told.contains("150/s good responses of 150/s planned"),
        "{told}"
    );
}
