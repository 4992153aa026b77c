//! Runs of scripts and of plans of steps, whose requests are not known beforehand, and runs that measure
//! nothing.

use std::sync::Arc;

use loadline_model::event::{AGENT_LOST_MARK, AGENT_REPLACED_MARK, Mark};
use loadline_model::plan::{Behaviour, StepsBehaviour};
use loadline_model::snapshot::ScenarioChange;
use loadline_model::verdict::{Delivery, Limit, Verdict};

use super::builder::{MS, Run, arrivals, constant_vus, found, percentiles, shared};
use super::names::summary;
use super::one_thing::ramp;
use crate::verdict::Code;

/// A script's iteration may send any number of requests: the planned units are iterations.
#[test]
fn iterations_of_a_script_are_counted_as_such() {
    let mut run = Run::new(arrivals(100, 60, 50), 60.0, 9_000, 20.0);
    run.plan.script = Some(Arc::default());
    run.totals.asked = Some(6_000);
    run.totals.seen.counts.dropped = 3_000;
    let verdict = run.judge();
    assert_eq!(verdict.delivery, Delivery::FellShort);
    let missed = found(&verdict, Code::OfferedLoadMissed).expect("told");
    let begun =
        "asked for 6,000 iterations (100/s), started 3,000 in time (50.0 %): 3,000 were dropped";
    assert!(missed.text.starts_with(begun), "{}", missed.text);
    run.totals.seen.counts.dropped = 0;
    let verdict = run.judge();
    assert_eq!(verdict.delivery, Delivery::Delivered);
    assert!(
        verdict.headline.contains("100 iterations/s"),
        "{}",
        verdict.headline
    );
}

/// A script's arrivals are iterations, which are not to be confused with its requests.
#[test]
fn the_knee_of_a_script_is_a_rate_of_iterations() {
    let mut run = ramp(800, |offered, row| {
        row.service_time_ns = percentiles(offered / 4.0, offered);
        row.response_time_ns = row.service_time_ns;
    });
    run.plan.script = Some(Arc::default());
    let verdict = run.judge();
    let begin = "the target saturated at about 400 iterations/s";
    assert!(verdict.headline.starts_with(begin), "{}", verdict.headline);
    let knee = found(&verdict, Code::Saturated).expect("told");
    let begin = "goodput stopped rising at 400 iterations/s, with about 400 iterations/s offered";
    assert!(knee.text.starts_with(begin), "{}", knee.text);
}

/// One scenario has all its users busy and drops arrivals, the other has free ones.
#[test]
fn a_scenario_that_is_full_is_held_up_whoever_else_is_free() {
    for (made, limit) in [(20, Limit::Target), (7, Limit::Unknown)] {
        let mut run = Run::new(arrivals(20, 8, 20), 8.0, 138, 900.0);
        run.plan.script = Some(Arc::default());
        let mut other = run.plan.scenarios[0].clone();
        other.name = "other".to_owned();
        run.plan.scenarios.push(other);
        run.totals.asked = Some(194);
        run.totals.seen.counts.dropped = 56;
        run.totals.active_vus_max = 25;
        let name = run.plan.scenarios[0].name.as_str().into();
        let change = ScenarioChange {
            dropped: 56,
            vus_made: made,
            ..Default::default()
        };
        run.totals.seen.scenarios.insert(name, change);
        run.answer(138, &[(0.1, 20 * MS), (0.9, 1_000 * MS)]);
        run.totals.seen.schedule_lag.record(3 * MS);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

/// Twenty users that sleep most of the time, beside arrivals whose users all wait for one slow request.
#[test]
fn users_who_sleep_do_not_hide_what_holds_the_others() {
    for (slow_ms, limit) in [(1_600, Limit::Target), (400, Limit::Plan)] {
        let mut run = Run::new(arrivals(46, 8, 35), 8.0, 858, 140.0);
        run.plan.script = Some(Arc::default());
        run.summary = summary(&[("/fast", 780, 2, 0), ("/slow", 78, slow_ms, 0)]);
        let mut other = run.plan.scenarios[0].clone();
        other.name = "other".to_owned();
        run.plan.scenarios.push(other);
        run.totals.asked = Some(370);
        run.totals.active_vus_max = 35;
        let name = run.plan.scenarios[0].name.as_str().into();
        let change = ScenarioChange {
            dropped: 52,
            vus_made: 15,
            ..Default::default()
        };
        run.totals.seen.scenarios.insert(name, change);
        run.answer(858, &[(0.91, 2 * MS), (0.09, slow_ms * MS)]);
        run.totals.seen.counts.dropped = 52;
        run.series.iter_mut().for_each(|row| row.dropped = 6);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    }
}

#[test]
fn a_script_without_requests_is_no_alarm() {
    let mut run = Run::new(shared(2, 4), 1.0, 0, 0.0);
    run.plan.script = Some(Arc::default());
    run.totals.asked = Some(4);
    let verdict = run.judge();
    assert_eq!(verdict.delivery, Delivery::Delivered);
    assert!(found(&verdict, Code::NothingSent).is_none());
    assert!(
        verdict.headline.contains("no HTTP request"),
        "{}",
        verdict.headline
    );
}

/// The verdict on a plan of steps that sent nothing, with so many busy threads.
fn of_silent_steps(sends: bool, threads: u64) -> Verdict {
    let mut run = Run::new(shared(2, 4), 1.0, 0, 0.0);
    for scenario in &mut run.plan.scenarios {
        scenario.behaviour = Behaviour::Steps(StepsBehaviour { group: 0, sends });
    }
    run.totals.asked = Some(4);
    run.totals.active_vus_max = threads;
    run.judge()
}

#[test]
fn samplers_that_send_nothing_are_no_alarm() {
    let verdict = of_silent_steps(false, 2);
    assert_eq!(verdict.delivery, Delivery::Delivered);
    assert_eq!(verdict.findings, []);
    let expected = "no sampler of the plan sends HTTP requests, so there is no target to judge";
    assert_eq!(verdict.headline, expected);
}

#[test]
fn samplers_that_should_have_sent_are_an_alarm_and_so_is_a_plan_that_did_not_run() {
    for (sends, threads) in [(true, 2), (false, 0)] {
        let verdict = of_silent_steps(sends, threads);
        assert!(found(&verdict, Code::NothingSent).is_some(), "{verdict:?}");
    }
}

#[test]
fn arrivals_that_were_due_while_an_agent_was_away_were_not_begun() {
    let mut run = Run::new(arrivals(300, 16, 60), 16.0, 4_432, 0.3);
    run.plan.script = Some(Arc::default());
    run.totals.asked = Some(4_801);
    run.totals.seen.counts.lost = 48;
    let change = ScenarioChange {
        iterations: 4_432,
        ..ScenarioChange::default()
    };
    let scenarios = &mut run.totals.seen.scenarios;
    scenarios.insert("default".into(), change);
    assert_eq!(run.judge().delivery, Delivery::Delivered);
    for kind in [AGENT_LOST_MARK, AGENT_REPLACED_MARK] {
        run.events.push(Mark {
            at_ns: 7 * 1_000 * MS,
            kind: kind.to_owned(),
            text: "agent-3".to_owned(),
        });
    }
    let verdict = run.judge();
    assert_eq!(verdict.delivery, Delivery::FellShort);
    assert_eq!(verdict.limit, Limit::Generator, "{}", verdict.headline);
    let missed = &found(&verdict, Code::OfferedLoadMissed).expect("told").text;
    assert!(
        missed.contains("321 were due while an agent was away"),
        "{missed}"
    );
}

#[test]
fn agents_that_were_away_for_a_moment_do_not_explain_what_a_busy_target_left() {
    let mut run = Run::new(arrivals(100, 60, 8), 60.0, 2_400, 200.0);
    run.totals.asked = Some(6_000);
    let limit = run.judge().limit;
    assert_ne!(limit, Limit::Generator);
    for kind in [AGENT_LOST_MARK, AGENT_REPLACED_MARK] {
        run.events.push(Mark {
            at_ns: 10 * 1_000 * MS,
            kind: kind.to_owned(),
            text: "agent-3".to_owned(),
        });
    }
    run.totals.due_while_away = Some(100);
    let verdict = run.judge();
    assert_eq!(verdict.limit, limit, "{}", verdict.headline);
    let missed = &found(&verdict, Code::OfferedLoadMissed).expect("told").text;
    let parts =
        "100 were due while an agent was away and 3,500 were still waiting when the schedule ended";
    assert!(missed.contains(parts), "{missed}");
    // Also where nobody has taken the share over.
    run.events.truncate(1);
    for (due, limit) in [(1_700, limit), (1_900, Limit::Generator)] {
        run.totals.due_while_away = Some(due);
        assert_eq!(run.judge().limit, limit, "{due} of 3,600");
    }
}

#[test]
fn a_lost_part_of_a_load_without_a_number_is_told_without_one() {
    for (requests, headline) in [
        (
            900,
            "450/s good responses: a part of the generator was lost",
        ),
        (0, "0/s good responses: a part of the generator was lost"),
    ] {
        let mut run = Run::new(constant_vus(2, 2), 2.0, requests, 2.0);
        run.plan.script = Some(Arc::default());
        run.events.push(Mark {
            at_ns: 0,
            kind: AGENT_LOST_MARK.to_owned(),
            text: "agent-1".to_owned(),
        });
        let verdict = run.judge();
        assert_eq!(verdict.delivery, Delivery::FellShort);
        assert_eq!(verdict.limit, Limit::Generator);
        assert_eq!(verdict.headline, headline);
    }
}

#[test]
fn a_target_that_nobody_asks_any_more_has_not_stopped_responding() {
    let mut run = Run::new(arrivals(50, 14, 8), 14.0, 375, 0.3);
    run.totals.asked = Some(700);
    run.totals.seen.counts.started += 2;
    run.totals.seen.counts.lost = 2;
    run.seconds(14, |number, row| {
        row.offered = Some(50);
        let each = [50, 25, 0][usize::from(number >= 6) + usize::from(number >= 9)];
        (row.started, row.completed, row.good) = (each, each, each);
        row.active_vus = 2;
    });
    let verdict = run.judge();
    assert!(found(&verdict, Code::TargetDied).is_some(), "{verdict:?}");
    for agent in ["agent-1", "agent-2"] {
        run.events.push(Mark {
            at_ns: 6 * 1_000 * MS,
            kind: AGENT_LOST_MARK.to_owned(),
            text: format!("{agent} is lost"),
        });
    }
    let verdict = run.judge();
    assert!(found(&verdict, Code::TargetDied).is_none(), "{verdict:?}");
    assert_eq!(verdict.limit, Limit::Generator, "{}", verdict.headline);
    let headline = &verdict.headline;
    assert!(
        headline.contains("a part of the generator was lost"),
        "{headline}"
    );
}

#[test]
fn a_run_that_ends_in_its_warm_up_has_measured_nothing() {
    let mut run = Run::new(constant_vus(2, 2), 2.0, 900, 2.0);
    let counts = std::mem::take(&mut run.totals.seen.counts);
    run.totals.seen.warm_up = counts;
    let verdict = run.judge();
    assert!(found(&verdict, Code::NothingSent).is_some(), "{verdict:?}");
    assert_eq!(
        verdict.headline,
        "900 requests sent, all in the warm-up: nothing was measured"
    );
}

fn did(iterations: u64, dropped: u64, vus_made: u64) -> ScenarioChange {
    ScenarioChange {
        iterations,
        dropped,
        vus_made,
        ..Default::default()
    }
}

/// Arrivals of scenario `default`, and `other`: 30 users without a rate.
fn beside_users(open: Run, changes: [ScenarioChange; 2]) -> Run {
    let mut run = open;
    run.plan.script = Some(Arc::default());
    let mut other = run.plan.scenarios[0].clone();
    other.name = "other".to_owned();
    other.executor = constant_vus(30, 8);
    run.plan.scenarios.push(other);
    let scenarios = &mut run.totals.seen.scenarios;
    for (name, change) in ["default", "other"].into_iter().zip(changes) {
        scenarios.insert(name.into(), change);
    }
    run
}

/// Thirty users wait for the service that carries the arrivals, or sleep most of the time.
#[test]
fn users_without_a_rate_wait_for_the_only_request_there_is() {
    for (iterations, limit) in [(800, Limit::Target), (300, Limit::Nobody)] {
        let requests = 640 + iterations;
        let run = Run::new(arrivals(80, 8, 100), 8.0, requests, 290.0);
        let mut run = beside_users(run, [did(640, 0, 50), did(iterations, 0, 30)]);
        run.summary = summary(&[("/", requests, 290, 0)]);
        run.totals.asked = Some(640);
        let verdict = run.judge();
        assert_eq!(verdict.limit, limit, "{}", verdict.headline);
        assert_eq!(verdict.delivery, Delivery::Delivered);
    }
}

/// Arrivals whose users sleep, beside users that wait for a slow request.
#[test]
fn the_law_is_that_of_the_scenario_that_dropped_arrivals() {
    let run = Run::new(arrivals(60, 8, 30), 8.0, 640, 400.0);
    let mut run = beside_users(run, [did(240, 240, 30), did(400, 0, 30)]);
    run.summary = summary(&[("/quick", 240, 20, 0), ("/slow", 400, 600, 0)]);
    run.totals.asked = Some(480);
    run.totals.active_vus_max = 60;
    run.totals.seen.counts.dropped = 240;
    for row in &mut run.series {
        (row.active_vus, row.dropped) = (60, 30);
    }
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Plan, "{}", verdict.headline);
    let text = &found(&verdict, Code::TooFewVus).expect("told").text;
    let law = "in scenario default, 30 virtual users / 1 s for an iteration = 30/s, and 30/s was reached; 60/s needs 60";
    assert!(text.contains(law), "{text}");
    let rest = "they spent 98.0 % of their time between requests";
    assert!(text.ends_with(rest), "{text}");
}
