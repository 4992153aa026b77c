//! Gates with hand-made results.
//!
//! Must not know rows. Invariant: a flawless result passes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use loadline_model::audit::{Audit, AuditedOutput};
use loadline_model::executor::VuStage;
use loadline_model::observation::{OOM_NOTE, ObserverNote};
use loadline_model::plan::StepsBehaviour;
use loadline_model::result::{Environment, Row, RunResult, ThresholdOutcome, Totals};
use loadline_model::snapshot::Shape;
use loadline_model::test_summary::{CheckSummary, Section, TestSummary};
use loadline_model::verdict::{Delivery, Limit};
use loadline_model::{
    Behaviour, Check, ClientPlan, Executor, OnExhausted, Scenario, Snapshot, TestPlan, Verdict,
};

use super::*;
use crate::file::Node;

/// A run with this many good responses of this many.
pub(crate) fn result(good: u64, all: u64) -> RunResult {
    let mut seen = Snapshot::default();
    seen.counts.started = all;
    seen.counts.completed = all;
    seen.counts.good = good;
    let plan = TestPlan::without_load(ClientPlan::default());
    let shape = Shape {
        status: 200,
        size_class: 9,
        content_type: "text/html".to_owned(),
    };
    seen.shapes.row(shape).count = good;
    *seen.statuses.row(200) = good;
    if all > good {
        let shape = Shape {
            status: 500,
            size_class: 0,
            content_type: String::new(),
        };
        seen.shapes.row(shape).count = all - good;
        *seen.statuses.row(500) = all - good;
    }
    let totals = Totals {
        elapsed_ns: 1_000_000_000,
        measured_ns: 1_000_000_000,
        seen,
        active_vus_max: 1,
        ..Totals::default()
    };
    let headline = "the target took all it could";
    RunResult {
        metrics: BTreeMap::new(),
        verdict: Verdict::new(Delivery::AsFastAsPossible, Limit::Target, headline),
        ..RunResult::bare(plan, Environment::default(), totals)
    }
}

fn gates(yaml: &str) -> Gates {
    static OBJECT: crate::file::Object = crate::file::Object {
        name: "row",
        keys: &[crate::file::SETTINGS],
        required: &[],
        one_of: &[],
        others: None,
    };
    let node = Node::parse(&format!("gates: {yaml}")).expect("the test's YAML is good");
    Gates::of(Fields::of(&node, &OBJECT).expect("the gates fit")).expect("the gates are good")
}

fn found(gates: &Gates, result: &RunResult, others: &[Arc<RunResult>], gate: Gate) -> Finding {
    found_of(1, gates, result, others, gate)
}

fn found_of(
    repeat: u32,
    gates: &Gates,
    result: &RunResult,
    others: &[Arc<RunResult>],
    gate: Gate,
) -> Finding {
    let evidence = Evidence {
        result,
        others,
        repeat,
        audits: &[],
    };
    let outcomes = judge(gates, evidence);
    let outcome = outcomes
        .iter()
        .find(|outcome| outcome.gate == gate)
        .expect("the gate is on");
    assert!(!outcome.text.is_empty());
    outcome.finding
}

#[test]
fn a_run_that_nothing_is_wrong_with_passes_by_default() {
    let result = result(100, 100);
    let evidence = Evidence {
        result: &result,
        others: &[],
        repeat: 1,
        audits: &[],
    };
    let outcomes = judge(&Gates::default(), evidence);
    assert!(
        outcomes.iter().all(|outcome| !outcome.fails()),
        "{outcomes:?}"
    );
    assert_eq!(outcomes.len(), 8);
}

#[test]
fn what_cannot_be_judged_fails_exactly_where_it_was_asked_for() {
    let result = result(100, 100);
    for gate in [
        Gate::Checks,
        Gate::Thresholds,
        Gate::Shapes,
        Gate::Restarts,
        Gate::Outputs,
    ] {
        assert_eq!(
            found(&Gates::default(), &result, &[], gate),
            Finding::Note,
            "{gate:?}"
        );
        let asked = gates(&format!("{{{}: true}}", gate.name()));
        assert_eq!(
            found(&asked, &result, &[], gate),
            Finding::NotJudged,
            "{gate:?}"
        );
    }
    assert_eq!(
        found(&gates("{steady: true}"), &result, &[], Gate::Steady),
        Finding::NotJudged
    );
    assert!(
        gates("{checks: false}")
            .0
            .iter()
            .all(|setting| setting.gate != Gate::Checks)
    );
}

#[test]
fn mostly_failed_requests_are_no_improvement() {
    let usual = Gates::default();
    assert_eq!(
        found(&usual, &result(11, 100), &[], Gate::Goodput),
        Finding::Failed
    );
    assert_eq!(
        found(&usual, &result(99, 100), &[], Gate::Goodput),
        Finding::Passed
    );
    assert_eq!(
        found(&usual, &result(0, 0), &[], Gate::Goodput),
        Finding::Failed
    );
    assert_eq!(
        found(
            &gates("{goodput: 10%}"),
            &result(11, 100),
            &[],
            Gate::Goodput
        ),
        Finding::Passed
    );
}

#[test]
fn checks_of_all_groups_count() {
    let check = |passes, fails| CheckSummary {
        name: "ok".to_owned(),
        first_seen: 0,
        passes,
        fails,
    };
    let mut run = result(100, 100);
    let group = Section {
        checks: vec![check(99, 1)],
        ..Section::default()
    };
    run.summary = Some(TestSummary {
        root: Section {
            checks: vec![check(900, 0)],
            groups: vec![("g".to_owned(), group)],
            ..Section::default()
        },
        ..TestSummary::default()
    });
    assert_eq!(run.checks_passed(), Some((999, 1_000)));
    assert_eq!(
        found(&Gates::default(), &run, &[], Gate::Checks),
        Finding::Failed
    );
    assert_eq!(
        found(&gates("{checks: 99%}"), &run, &[], Gate::Checks),
        Finding::Passed
    );
}

#[test]
fn thresholds_that_were_crossed_are_named() {
    let mut run = result(100, 100);
    for (threshold, passed) in [("p(99)<50ms", false), ("errors<1%", true)] {
        run.thresholds.push(ThresholdOutcome {
            threshold: threshold.to_owned(),
            value: None,
            passed,
        });
    }
    let evidence = Evidence {
        result: &run,
        others: &[],
        repeat: 1,
        audits: &[],
    };
    let outcomes = judge(&Gates::default(), evidence);
    let told = outcomes
        .iter()
        .find(|outcome| outcome.gate == Gate::Thresholds)
        .expect("it is on");
    assert_eq!(told.to_string(), "thresholds: p(99)<50ms was crossed");
}

#[test]
fn answers_that_look_different_in_another_repetition_are_seen() {
    let first = Arc::new(result(100, 100));
    let same = result(100, 100);
    assert_eq!(
        found(
            &Gates::default(),
            &same,
            std::slice::from_ref(&first),
            Gate::Shapes
        ),
        Finding::Passed
    );
    let other = result(50, 100);
    assert_eq!(shapes::compare(&other, &first).share, 0.5);
    assert_eq!(
        found(
            &Gates::default(),
            &other,
            std::slice::from_ref(&first),
            Gate::Shapes
        ),
        Finding::Failed
    );
    assert_eq!(
        found(&gates("{shapes: 50%}"), &other, &[first], Gate::Shapes),
        Finding::Passed
    );
    let asked = gates("{shapes: 50%}");
    assert_eq!(
        found_of(2, &asked, &other, &[], Gate::Shapes),
        Finding::Note
    );
    assert_eq!(
        found_of(1, &asked, &other, &[], Gate::Shapes),
        Finding::NotJudged
    );
}

#[test]
fn kills_of_the_target_during_the_load_fail_the_row() {
    let mut run = result(100, 100);
    let note = |at_ns| ObserverNote {
        at_ns,
        observer: "api".to_owned(),
        component: "api-1".to_owned(),
        kind: OOM_NOTE.to_owned(),
        text: "api-1 was killed".to_owned(),
    };
    run.observations.notes.push(note(-5));
    assert_eq!(
        found(&Gates::default(), &run, &[], Gate::Restarts),
        Finding::Passed
    );
    run.observations.notes.push(note(5));
    assert_eq!(
        found(&Gates::default(), &run, &[], Gate::Restarts),
        Finding::Failed
    );
    assert_eq!(
        found(&gates("{restarts: 1}"), &run, &[], Gate::Restarts),
        Finding::Passed
    );
}

#[test]
fn verdicts_are_taken_at_their_word() {
    let mut run = result(100, 100);
    run.verdict.delivery = Delivery::FellShort;
    run.verdict.limit = Limit::Generator;
    assert_eq!(
        found(&Gates::default(), &run, &[], Gate::Delivered),
        Finding::Failed
    );
    assert_eq!(
        found(&Gates::default(), &run, &[], Gate::Generator),
        Finding::Failed
    );
    run.verdict.delivery = Delivery::Delivered;
    run.verdict.limit = Limit::Unknown;
    assert_eq!(
        found(&Gates::default(), &run, &[], Gate::Delivered),
        Finding::Passed
    );
    assert_eq!(
        found(&Gates::default(), &run, &[], Gate::Generator),
        Finding::Note
    );
}

#[test]
fn one_output_that_was_audited_and_lacks_something_fails() {
    let run = result(100, 100);
    let judged = |audits: &[Audit]| {
        let named = |audit: &Audit| AuditedOutput {
            output: "prometheus-rw".to_owned(),
            audit: audit.clone(),
        };
        let audits: Vec<AuditedOutput> = audits.iter().map(named).collect();
        let evidence = Evidence {
            result: &run,
            others: &[],
            repeat: 1,
            audits: &audits,
        };
        let outcomes = judge(&Gates::default(), evidence).into_iter();
        let mut of_outputs = outcomes.filter(|outcome| outcome.gate == Gate::Outputs);
        let outcome = of_outputs.next().expect("it is on");
        (outcome.finding, outcome.text)
    };
    let good = Audit {
        compared: 60,
        ..Audit::default()
    };
    let bad = Audit::failed("30 samples never arrived");
    let (finding, text) = judged(std::slice::from_ref(&good));
    assert_eq!(finding, Finding::Passed);
    assert!(
        text.starts_with("prometheus-rw: audit: 60 series"),
        "{text}"
    );
    let (finding, text) = judged(&[good, bad]);
    assert_eq!(finding, Finding::Failed);
    assert_eq!(text, "prometheus-rw: 30 samples never arrived");
    assert_eq!(judged(&[]).0, Finding::Note);
}

/// A scenario whose load rises for ten seconds and is held for twenty more.
fn rising() -> Scenario {
    let stage = |seconds| VuStage {
        duration: Duration::from_secs(seconds),
        target: 10,
    };
    Scenario {
        name: "s".to_owned(),
        start_time: Duration::ZERO,
        executor: Executor::RampingVus {
            start_vus: 0,
            stages: vec![stage(10), stage(20)],
            graceful_ramp_down: Duration::ZERO,
        },
        on_exhausted: OnExhausted::Queue,
        pacing: None,
        graceful_stop: Duration::ZERO,
        queue_grace: Duration::ZERO,
        behaviour: Behaviour::Steps(StepsBehaviour {
            group: 0,
            sends: true,
        }),
        checks: Vec::new(),
        tags: BTreeMap::new(),
    }
}

#[test]
fn steadiness_is_that_of_the_whole_seconds_in_which_the_load_was_held() {
    let mut run = result(100, 100);
    let row = |second: u64, completed| Row {
        at_ns: second * 1_000_000_000,
        span_ns: 1_000_000_000,
        completed,
        ..Row::default()
    };
    let ramp = (0..11).map(|second| row(second, 100 * second));
    let held = (11..30).map(|second| row(second, 1_000 + second % 2 * 10));
    run.series = ramp.chain(held).collect();
    run.series.push(row(30, 3));
    assert_eq!(throughput_variation(&run), None, "it held no load");
    run.plan.scenarios.push(rising());
    let variation = throughput_variation(&run).expect("nineteen seconds are enough");
    assert!((variation - 0.005).abs() < 3e-4, "{variation}");
    assert_eq!(
        found(&gates("{steady: 1%}"), &run, &[], Gate::Steady),
        Finding::Passed
    );
    assert_eq!(
        found(&gates("{steady: 0.1%}"), &run, &[], Gate::Steady),
        Finding::Failed
    );
}

#[test]
fn a_script_without_a_request_has_no_goodput_to_judge() {
    let mut run = result(0, 0);
    let goodput = |run: &RunResult| found(&Gates::default(), run, &[], Gate::Goodput);
    assert_eq!(goodput(&run), Finding::Failed);
    run.summary = Some(TestSummary::default());
    assert_eq!(goodput(&run), Finding::Note);
}

#[test]
fn a_response_of_a_bad_status_passes_no_check_of_its_size() {
    let mut run = result(40, 100);
    assert_eq!(
        found(&gates("{checks: 50%}"), &run, &[], Gate::Checks),
        Finding::NotJudged,
        "none was made"
    );
    let mut scenario = rising();
    scenario.checks = vec![Check::parse("size>1").expect("a check")];
    run.plan.scenarios.push(scenario);
    let checked = |limit: &str| found(&gates(limit), &run, &[], Gate::Checks);
    assert_eq!(checked("{checks: 40%}"), Finding::Passed);
    assert_eq!(checked("{checks: 41%}"), Finding::Failed);
}
