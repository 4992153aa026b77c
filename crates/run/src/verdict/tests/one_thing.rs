//! Runs with one thing wrong, or nothing: what is found, and what is not.

use std::cmp::Reverse;
use std::time::Duration;

use loadline_model::FrontEnd;
use loadline_model::check::Check;
use loadline_model::error_class::ErrorClass;
use loadline_model::plan::Behaviour;
use loadline_model::result::{Row, StopReason};
use loadline_model::template::Template;
use loadline_model::verdict::{Delivery, Finding, Gravity, Limit, Verdict};
use proptest::prelude::*;

use super::builder::{
    Run, arrivals, codes, constant_vus, found, percentiles, rate_ramp, shared, vu_ramp,
};
use crate::verdict::Code;

const MS: u64 = 1_000_000;

/// 1,000/s for 20 s, answered in 2 ms.
fn open() -> Run {
    Run::new(arrivals(1_000, 20, 50), 20.0, 20_000, 2.0)
}

/// 50 virtual users for 20 s at 2 ms each: 25,000/s.
fn closed() -> Run {
    Run::new(constant_vus(50, 20), 20.0, 500_000, 2.0)
}

/// Asserts that a run has only this finding.
fn only(verdict: &Verdict, code: Code, gravity: Gravity) {
    let others: Vec<_> = codes(verdict)
        .into_iter()
        .filter(|c| *c != Code::OneRun.name())
        .collect();
    assert_eq!(others, [code.name()], "{:#?}", verdict.findings);
    assert_eq!(
        found(verdict, code).map(|finding| finding.gravity),
        Some(gravity)
    );
}

#[test]
fn clean_runs_have_one_line_and_a_note() {
    let verdict = open().judge();
    assert_eq!(
        (verdict.delivery, verdict.limit),
        (Delivery::Delivered, Limit::Nobody)
    );
    assert_eq!(
        verdict.headline,
        "the offered load was delivered: 1,000/s good responses of 1,000/s planned"
    );
    assert_eq!(codes(&verdict), ["one-run"]);
    assert_eq!(verdict.rate_error, Some(0.0));

    let verdict = closed().judge();
    assert_eq!(
        (verdict.delivery, verdict.limit),
        (Delivery::AsFastAsPossible, Limit::Target)
    );
    assert_eq!(
        verdict.headline,
        "25,000/s good responses, as fast as the target answered 50 VUs (2 ms on average)"
    );
    assert_eq!(codes(&verdict), ["one-run"]);

    let verdict = Run::new(shared(50, 500_000), 20.0, 500_000, 2.0).judge();
    assert_eq!(
        (verdict.delivery, verdict.limit),
        (Delivery::Delivered, Limit::Target)
    );
    assert_eq!(codes(&verdict), ["one-run"]);
}

#[test]
fn an_open_model_within_one_percent_is_delivered() {
    let mut run = open();
    run.totals.asked = Some(20_100);
    assert_eq!(run.judge().delivery, Delivery::Delivered);
    run.totals.asked = Some(20_300);
    assert_eq!(run.judge().delivery, Delivery::FellShort);
}

#[test]
fn a_count_that_was_not_reached_is_told() {
    let mut run = Run::new(shared(50, 600_000), 20.0, 500_000, 2.0);
    let verdict = run.judge();
    assert_eq!(verdict.delivery, Delivery::FellShort);
    only(&verdict, Code::CountNotReached, Gravity::Alarm);
    assert!(
        verdict
            .headline
            .starts_with("500,000 of 600,000 requests were answered"),
        "{}",
        verdict.headline
    );

    run.totals.stop = StopReason::Interrupted;
    only(&run.judge(), Code::RunInterrupted, Gravity::Note);
}

#[test]
fn too_few_virtual_users_for_a_fast_target_are_the_plans_fault() {
    let mut run = Run::new(arrivals(1_000, 20, 10), 20.0, 4_000, 50.0);
    run.totals.asked = Some(20_000);
    run.totals.seen.counts.dropped = 16_000;
    run.totals.active_vus_max = 10;
    let verdict = run.judge();
    assert_eq!(
        (verdict.delivery, verdict.limit),
        (Delivery::FellShort, Limit::Plan)
    );
    let finding = found(&verdict, Code::TooFewVus).expect("told");
    assert!(
        finding
            .text
            .contains("10 virtual users / 50 ms mean service time = 200/s"),
        "{}",
        finding.text
    );
    assert!(
        finding
            .advice
            .as_ref()
            .is_some_and(|advice| advice.contains("--max-vus 60"))
    );
    assert!(
        found(&verdict, Code::OfferedLoadMissed)
            .is_some_and(|f| f.text.contains("16,000 were dropped"))
    );
}

#[test]
fn a_busy_generator_is_named_before_the_target() {
    let mut run = closed();
    run.series
        .iter_mut()
        .for_each(|row| row.generator.busiest_worker = 0.97);
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Generator);
    only(&verdict, Code::GeneratorBusy, Gravity::Caution);

    let mut short = Run::new(shared(50, 10_000), 0.5, 10_000, 2.0);
    short.totals.cpu_ns = 480 * MS;
    assert_eq!(short.judge().limit, Limit::Generator);
}

#[test]
fn a_generator_without_processors_is_named() {
    let mut run = closed();
    run.totals.throttled_ns = Some(6_000 * MS);
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Generator);
    assert!(found(&verdict, Code::GeneratorThrottled).is_some());

    let mut run = closed();
    run.series
        .iter_mut()
        .for_each(|row| row.generator.run_queue_ns = 300 * MS);
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Generator);
    assert!(found(&verdict, Code::GeneratorStarved).is_some());

    let mut run = closed();
    run.totals.seen.back_pressure_ns = 6_000 * MS;
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Generator);
    assert!(found(&verdict, Code::SinkSlow).is_some());
}

#[test]
fn missing_descriptors_and_ports_are_the_generators() {
    for (class, code) in [
        (ErrorClass::FdLimit, Code::FdLimit),
        (ErrorClass::PortsExhausted, Code::PortsExhausted),
    ] {
        let mut run = closed();
        run.fail(class, 50_000, MS);
        let verdict = run.judge();
        assert_eq!(verdict.limit, Limit::Generator);
        assert_eq!(
            found(&verdict, code).map(|f| f.gravity),
            Some(Gravity::Alarm)
        );
        assert!(found(&verdict, Code::RequestsFailed).is_some());
    }
}

#[test]
fn lateness_with_a_free_virtual_user_is_told() {
    let mut run = open();
    run.metric("schedule_lag_ns", &[(50_000, 19_700), (15 * MS, 300)]);
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Nobody, "all was delivered");
    assert!(found(&verdict, Code::ScheduleLag).is_some());
    assert!(found(&verdict, Code::LagExceedsLatency).is_some());

    let mut run = open();
    run.metric("schedule_lag_ns", &[(150_000, 20_000)]);
    assert_eq!(
        codes(&run.judge()),
        ["one-run"],
        "within the start window's reach"
    );
}

#[test]
fn loss_and_lost_handshakes_are_told() {
    let mut run = closed();
    run.totals.seen.connections.retransmits = 100_000;
    run.answer(500_000, &[(0.95, 2 * MS), (0.05, 260 * MS)]);
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Network);
    assert!(found(&verdict, Code::Retransmits).is_some());

    let mut needless = closed();
    needless.totals.seen.connections.retransmits = 100_000;
    let verdict = needless.judge();
    assert_eq!(verdict.limit, Limit::Target, "nobody was held up");
    assert!(found(&verdict, Code::Retransmits).is_none());

    let mut run = closed();
    for ns in [MS / 10, MS / 10, 1_020 * MS] {
        run.totals.seen.connections.connect.record(ns);
    }
    only(&run.judge(), Code::SlowConnects, Gravity::Caution);
}

#[test]
fn failures_name_their_side() {
    for (class, limit) in [
        (ErrorClass::Refused, Limit::Target),
        (ErrorClass::Unreachable, Limit::Network),
        (ErrorClass::Dns, Limit::Plan),
    ] {
        let mut run = open();
        run.answer(0, &[]);
        run.fail(class, 20_000, MS);
        let verdict = run.judge();
        assert_eq!(
            (verdict.delivery, verdict.limit),
            (Delivery::FellShort, limit)
        );
        let finding = found(&verdict, Code::NothingAnswered).expect("told");
        assert_eq!(verdict.headline, finding.text);
        let next_step = class.next_step(FrontEnd::Bench);
        assert_eq!(finding.advice.as_deref(), Some(&*next_step));
    }
    // All of the load was sent and a fifth of it refused: the missing responses are the target's.
    let mut run = open();
    run.answer(16_000, &[(1.0, 2 * MS)]);
    run.fail(ErrorClass::Refused, 4_000, MS);
    let verdict = run.judge();
    assert_eq!(
        (verdict.delivery, verdict.limit),
        (Delivery::FellShort, Limit::Target)
    );
    let mut run = closed();
    run.fail(ErrorClass::Timeout, 5_000, MS);
    only(&run.judge(), Code::RequestsFailed, Gravity::Note);
}

#[test]
fn nothing_sent_and_missing_requests_are_alarms() {
    let mut run = closed();
    run.answer(0, &[]);
    run.series.clear();
    only(&run.judge(), Code::NothingSent, Gravity::Alarm);

    let mut run = closed();
    run.totals.seen.counts.started += 7;
    let verdict = run.judge();
    only(&verdict, Code::NotConserved, Gravity::Alarm);
    assert_eq!(
        verdict.headline,
        "500,007 requests were started, but only 500,000 are accounted for"
    );
}

#[test]
fn runs_that_ended_early_are_unfinished() {
    for (stop, code, gravity) in [
        (StopReason::Crashed, Code::RunCrashed, Gravity::Alarm),
        (StopReason::Defect, Code::RunCrashed, Gravity::Alarm),
        (StopReason::Interrupted, Code::RunInterrupted, Gravity::Note),
        (StopReason::Aborted, Code::RunInterrupted, Gravity::Note),
    ] {
        let mut run = open();
        run.totals.stop = stop;
        let verdict = run.judge();
        assert_eq!(verdict.delivery, Delivery::Unfinished);
        only(&verdict, code, gravity);
        assert_eq!(
            verdict.headline,
            "ended early, after 20 s: 1,000/s good responses until then"
        );
    }
}

#[test]
fn goodput_below_throughput_is_told() {
    for (wrong, gravity) in [
        (100, Gravity::Note),
        (1_000, Gravity::Caution),
        (10_000, Gravity::Alarm),
    ] {
        let mut run = open();
        run.totals.seen.counts.good -= wrong;
        *run.totals.seen.statuses.row(503) += wrong;
        let verdict = run.judge();
        only(&verdict, Code::WrongAnswers, gravity);
        let refuses = wrong >= 400;
        let limit = if refuses {
            Limit::Target
        } else {
            Limit::Nobody
        };
        assert_eq!(
            (verdict.delivery, verdict.limit),
            (Delivery::Delivered, limit)
        );
    }
    let mut run = open();
    run.totals.seen.counts.good = 0;
    *run.totals.seen.failed_checks.row("size>100".to_owned()) += 20_000;
    let verdict = run.judge();
    let text = &found(&verdict, Code::WrongAnswers).expect("told").text;
    assert!(
        text.contains("all by the check \"size>100\"") && text.contains("goodput 0/s"),
        "{text}"
    );
}

#[test]
fn arrivals_that_waited_show_in_the_response_time() {
    let mut run = Run::new(arrivals(1_000, 10, 50), 10.0, 10_000, 0.2);
    run.metric(
        "response_time_ns",
        &[(200_000, 9_000), (500 * MS, 800), (900 * MS, 200)],
    );
    let verdict = run.judge();
    assert_eq!(verdict.delivery, Delivery::Delivered);
    only(&verdict, Code::ArrivalsWaited, Gravity::Caution);
}

#[test]
fn the_same_full_body_is_no_reason_to_worry() {
    let mut run = open();
    run.bodies(&["{\"categories\":[\"tools\"]}"; 5]);
    assert_eq!(codes(&run.judge()), ["one-run"]);

    let mut run = open();
    run.bodies(&["{\"a\":null}", "{\"a\":null}", "{\"a\":1234}"]);
    assert_eq!(codes(&run.judge()), ["one-run"], "one response had content");

    let mut run = open();
    run.bodies(&["{\"a\":null}"; 5]);
    run.plan.scenarios[0].checks = vec![Check::parse("body~null").unwrap()];
    assert_eq!(
        codes(&run.judge()),
        ["one-run"],
        "the user looked at the body"
    );
}

#[test]
fn one_answer_to_many_questions_is_told() {
    let mut run = open();
    run.bodies(&["{\"sum\":5}"; 5]);
    let mut no_files = |_: &str| Err("no file".to_owned());
    let Behaviour::Requests(mix) = &mut run.plan.scenarios[0].behaviour else {
        panic!("the builder makes requests");
    };
    mix.requests[0].target = Template::parse("/add?n={{counter}}", &mut no_files).unwrap();
    only(&run.judge(), Code::SameAnswer, Gravity::Caution);
}

/// A ramp to `top` on a target with a capacity of 400/s.
pub(super) fn ramp(top: u64, beyond: impl Fn(f64, &mut Row)) -> Run {
    let mut run = Run::new(rate_ramp(top, 20, 500), 20.0, top * 10, 5.0);
    run.seconds(20, |number, row| {
        let offered = top * (2 * number + 1) / 40;
        row.offered = Some(offered);
        row.started = offered;
        (row.completed, row.good) = (offered.min(400), offered.min(400));
        row.service_time_ns = percentiles(5.0, 10.0);
        row.response_time_ns = percentiles(5.0, 10.0);
        if offered > 400 {
            beyond(offered as f64, row);
        }
    });
    run
}

#[test]
fn a_ramp_into_saturation_shows_the_knee() {
    let mut run = ramp(800, |offered, row| {
        row.service_time_ns = percentiles(offered / 4.0, offered);
        row.response_time_ns = row.service_time_ns;
    });
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Target);
    let knee = verdict.saturation.expect("seen");
    assert!((390.0..=410.0).contains(&knee.throughput), "{knee:?}");
    assert_eq!(knee.p99_before_ns, Some(10 * MS));
    assert_eq!(
        verdict.headline,
        "the target saturated at about 400/s; p99 response time passed 50 ms at 420/s"
    );
    assert!(found(&verdict, Code::Saturated).is_some());
}

#[test]
fn a_knee_without_slower_answers_and_with_all_virtual_users_busy_is_the_plans() {
    let mut run = ramp(800, |_, _| {});
    run.totals.active_vus_max = 500;
    assert_eq!(run.judge().limit, Limit::Plan);
}

#[test]
fn a_knee_of_a_busy_generator_is_not_the_targets() {
    let mut run = ramp(800, |_, _| {});
    run.series
        .iter_mut()
        .for_each(|row| row.generator.busiest_worker = 0.99);
    let verdict = run.judge();
    assert_eq!(verdict.limit, Limit::Generator);
    assert!(
        verdict
            .headline
            .starts_with("the generator, not the target"),
        "{}",
        verdict.headline
    );
}

#[test]
fn a_ramp_that_is_followed_has_no_knee() {
    let verdict = ramp(390, |_, _| {}).judge();
    assert_eq!(verdict.saturation, None);
    assert_eq!(verdict.limit, Limit::Nobody);
    assert_eq!(codes(&verdict), ["one-run"]);
    assert_eq!(verdict.rate_error, None, "a ramp has no mean rate");
}

#[test]
fn a_throughput_that_falls_beyond_the_knee_is_told_at_its_best() {
    let mut run = ramp(800, |offered, row| row.good = (800.0 - offered) as u64);
    let knee = run.judge().saturation.expect("seen");
    assert!((330.0..=400.0).contains(&knee.throughput), "{knee:?}");
}

#[test]
fn more_virtual_users_without_more_throughput_show_the_knee() {
    let mut run = Run::new(vu_ramp(100, 20), 20.0, 7_000, 5.0);
    run.seconds(20, |number, row| {
        row.active_vus = 5 * (number + 1);
        row.completed = (row.active_vus * 10).min(400);
        row.good = row.completed;
        row.service_time_ns = percentiles(5.0, 10.0);
    });
    let verdict = run.judge();
    let knee = verdict.saturation.expect("seen");
    assert_eq!(knee.throughput, 400.0);
    let text = &found(&verdict, Code::Saturated).expect("told").text;
    assert!(text.contains("by 40 virtual users"), "{text}");
    assert_eq!(verdict.limit, Limit::Target);
}

#[test]
fn outages_and_deaths_are_told() {
    let mut run = open();
    run.series[8].good = 3;
    run.series[9].good = 0;
    let verdict = run.judge();
    let text = &found(&verdict, Code::OutageSeen).expect("told").text;
    assert!(text.contains("for 2 s from 8 s on"), "{text}");

    let mut run = open();
    run.series[15..].iter_mut().for_each(|row| row.good = 0);
    assert_eq!(
        found(&run.judge(), Code::TargetDied).map(|f| f.gravity),
        Some(Gravity::Alarm)
    );
}

#[test]
fn a_cold_start_is_told_unless_it_was_left_out() {
    let mut run = open();
    run.series[0].service_time_ns = percentiles(40.0, 80.0);
    run.series[1].service_time_ns = percentiles(20.0, 80.0);
    only(&run.judge(), Code::ColdStart, Gravity::Caution);
    run.plan.warm_up = Duration::from_secs(3);
    assert_eq!(codes(&run.judge()), ["one-run"]);
}

#[test]
fn an_idle_replica_is_told() {
    let mut run = open();
    for (name, answered) in [
        ("10.0.0.1:80", 10_000),
        ("10.0.0.2:80", 9_990),
        ("10.0.0.3:80", 10),
    ] {
        run.totals.seen.peers.row(name.to_owned()).answered = answered;
    }
    let verdict = run.judge();
    only(&verdict, Code::IdlePeer, Gravity::Caution);
    assert!(
        found(&verdict, Code::IdlePeer)
            .is_some_and(|f| f.text.contains("10.0.0.3:80 answered 10 requests"))
    );

    let mut run = open();
    for (name, answered) in [("a", 10_000), ("b", 9_000)] {
        run.totals.seen.by_header.row(name.to_owned()).answered = answered;
    }
    assert_eq!(codes(&run.judge()), ["one-run"]);
    run.totals.seen.by_header.row(String::new()).answered = 3;
    assert_eq!(codes(&run.judge()), ["one-run"]);
}

#[test]
fn few_samples_an_uneven_rate_and_spikes_are_told() {
    let mut run = Run::new(constant_vus(1, 20), 20.0, 60, 330.0);
    assert_eq!(
        found(&run.judge(), Code::FewSamples).map(|f| f.gravity),
        Some(Gravity::Caution)
    );

    let mut run = closed();
    run.series
        .iter_mut()
        .step_by(2)
        .for_each(|row| row.completed /= 3);
    let verdict = run.judge();
    only(&verdict, Code::RateUncertain, Gravity::Caution);
    assert!(verdict.rate_error.is_some_and(|error| error > 0.2));

    let mut run = open();
    run.answer(20_000, &[(0.98, 2 * MS), (0.02, 200 * MS)]);
    only(&run.judge(), Code::Spikes, Gravity::Note);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn whatever_was_counted_a_verdict_is_found(
        counts in prop::collection::vec(0u64..1 << 40, 8),
        rows in prop::collection::vec((0u64..1 << 40, 0u64..1 << 40, 0u64..1 << 33), 0..30),
        shape in 0usize..4,
        asked in prop::option::of(0u64..1 << 40),
    ) {
        let executor = match shape {
            0 => arrivals(100, 20, 10),
            1 => rate_ramp(100, 20, 10),
            2 => vu_ramp(10, 20),
            _ => constant_vus(10, 20),
        };
        let mut run = Run::new(executor, 20.0, counts[0], 1.0);
        run.fail(ErrorClass::Timeout, counts[1], counts[2]);
        run.totals.asked = asked;
        run.totals.measured_ns = counts[3];
        run.totals.elapsed_ns = counts[4];
        run.totals.seen.counts.dropped = counts[5];
        run.totals.seen.connections.connect.record(counts[6]);
        run.totals.seen.connections.retransmits = counts[7];
        for (row, (offered, good, span)) in run.series.iter_mut().zip(rows) {
            row.offered = Some(offered);
            (row.good, row.completed, row.span_ns) = (good, good, span);
        }
        let verdict = run.judge();
        let is_sound = |text: &str| !text.contains("NaN") && !text.contains("inf/");
        prop_assert!(is_sound(&verdict.headline), "{}", verdict.headline);
        prop_assert!(verdict.headline.chars().count() <= 100, "{}", verdict.headline);
        for finding in &verdict.findings {
            prop_assert!(is_sound(&finding.text), "{}", finding.text);
        }
        let gravest_first = |finding: &Finding| Reverse(finding.gravity);
        prop_assert!(verdict.findings.is_sorted_by_key(gravest_first));
    }
}

#[test]
fn what_is_begun_when_the_load_is_over_was_not_delivered() {
    let mut run = open();
    let seconds = run.series.len();
    run.series[seconds - 1].waiting = run.totals.seen.counts.started / 2;
    let verdict = run.judge();
    assert_eq!(verdict.delivery, Delivery::FellShort);
    let finding = found(&verdict, Code::OfferedLoadMissed).expect("it is told");
    let why = "were still waiting when the schedule ended";
    assert!(finding.text.contains(why), "{}", finding.text);
}
