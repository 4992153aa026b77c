//! How runs are judged, and judged again. Must not know how a gate judges.

use loadline_model::audit::Audit;

use super::*;

#[test]
fn gates_that_changed_judge_again_without_a_run() {
    let bench = Bench {
        fails: BTreeMap::from([("-n 100".to_owned(), 1)]),
        ..Bench::new(
            "
name: g
rows: [{name: a, bench: '-n 100 http://h/', phases: {smoke: false}}]
",
        )
    };
    let end = bench.run().expect("the disk is well");
    assert_eq!((end.passed, end.failed), (0, 1));
    let lenient = Bench {
        plan: plan_of(
            "
name: g
rows: [{name: a, bench: '-n 100 http://h/', phases: {smoke: false}, gates: {goodput: 40%}}]
",
        ),
        disk: bench.disk,
        ..Bench::new(SUITE)
    };
    let end = lenient.run().expect("the disk is well");
    assert_eq!((end.passed, end.failed), (1, 0));
    assert!(lenient.ran.borrow().is_empty());
}

#[test]
fn audits_outlive_the_run_whose_gates_change() {
    let suite = |goodput: &str| {
        Bench::new(&format!(
            "{{name: g, rows: [{{name: a, bench: '-n 100 http://h/', phases: {{smoke: false}}, gates: {{goodput: {goodput}, outputs: true}}}}]}}"
        ))
    };
    let left = |audit| {
        vec![AuditedOutput {
            output: "prometheus-rw".to_owned(),
            audit,
        }]
    };
    for (audit, passed) in [(Audit::default(), 1), (Audit::failed("no response"), 0)] {
        let before = Bench {
            audits: left(audit),
            ..suite("90%")
        };
        assert_eq!(before.run().expect("the disk is well").passed, passed);
        let after = Bench {
            disk: before.disk,
            ..suite("91%")
        };
        assert_eq!(after.run().expect("the disk is well").passed, passed);
        assert!(after.ran.borrow().is_empty());
    }
    assert_eq!(suite("90%").run().expect("the disk is well").failed, 1);
}

#[test]
fn a_warm_up_needs_a_response_unless_it_may_do_without_requests() {
    let passed = |front: &str| {
        let suite = format!(
            "{{name: g, rows: [{{name: a, {front}, phases: {{smoke: false, warm_up: 5s}}, gates: {{goodput: false}}}}]}}"
        );
        let end = Bench::new(&suite).run().expect("the disk is well");
        end.passed
    };
    assert_eq!(passed("script: silent.js"), 1, "it may speak WebSocket");
    assert_eq!(passed("bench: 'http://silent/'"), 0);
}
