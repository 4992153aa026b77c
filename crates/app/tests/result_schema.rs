//! The JSON Schema of results, checked against results of real runs.
//!
//! The validator below knows the few keywords that the schema uses and refuses others. Invariant: a field that
//! the schema does not describe fails this test.

use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use loadline_app::cli::script::ScriptCommand;
use loadline_app::cli::{self, Command};
use loadline_app::k6::{Identity, K6Invocation, Reading, ScriptFacts};
use loadline_app::{Env, Files, plan};
use loadline_metric::{
    BuiltIn, Contains, HttpTimes, Measurements, MetricRegistry, MetricType, SeriesPlan, TagSet,
};
use loadline_model::executor::Executor;
use loadline_model::plan::{Behaviour, StepsBehaviour};
use loadline_model::result::StopReason;
use loadline_model::snapshot::{Connections, EndedThreads, Pace, ScenarioChange, ThreadTimes};
use loadline_model::summarize::HeldThresholds;
use loadline_model::test_summary::ThresholdSummary;
use loadline_model::thread_group::ThreadGroup;
use loadline_model::{RunResult, TestSummary, ThresholdPlan};
use loadline_output::json;
use loadline_target::TargetConfig;
use serde_json::Value;

fn schema() -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("result.schema.json");
    serde_json::from_slice(&std::fs::read(path).expect("the schema is there")).expect("it is JSON")
}

/// The errors in a value, each with its location.
fn wrong(root: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let schema = match schema["$ref"].as_str() {
        Some(name) => &root["$defs"][name.trim_start_matches("#/$defs/")],
        None => schema,
    };
    let rules = schema
        .as_object()
        .unwrap_or_else(|| panic!("{place}: no schema"));
    let mut found = Vec::new();
    for (keyword, rule) in rules {
        let fine = match keyword.as_str() {
            "$schema" | "$defs" | "$ref" | "title" | "description" | "pattern" => true,
            "const" => rule == value,
            "type" => is_of_type(value, rule.as_str().expect("a type is a name")),
            "minimum" => value.as_f64() >= rule.as_f64(),
            "minItems" => value
                .as_array()
                .is_none_or(|list| list.len() as u64 >= rule.as_u64().expect("a count")),
            "maxItems" => value
                .as_array()
                .is_none_or(|list| list.len() as u64 <= rule.as_u64().expect("a count")),
            "required" => list(rule)
                .iter()
                .all(|name| value.get(name.as_str().expect("a name")).is_some()),
            "anyOf" | "oneOf" => list(rule)
                .iter()
                .any(|option| wrong(root, option, value, place).is_empty()),
            "items" => {
                for (position, item) in list(value).iter().enumerate() {
                    found.extend(wrong(root, rule, item, &format!("{place}[{position}]")));
                }
                true
            }
            "prefixItems" => {
                for (position, (rule, item)) in list(rule).iter().zip(list(value)).enumerate() {
                    found.extend(wrong(root, rule, item, &format!("{place}[{position}]")));
                }
                true
            }
            "properties" | "additionalProperties" => {
                found.extend(wrong_members(root, schema, value, keyword, place));
                true
            }
            other => panic!("the schema uses {other}, which this test does not know"),
        };
        if !fine {
            found.push(format!("{place}: breaks {keyword} {rule:.60}"));
        }
    }
    found
}

fn wrong_members(
    root: &Value,
    schema: &Value,
    value: &Value,
    keyword: &str,
    place: &str,
) -> Vec<String> {
    let mut found = Vec::new();
    for (name, member) in value.as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        match (keyword, schema["properties"].get(name)) {
            ("properties", Some(rule)) => found.extend(wrong(root, rule, member, &place)),
            ("additionalProperties", None) => match &schema["additionalProperties"] {
                Value::Bool(false) => found.push(format!("{place}: is not described")),
                rule => found.extend(wrong(root, rule, member, &place)),
            },
            _ => {}
        }
    }
    found
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the schema names the type {other}"),
    }
}

/// The JSON result of a `bench` command line.
fn result_of(line: &str) -> Value {
    json_of(&run_of(line))
}

fn run_of(line: &str) -> RunResult {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let Command::Bench(args) = cli::parse(&words).expect("a good line").command else {
        panic!("{line}: not a bench");
    };
    let plan = plan::bench(&args, &Env::default(), &Files::Disk, 7).expect("a good plan");
    let (_orders, commands) = mpsc::channel();
    let setup = loadline_run::RunSetup::new(commands, words);
    let ran = loadline_run::run(Arc::new(plan), setup, &mut |_| {}).expect("it runs");
    ran.result
}

fn json_of(result: &RunResult) -> Value {
    let mut text = Vec::new();
    json::write(
        result,
        json::Options {
            pretty: false,
            hdr: true,
        },
        &mut text,
    )
    .expect("it is written");
    serde_json::from_slice(&text).expect("it is JSON")
}

#[test]
fn real_results_are_described() {
    let target = loadline_target::serve(TargetConfig {
        listen: ([127, 0, 0, 1], 0).into(),
        ..TargetConfig::default()
    })
    .expect("the target starts");
    let url = format!("http://{}", target.local_addr());
    let schema = schema();
    let lines = [
        format!("-n 20 -c 2 {url}/get {url}/status/404"),
        format!(
            "-r 100 -n 20 --arrivals poisson --label a=b --by header:Server --threshold p(99)<1s {url}/get"
        ),
        format!("--stages 1s:20/s --expect status=200 --expect body~x -b {{{{uuid}}}} {url}/post"),
        format!("--stages 1s:2 --h2c --streams 2 --cookies --redirects {url}/redirect/2"),
        "-n 3 -c 1 --resolve h:*:127.0.0.1 --connect-to ::h:9 -x http://u:p@127.0.0.1:9 http://h/"
            .to_owned(),
    ];
    for line in lines {
        let result = result_of(&format!("loadline bench {line}"));
        assert_eq!(
            wrong(&schema, &schema, &result, "result"),
            Vec::<String>::new(),
            "{line}"
        );
    }
    target.stop();
    target.join();
}

/// The summary of a script that uses every kind of metric, in every part that can have one.
fn summary() -> TestSummary {
    let registry = Arc::new(MetricRegistry::new());
    let kinds = [
        MetricType::Counter,
        MetricType::Gauge,
        MetricType::Rate,
        MetricType::Trend,
    ];
    let series = SeriesPlan {
        by_scenario: true,
        by_group: true,
        by_tag: Some("group".to_owned()),
        ..SeriesPlan::for_thresholds(&[], true)
    };
    let mut seen = Measurements::new(&series, Arc::clone(&registry));
    let tags: TagSet = [
        ("scenario", "a"),
        ("group", "::g"),
        ("check", "holds"),
        ("expected_response", "true"),
    ]
    .into_iter()
    .collect();
    for kind in kinds {
        let metric = registry.declare(&format!("own_{kind}"), kind, Contains::Default);
        seen.record(metric.expect("a good name"), 1.5, 1, &tags)
            .expect("a finite value");
    }
    seen.record_http(&HttpTimes::default(), Some(false), 2, &tags);
    seen.check(true, 3, &tags);
    let held = HeldThresholds {
        metric: BuiltIn::HttpReqs.id(),
        definition: BuiltIn::HttpReqs.definition(),
        tags: Some(tags),
        suffix: Some("scenario:a".into()),
        thresholds: vec![ThresholdSummary {
            source: "count>0".into(),
            observed: None,
            passed: true,
        }],
    };
    TestSummary::of(&seen.take(), 5, Some("group"), &[held])
}

#[test]
fn the_summary_of_a_script_is_described() {
    let schema = schema();
    let mut result = run_of("loadline bench -n 1 -c 1 http://127.0.0.1:9/");
    let threshold = ThresholdPlan::parse("http_reqs", "count>0", true, Duration::from_secs(2));
    result.plan.script_thresholds = vec![threshold.expect("it can be read")];
    result.totals.stop = StopReason::ThresholdCrossed;
    result.summary = Some(summary());
    let described = json_of(&result);
    assert_eq!(
        wrong(&schema, &schema, &described, "result"),
        Vec::<String>::new()
    );
    let read: RunResult = serde_json::from_value(described).expect("it reads back");
    assert_eq!(read.summary, result.summary);
}

/// Scenarios of every executor, and all other options.
const OPTIONS: &str = r#"{
    "scenarios": {
        "a": { "executor": "constant-vus", "vus": 1, "duration": "1s", "env": { "A": "b" } },
        "b": { "executor": "ramping-vus", "stages": [{ "duration": "1s", "target": 2 }] },
        "c": { "executor": "shared-iterations" },
        "d": { "executor": "per-vu-iterations" },
        "e": { "executor": "externally-controlled", "vus": 1, "maxVUs": 2, "duration": "1s" },
        "f": { "executor": "constant-arrival-rate", "rate": 1, "duration": "1s", "preAllocatedVUs": 1 },
        "g": { "executor": "ramping-arrival-rate", "preAllocatedVUs": 1, "stages": [{ "duration": "1s", "target": 2 }] }
    },
    "hosts": { "*.h": "127.0.0.1:80", "i": "::1" },
    "blacklistIPs": ["10.0.0.0/8"],
    "blockHostnames": ["*.x"],
    "dns": { "ttl": "1m", "select": "roundRobin", "policy": "onlyIPv6" },
    "tlsCipherSuites": ["TLS_RSA_WITH_AES_128_GCM_SHA256"],
    "httpDebug": "full",
    "rps": 5,
    "tags": { "t": "u" }
}"#;

#[test]
fn the_plan_of_a_script_is_described() {
    let words = "t.js --local-ips 127.0.0.1-127.0.0.3 --execution-segment 1/3:2/3 --features freeze-env \
                 --vu-memory 9000000 --summary-by name";
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let read = K6Invocation::parse(Identity::K6, ScriptCommand::Run, &words, &Env::default());
    let Ok(Reading::Invocation(invocation)) = read else {
        panic!("the command line is good");
    };
    let options: Value = serde_json::from_str(OPTIONS).expect("it is JSON");
    let facts = ScriptFacts {
        url: "file:///t.js",
        options: &options,
        exports: None,
        metrics: None,
        config: None,
        seed: 7,
    };
    let consolidated = invocation.consolidate(&facts).expect("good options");
    let schema = schema();
    let mut result = run_of("loadline bench -n 1 -c 1 http://127.0.0.1:9/");
    result.plan = consolidated.plan;
    assert_eq!(
        wrong(&schema, &schema, &json_of(&result), "result"),
        Vec::<String>::new()
    );
}

/// A thread group of each shape, as in a result.
const THREAD_GROUPS: &str = r#"[
    { "shape": "ramp", "threads": 1, "delay_ms": 0, "step_ms": 1, "lasts_ms": null, "leaves_out_late": true },
    { "shape": "rows", "rows": [{ "threads": 1, "delay_s": 0, "startup_s": 1, "hold_s": 1, "shutdown_s": 1 }] },
    { "shape": "steps", "threads": 1, "delay_s": 0, "first_bunch": 1, "bunch": 1, "period_s": 1, "ramp_s": 1, "hold_s": 1,
      "stop_bunch": 1, "stop_period_s": 1 },
    { "shape": "concurrency", "target": 1, "ramp_s": 1, "steps": 1, "hold_s": 1 },
    { "shape": "arrivals", "limit": 5, "threads_max": 1, "reuses_threads": true,
      "course": { "course": "rising", "target": 1, "ramp_s": 1, "steps": 1, "hold_s": 1 } },
    { "shape": "arrivals", "limit": null, "threads_max": 1, "reuses_threads": false,
      "course": { "course": "free-form", "legs": [{ "from": 1, "to": 2, "lasts_ms": 1, "by_chance": true }] } },
    { "shape": "arrivals", "limit": null, "threads_max": 1, "reuses_threads": true,
      "course": { "course": "counted", "legs": [], "seed": -1 } }
]"#;

#[test]
fn the_threads_of_a_plan_of_steps_are_described() {
    let groups: Vec<ThreadGroup> = serde_json::from_str(THREAD_GROUPS).expect("one of each shape");
    let schema = schema();
    let mut result = run_of("loadline bench -n 1 -c 1 http://127.0.0.1:9/");
    for (number, group) in groups.into_iter().enumerate() {
        let scenario = &mut result.plan.scenarios[0];
        scenario.executor = Executor::ThreadGroup(group);
        scenario.behaviour = Behaviour::Steps(StepsBehaviour {
            group: number,
            sends: number > 0,
        });
        assert_eq!(
            wrong(&schema, &schema, &json_of(&result), "result"),
            Vec::<String>::new()
        );
    }
}

#[test]
fn what_is_seen_now_and_then_is_described() {
    let schema = schema();
    let mut result = run_of("loadline bench -n 1 -c 1 http://127.0.0.1:9/");
    result.totals.due_while_away = Some(1);
    let seen = &mut result.totals.seen;
    let change = ScenarioChange {
        iterations: 2,
        interrupted: 1,
        last_end_ns: 1,
        thrown: 1,
        dropped: 1,
        slept_ns: 1,
        ..ScenarioChange::default()
    };
    seen.scenarios.insert("default".into(), change);
    seen.ended_threads = EndedThreads {
        out_of_data: 1,
        failed: 1,
    };
    seen.pace = Pace {
        held_back: 1,
        overdue: 1,
    };
    seen.threads = ThreadTimes {
        iterations: 1,
        slept_ns: 1,
    };
    let tally = seen.requests.row("GET http://127.0.0.1:9/".to_owned());
    tally.failed += 1;
    tally.failed_time.record(1);
    tally.cut_short_time.record(1);
    seen.cut_short_time.record(1);
    *seen.failed_checks_of.row("GET /".to_owned()) += 1;
    *seen.elsewhere.row("/login".to_owned()) += 1;
    seen.turns = 1;
    seen.connections = Connections {
        needless: 1,
        unacknowledged: 1,
        untaken: 1,
        gapped: 1,
        out_of_order: 1,
        surplus: 1,
        half_sent: 1,
        in_flight_ns: 1,
        ..std::mem::take(&mut seen.connections)
    };
    seen.connections.read_delay.record(1);
    let described = json_of(&result);
    assert_eq!(
        wrong(&schema, &schema, &described, "result"),
        Vec::<String>::new()
    );
    let read: RunResult = serde_json::from_value(described).expect("it reads back");
    assert_eq!(read.totals.seen, result.totals.seen);
}

#[test]
fn what_is_not_described_is_noticed() {
    let schema = schema();
    let result = result_of("loadline bench -n 1 -c 1 http://127.0.0.1:9/");
    let mut more = result.clone();
    more["totals"]["rates"]["new_rate"] = 1.into();
    let mut less = result.clone();
    less["environment"]
        .as_object_mut()
        .expect("an object")
        .remove("host");
    let mut other = result;
    other["totals"]["stop"] = "tired".into();
    for (changed, place) in [(more, "new_rate"), (less, "required"), (other, "stop")] {
        let found = wrong(&schema, &schema, &changed, "result");
        assert!(found.iter().any(|text| text.contains(place)), "{found:?}");
    }
}
