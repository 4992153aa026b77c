//! Compares our summaries with those of k6 v2.2.0 for the same samples, byte for byte.
//!
//! Must not require k6: `golden/k6-2.2.0/record.sh` recorded its output.

mod k6_recorded;

use std::collections::BTreeSet;

use k6_recorded::{Recorded, recorded, recorded_json};
use loadline_model::TestSummary;
use loadline_report::k6::{
    HandleSummaryContext, MachineSummaryContext, Mode, SummaryOptions, SummaryTimeUnit,
    handle_summary_data, indented, machine_readable, stdout, summary_export, text,
};
use serde_json::{Value, json};

/// A recorded test, with the options that its data names.
fn read(name: &str) -> (TestSummary, SummaryOptions, Value) {
    let data = recorded_json(&format!("{name}.data.json"));
    let duration_ms = data["state"]["testRunDurationMs"]
        .as_f64()
        .expect("a duration");
    let summary = Recorded::read(name).summary(duration_ms, &data["metrics"]);
    let stats = data["options"]["summaryTrendStats"]
        .as_array()
        .expect("a list");
    let options = SummaryOptions {
        trend_stats: stats
            .iter()
            .map(|stat| stat.as_str().expect("a name").parse().expect("k6 took it"))
            .collect(),
        time_unit: SummaryTimeUnit::from_name(
            data["options"]["summaryTimeUnit"].as_str().expect("a name"),
        ),
        ..SummaryOptions::default()
    };
    (summary, options, data)
}

#[track_caller]
fn assert_same_text(ours: &str, k6s: &str) {
    for (number, (our_line, k6s_line)) in ours.lines().zip(k6s.lines()).enumerate() {
        assert_eq!(our_line, k6s_line, "line {}", number + 1);
    }
    assert_eq!(ours, k6s);
}

#[track_caller]
fn assert_prints_as_k6(name: &str, mode: Mode) {
    let (summary, options, _) = read(name);
    let ours = stdout(&summary, &SummaryOptions { mode, ..options });
    assert_same_text(&ours, &recorded(&format!("{name}.stdout")));
}

#[test]
fn scenarios_with_groups_checks_and_thresholds() {
    assert_prints_as_k6("sections", Mode::Full);
}

#[test]
fn groups_of_setup_and_teardown() {
    assert_prints_as_k6("lifecycle", Mode::Full);
}

#[test]
fn groups_of_a_script_without_scenarios() {
    assert_prints_as_k6("groups", Mode::Full);
}

#[test]
fn numbers_of_every_size() {
    assert_prints_as_k6("numbers", Mode::Compact);
}

#[test]
fn metrics_without_samples() {
    assert_prints_as_k6("empty", Mode::Full);
}

#[test]
fn statistics_of_the_users_choice() {
    assert_prints_as_k6("stats", Mode::Compact);
}

#[test]
fn times_in_one_unit() {
    assert_prints_as_k6("seconds", Mode::Full);
}

#[test]
fn names_in_order_and_blocks_by_beginnings() {
    assert_prints_as_k6("order", Mode::Compact);
}

#[test]
fn colours() {
    let (summary, options, _) = read("colour");
    let ours = stdout(
        &summary,
        &SummaryOptions {
            colour: true,
            ..options
        },
    );
    assert_same_text(&ours, &recorded("colour.stdout"));
}

/// The same shape and texts, and numbers that differ by rounding at most.
#[track_caller]
fn assert_close(ours: &Value, k6s: &Value, place: &str) {
    match (ours, k6s) {
        (Value::Object(ours), Value::Object(k6s)) => {
            let keys = |object: &serde_json::Map<String, Value>| {
                object.keys().cloned().collect::<BTreeSet<_>>()
            };
            assert_eq!(keys(ours), keys(k6s), "{place}");
            ours.iter()
                .for_each(|(key, value)| assert_close(value, &k6s[key], &format!("{place}.{key}")));
        }
        (Value::Array(ours), Value::Array(k6s)) => {
            assert_eq!(ours.len(), k6s.len(), "{place}");
            ours.iter()
                .zip(k6s)
                .for_each(|(a, b)| assert_close(a, b, place));
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().expect("a float"), b.as_f64().expect("a float"));
            assert!(
                (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
                "{place}: {a} {b}"
            );
        }
        _ => assert_eq!(ours, k6s, "{place}"),
    }
}

#[test]
fn the_data_of_handle_summary() {
    for name in [
        "sections", "groups", "numbers", "empty", "stats", "seconds", "order",
    ] {
        let (summary, options, k6s) = read(name);
        let ours = handle_summary_data(&summary, &options, &HandleSummaryContext::default());
        assert_close(&ours, &k6s, name);
    }
    let (summary, options, _) = read("empty");
    let context = HandleSummaryContext {
        setup_data: Some(json!({"token": "x"})),
        stdout_is_terminal: true,
        ..HandleSummaryContext::default()
    };
    let data = handle_summary_data(&summary, &options, &context);
    assert_eq!(data["setup_data"]["token"], "x");
    assert_eq!(data["state"]["isStdOutTTY"], true);
}

#[test]
fn the_exported_summary() {
    let (summary, options, _) = read("groups");
    let context = HandleSummaryContext::default();
    let mut data = handle_summary_data(&summary, &options, &context);
    let ours = summary_export(&data);
    let k6s = recorded_json("groups.export.json");
    assert_close(&ours, &k6s, "export");
    let lines = indented(&ours);
    assert!(
        lines.starts_with("{\n    \"metrics\": {\n        \"Beta\": {\n            \"count\": "),
        "{lines}"
    );
    data["setup_data"] = json!([1]);
    data["metrics"] = json!({ "own": { "type": "rate", "values": { "rate": 1 }, "thresholds": { "x": { "ok": false } } } });
    let changed = summary_export(&data);
    assert_eq!(changed["setup_data"], json!([1]));
    let own = json!({ "own": { "value": 1, "thresholds": { "x": true } } });
    assert_eq!(changed["metrics"], own);
}

#[test]
fn the_machine_readable_summary() {
    let mut k6s = recorded_json("machine.export.json");
    let (_, options, data) = read("groups");
    let duration_ms = k6s["config"]["duration"].as_f64().expect("a duration") * 1e3;
    let summary =
        Recorded::read("machine").summary(duration_ms, &outcomes_left_out(&data["metrics"]));
    let context = MachineSummaryContext {
        generated_at: k6s["metadata"]["generated_at"]
            .as_str()
            .expect("a time")
            .to_owned(),
        k6_version: "2.2.0".to_owned(),
        script: recorded("groups.js"),
    };
    let mut ours = machine_readable(&summary, &options, &context);
    for summary in [&mut ours, &mut k6s] {
        let metrics = summary["results"]["metrics"]
            .as_array_mut()
            .expect("a list");
        metrics.sort_by_key(|metric| metric["name"].to_string());
    }
    assert_close(&ours, &k6s, "machine");
}

/// Outcomes of thresholds belong to the run that they were recorded in.
fn outcomes_left_out(metrics: &Value) -> Value {
    let mut metrics = metrics.clone();
    let each = metrics.as_object_mut().expect("metrics by key");
    for metric in each.values_mut() {
        metric
            .as_object_mut()
            .expect("a metric")
            .remove("thresholds");
    }
    metrics
}

#[test]
fn an_empty_test_has_a_summary() {
    let summary = TestSummary::default();
    for mode in [Mode::Compact, Mode::Full] {
        let options = SummaryOptions {
            mode,
            ..SummaryOptions::default()
        };
        assert_eq!(text(&summary, &options), "\n  █ TOTAL RESULTS \n\n");
    }
    let legacy = SummaryOptions {
        mode: Mode::Legacy,
        ..SummaryOptions::default()
    };
    assert_eq!(text(&summary, &legacy), "");
    let data = handle_summary_data(
        &summary,
        &SummaryOptions::default(),
        &HandleSummaryContext::default(),
    );
    assert_eq!(data["metrics"], json!({}));
}
