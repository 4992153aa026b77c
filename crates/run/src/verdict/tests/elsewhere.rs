//! Responses that redirects brought from another place, and pages that let nobody through: a status of 200 shows neither.

use std::sync::Arc;

use loadline_model::verdict::{Gravity, Limit, Verdict};

use super::builder::{MS, Run, arrivals, found};
use crate::verdict::Code;

fn run() -> Run {
    let mut run = Run::new(arrivals(50, 10, 100), 10.0, 500, 5.0);
    run.method("GET");
    run.totals.seen.counts.body_bytes = 20_000;
    run
}

/// Redirects led so many of 500 responses to each place.
fn led_to(run: &mut Run, places: &[(&str, u64)]) -> Verdict {
    let seen = &mut run.totals.seen;
    for (place, number) in places {
        *seen.elsewhere.row((*place).to_owned()) += number;
        seen.counts.redirects += number;
    }
    run.judge()
}

fn text(verdict: &Verdict) -> Option<&str> {
    found(verdict, Code::AnsweredElsewhere).map(|finding| finding.text.as_str())
}

#[test]
fn a_sign_in_page_in_the_place_of_what_was_asked_for_is_told() {
    let verdict = led_to(&mut run(), &[("/login", 500)]);
    assert_eq!(verdict.limit, Limit::Nobody);
    assert_eq!(
        verdict.headline,
        "the offered load was delivered: 50/s responses (all from /login) of 50/s planned"
    );
    assert_eq!(
        text(&verdict),
        Some(
            "500 of 500 responses came from another place than the one asked for, to which they were redirected: /login"
        )
    );
    let told = found(&verdict, Code::AnsweredElsewhere).expect("it is told");
    assert_eq!(told.gravity, Gravity::Caution);
    // That redirects were followed is no second finding.
    assert!(found(&verdict, Code::Redirected).is_none());
}

#[test]
fn a_part_of_the_responses_from_elsewhere_is_told_with_its_places() {
    let verdict = led_to(&mut run(), &[("/error", 75), ("/x", 5)]);
    assert_eq!(
        text(&verdict),
        Some(
            "80 of 500 responses came from another place than the one asked for, to which they were redirected: /error (75) and /x (5)"
        )
    );
    assert!(
        verdict
            .headline
            .contains("(16.0 % from another place) of 50/s planned"),
        "{}",
        verdict.headline
    );
    assert_eq!(text(&led_to(&mut run(), &[("/error", 4)])), None);
}

#[test]
fn what_a_check_rejects_is_told_and_does_not_seem_good() {
    let mut run = run();
    run.totals.seen.counts.good = 400;
    let verdict = led_to(&mut run, &[("/error", 100)]);
    assert!(text(&verdict).is_some());
    assert!(!verdict.headline.contains("/error"), "{}", verdict.headline);
}

/// Each hop of a script is a response.
#[test]
fn redirects_of_a_script_are_no_responses_from_elsewhere() {
    let mut run = run();
    run.plan.script = Some(Arc::default());
    run.answer(500, &[(1.0, 5 * MS)]);
    let statuses = &mut run.totals.seen.statuses;
    *statuses.row(200) -= 250;
    *statuses.row(302) += 250;
    let verdict = led_to(&mut run, &[("/login", 250)]);
    assert!(
        text(&verdict).is_some_and(|text| text.starts_with("250 of 250 responses")),
        "{:?}",
        text(&verdict)
    );
}

#[test]
fn some_redirects_that_were_not_followed_are_told_if_all_ask_for_the_same() {
    let judged = |requests: usize| {
        let mut run = run();
        run.requests(requests);
        let statuses = &mut run.totals.seen.statuses;
        *statuses.row(200) -= 75;
        *statuses.row(302) += 75;
        run.judge()
    };
    let told = judged(1);
    let mixed = found(&told, Code::MixedAnswers).expect("it is told");
    assert!(
        mixed
            .text
            .starts_with("15.0 % of the responses were redirects"),
        "{}",
        mixed.text
    );
    assert!(
        told.headline.contains("50/s responses (15.0 % redirects)"),
        "{}",
        told.headline
    );
    assert!(found(&judged(2), Code::MixedAnswers).is_none());
}

#[test]
fn a_waiting_room_is_not_what_was_asked_for() {
    let mut run = run();
    run.bodies(&["<html><title>Waiting Room</title><p>You are number 17</p></html>"; 3]);
    let verdict = run.judge();
    let mixed = found(&verdict, Code::MixedAnswers).expect("it is told");
    assert!(
        mixed
            .text
            .starts_with("about 100 % of the 2xx responses are pages that let nobody through yet"),
        "{}",
        mixed.text
    );
    assert!(
        verdict
            .headline
            .contains("(about 100 % with a waiting page)"),
        "{}",
        verdict.headline
    );
}
