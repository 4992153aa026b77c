//! Tiers, shortcuts and problems, compared with the real k6 v2.2.0.

use serde_json::{Value, json};

use super::*;
use crate::Env;

fn read(options: &Value) -> K6Options {
    K6Options::from_json(options).expect("good options").options
}

/// The outcome of a script's options and those of flags: warnings, and the scenarios' own lines.
fn of(script: &Value, flags: &Value) -> Result<(Vec<String>, String), String> {
    let tiers = Tiers {
        script: read(script),
        flags: read(flags),
        ..Tiers::default()
    };
    let mut notices = Vec::new();
    let merged = merge(&tiers, false, &mut notices);
    let options = derive(merged, &mut notices)?.options;
    validate(&options, None)?;
    let warnings = notices.into_iter().map(|notice| notice.message).collect();
    let scenarios = options.scenarios.expect("always set");
    let shown = scenarios.iter().map(|(name, scenario)| {
        let executor = scenario.executor.name();
        format!(
            "{name}: {executor} {:?} {:?}",
            scenario.vus, scenario.iterations
        )
    });
    Ok((warnings, shown.collect::<Vec<_>>().join("; ")))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of what k6 says to what")]
fn shortcuts_become_scenarios() {
    let a = json!({"a": {"executor": "shared-iterations", "vus": 1, "iterations": 1}});
    for (script, flags, warning, scenarios) in [
        (
            json!({}),
            json!({}),
            "",
            "default: per-vu-iterations None None",
        ),
        (
            json!({"vus": 2}),
            json!({}),
            "",
            "default: shared-iterations Some(2) Some(2)",
        ),
        (
            json!({"vus": 2, "iterations": 4}),
            json!({"vus": 3}),
            "",
            "default: shared-iterations Some(3) Some(4)",
        ),
        (
            json!({"vus": 2, "iterations": 2}),
            json!({"duration": "1s"}),
            "",
            "default: constant-vus Some(2) None",
        ),
        (
            json!({"vus": 2, "duration": "1s"}),
            json!({"iterations": 4}),
            "",
            "default: shared-iterations Some(2) Some(4)",
        ),
        (
            json!({"stages": [{"duration": "1s", "target": 1}], "vus": 3}),
            json!({}),
            "",
            "default: ramping-vus None None",
        ),
        (
            json!({"scenarios": a}),
            json!({"vus": 2}),
            "`vus=2` overrides scenarios configuration",
            "default: shared-iterations Some(2) Some(2)",
        ),
        (
            json!({"scenarios": a}),
            json!({"iterations": 2}),
            "\"cli\" level configuration overrode scenarios configuration entirely",
            "default: shared-iterations None Some(2)",
        ),
        (
            json!({"scenarios": {}}),
            json!({}),
            "`scenarios` was explicitly set to an empty value, running the script with 1 iteration in 1 VU",
            "default: per-vu-iterations None None",
        ),
        (
            json!({"stages": []}),
            json!({}),
            "`stages` was explicitly set to an empty value, running the script with 1 iteration in 1 VU",
            "default: per-vu-iterations None None",
        ),
        (
            json!({"scenarios": a}),
            json!({}),
            "",
            "a: shared-iterations Some(1) Some(1)",
        ),
    ] {
        let (warnings, shown) = of(&script, &flags).expect("can be run");
        assert_eq!(warnings.join("\n"), warning, "{script}");
        assert_eq!(shown, scenarios, "{script}");
    }
}

#[test]
fn contradictions_are_told() {
    let a = json!({"a": {"executor": "shared-iterations"}});
    let stage = json!([{"duration": "1s", "target": 1}]);
    let together =
        |a: &str, b: &str| format!("using `{a}` and `{b}` options simultaneously is not allowed");
    for (options, told) in [
        (json!({"iterations": 1, "stages": stage}), together("iterations", "stages")),
        (json!({"duration": "1s", "stages": stage}), together("duration", "stages")),
        (json!({"iterations": 1, "scenarios": a}), together("iterations", "scenarios")),
        (json!({"stages": stage, "scenarios": {}}), together("stages", "scenarios")),
        (json!({"duration": "0s"}), "`duration` option should be more than 0, for infinite duration use the externally-controlled executor".to_owned()),
    ] {
        assert_eq!(of(&options, &json!({})), Err(told));
    }
}

#[test]
fn problems_as_k6_2_2_0_words_them() {
    for (scenario, told) in [
        (
            json!({"executor": "constant-vus"}),
            "the duration is unspecified",
        ),
        (
            json!({"executor": "constant-vus", "duration": "500ms"}),
            "the duration must be at least 1s, but is 500ms",
        ),
        (
            json!({"executor": "constant-vus", "duration": "1s", "vus": 0}),
            "the number of VUs must be more than 0",
        ),
        (
            json!({"executor": "constant-arrival-rate", "rate": 0, "duration": "1s"}),
            "the iteration rate must be more than 0, the number of preAllocatedVUs isn't specified",
        ),
        (
            json!({"executor": "constant-arrival-rate", "rate": 1, "duration": "1s", "preAllocatedVUs": 5, "maxVUs": 2}),
            "maxVUs can't be less than preAllocatedVUs",
        ),
        (
            json!({"executor": "ramping-vus"}),
            "at least one stage has to be specified",
        ),
        (
            json!({"executor": "ramping-vus", "stages": [{"target": -1}]}),
            "stage 1 doesn't have a duration, the target for stage 1 can't be negative",
        ),
        (
            json!({"executor": "ramping-vus", "stages": [{"duration": "1s"}]}),
            "stage 1 doesn't have a target",
        ),
        (
            json!({"executor": "ramping-vus", "startVUs": 0, "stages": [{"duration": "1s", "target": 0}]}),
            "either startVUs or one of the stages' target values must be greater than 0",
        ),
        (
            json!({"executor": "ramping-vus", "startVUs": -1, "stages": [{"duration": "-1s", "target": -5}]}),
            "the number of start VUs can't be negative, either startVUs or one of the stages' target values must be \
             greater than 0, the duration for stage 1 can't be negative, the target for stage 1 can't be negative",
        ),
        (
            json!({"executor": "ramping-vus", "stages": [{"duration": "1s", "target": 100_000_001}]}),
            "target for stage 1 exceeds max limit of 100000000",
        ),
        (
            json!({"executor": "ramping-arrival-rate", "stages": []}),
            "at least one stage has to be specified, the number of preAllocatedVUs isn't specified",
        ),
        (
            json!({"executor": "shared-iterations", "vus": 3, "iterations": 2}),
            "the number of iterations (2) can't be less than the number of VUs (3)",
        ),
        (
            json!({"executor": "per-vu-iterations", "vus": 0, "iterations": 0, "maxDuration": "0s", "gracefulStop": "-1s", "startTime": "-1s"}),
            "the startTime can't be negative, the gracefulStop timeout can't be negative, the number of VUs must be more than 0, the number of iterations must be more than 0, the maxDuration must be at least 1s, but is 0s",
        ),
    ] {
        let expected = format!(
            "There were problems with the specified script configuration:\n\t- scenario a has configuration errors: {told}"
        );
        assert_eq!(
            of(&json!({"scenarios": {"a": scenario}}), &json!({})),
            Err(expected)
        );
    }
}

#[test]
fn functions_must_be_exported() {
    let options = read(&json!({"scenarios": {
        "a": {"executor": "shared-iterations", "exec": "x"},
        "b": {"executor": "shared-iterations"}}}));
    let exports = ["default".to_owned()];
    let told = validate(&options, Some(&exports)).expect_err("x is missing");
    assert!(
        told.ends_with("\n\t- executor a: function 'x' not found in exports"),
        "{told}"
    );
    assert_eq!(validate(&options, None), Ok(()));
}

#[test]
fn a_segment_must_be_of_its_sequence() {
    let options =
        read(&json!({"executionSegment": "0:1/3", "executionSegmentSequence": "0,1/2,1"}));
    let told = validate(&options, None).expect_err("it is none");
    assert!(
        told.ends_with("provided segment 0:1/3 can't be found in sequence 0,1/2,1"),
        "{told}"
    );
}

#[test]
fn higher_tiers_win_and_tags_are_replaced_or_merged() {
    let tiers = Tiers {
        config: read(&json!({"vus": 1, "batch": 1, "dns": {"ttl": "1m"}})),
        script: read(&json!({"batch": 2, "tags": {"a": "b"}, "dns": {"select": "first"}})),
        env: K6Options::from_env(&Env::from([("K6_BATCH", "3"), ("K6_RPS", "5")])).expect("good"),
        flags: read(&json!({"tags": {"c": "d"}})),
    };
    let of = |merge_tags| merge(&tiers, merge_tags, &mut Vec::new());
    let options = of(false);
    assert_eq!(
        (options.batch, options.rps, options.vus),
        (Some(3), Some(5), Some(1))
    );
    assert_eq!(options.tags.expect("set").len(), 1);
    assert_eq!(of(true).tags.expect("set").len(), 2);
    let dns = options.dns.expect("set");
    assert!(
        dns.ttl.is_some() && dns.select.is_some(),
        "parts of dns are options of their own"
    );
}

#[test]
fn scenarios_are_overridden_last() {
    let mut options = read(&json!({"scenarios": {
        "a": {"executor": "constant-vus", "vus": 2, "duration": "5s", "exec": "x"},
        "b": {"executor": "constant-vus", "vus": 2, "duration": "5s"}}}));
    let set = |path: &str| {
        let (path, value) = path.split_once('=').expect("the test's own");
        let (name, key) = path.split_once('.').expect("the test's own");
        (name.to_owned(), key.to_owned(), value.to_owned())
    };
    let mut overrides = Overrides {
        scenario: [
            "a.rate=200",
            "a.executor=constant-arrival-rate",
            "a.preAllocatedVUs=5",
            "a.timeUnit=1m",
            "b.vus=7",
            "b.env={\"A\":\"1\"}",
        ]
        .map(set)
        .to_vec(),
        once: false,
    };
    apply(&overrides, &mut options).expect("taken");
    let scenarios = options.scenarios.clone().expect("set");
    assert_eq!(scenarios["a"].rate, Some(200));
    assert_eq!(scenarios["a"].executor, ExecutorKind::ConstantArrivalRate);
    assert_eq!(scenarios["b"].vus, Some(7));
    assert_eq!(validate(&options, None), Ok(()));
    for (path, told) in [
        (
            "c.vus=1",
            "--scenario c.vus: there is no scenario c; the scenarios are: a, b",
        ),
        (
            "b.rate=1",
            "--scenario b.rate: the executor constant-vus has no option rate",
        ),
        (
            "b.executor=x",
            "--scenario b.executor: unknown executor type 'x'",
        ),
    ] {
        overrides.scenario = vec![set(path)];
        assert_eq!(apply(&overrides, &mut options), Err(told.to_owned()));
    }
    overrides = Overrides {
        scenario: vec![set("b.stages=10s:5,1m:2")],
        once: true,
    };
    let ramp = options
        .scenarios
        .as_mut()
        .and_then(|all| all.get_mut("b"))
        .expect("set");
    ramp.executor = ExecutorKind::RampingVus;
    apply(&overrides, &mut options).expect("taken");
    let a = &options.scenarios.expect("set")["a"];
    assert_eq!(a.executor, ExecutorKind::PerVuIterations);
    assert_eq!(
        (a.vus, a.iterations, a.exec.as_deref()),
        (Some(1), Some(1), Some("x"))
    );
}
