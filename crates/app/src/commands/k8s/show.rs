//! The output about tests in a cluster.
//!
//! Must not know the cluster. Invariant: every status has an exit code.

use std::fmt::Write as _;

use loadline_kubernetes::{ClusterTest, KeptResult};
use loadline_model::test_kind::TestKind;
use loadline_model::{ExitCode, Figures};
use serde::Deserialize;
use serde_json::{Value, json};

/// Nanoseconds per second.
const SECOND_NS: u64 = 1_000_000_000;
/// The placeholder for missing values.
const NOTHING: &str = "-";

/// The exit code of a finished test.
pub(super) fn exit_code(test: &ClusterTest) -> ExitCode {
    let mut known = ExitCode::ALL.iter();
    let of_test = known.find(|code| Some(i64::from(code.code())) == test.exit_code);
    match (of_test, test.result.as_deref()) {
        // Success of the coordinator may still be an error of the test.
        (Some(ExitCode::Ok) | None, Some("error")) => ExitCode::Other,
        (Some(code), _) => *code,
        (None, Some("passed")) => ExitCode::Ok,
        (None, _) => ExitCode::Other,
    }
}

/// A test as text, one line per fact.
pub(super) fn result(test: &ClusterTest) -> String {
    let mut text = format!("test {}: {}", test.id(), stage(test));
    if let Some((done, all)) = test.runs {
        let _ = write!(text, ", {done} of {all} runs");
    }
    if let Some(result) = &test.result {
        let _ = write!(text, ", {result}");
    }
    if let Some(code) = test.exit_code {
        let _ = write!(text, ", exit code {code}");
    }
    text.push('\n');
    if test.result.as_deref() != Some("passed") && !test.message.is_empty() {
        let _ = writeln!(text, "{}: {}", test.reason, test.message);
    }
    for lost in &test.lost {
        let _ = write!(text, "lost: {}", lost.agent);
        if !lost.pod.is_empty() {
            let node = lost.node.as_ref();
            let node = node.map_or(String::new(), |node| format!(" on node {node}"));
            let _ = write!(text, " (pod {}{node})", lost.pod);
        }
        let _ = write!(text, ": {}", lost.cause);
        if let Some(pod) = &lost.replaced_by {
            let _ = write!(text, "; replaced by pod {pod}");
        }
        text.push('\n');
    }
    if let Some(figures) = figures(test) {
        numbers(&mut text, &figures);
    }
    let whole = match &test.kept {
        KeptResult::ConfigMap(_) | KeptResult::Log { .. } | KeptResult::ObjectStore(_) => {
            format!(
                "the whole result: loadline k8s results --out DIR {}\n",
                test.id()
            )
        }
        KeptResult::Volume { claim, path } => {
            format!("the whole result: on the volume of claim {claim}, in {path}\n")
        }
        KeptResult::Nowhere(_) => String::new(),
    };
    text + &whole
}

/// The figures of a test; `None`: it has none, or they are unreadable.
fn figures(test: &ClusterTest) -> Option<Figures> {
    Figures::deserialize(test.figures.as_ref()?).ok()
}

/// Figures as text, one line per kind.
fn numbers(text: &mut String, figures: &Figures) {
    if let Some(verdict) = &figures.verdict {
        let _ = writeln!(text, "{verdict}");
    }
    if let Some(all) = &figures.requests {
        let _ = write!(
            text,
            "requests: {} started, {} answered",
            all.started, all.completed
        );
        let rest = [
            (all.failed, "failed"),
            (all.interrupted, "interrupted"),
            (all.lost, "lost with an agent"),
        ];
        tell_some(text, &rest);
        if let Some(rate) = figures.rate {
            let _ = write!(text, "; {rate} per second");
        }
        text.push('\n');
    }
    if let Some(all) = &figures.iterations {
        let _ = write!(text, "iterations: {} complete", all.completed);
        let rest = [
            (all.interrupted, "interrupted"),
            (all.dropped, "dropped"),
            (all.planned.unwrap_or_default(), "planned"),
        ];
        tell_some(text, &rest);
        text.push('\n');
    }
    if let Some(times) = &figures.times {
        let _ = writeln!(
            text,
            "{}: p95 {}, p99 {} of {}",
            times.metric, times.p95, times.p99, times.count
        );
    }
    if let Some(vus) = figures.vus_max {
        let _ = writeln!(text, "virtual users: up to {vus}");
    }
    for threshold in &figures.thresholds {
        let mark = match threshold.passed {
            true => "passed",
            false => "crossed",
        };
        let _ = write!(
            text,
            "threshold {mark}: {} {}",
            threshold.name, threshold.condition
        );
        if let Some(value) = threshold.value {
            let _ = write!(text, " (was {value})");
        }
        text.push('\n');
    }
    if figures.thresholds_left_out > 0 {
        let _ = writeln!(text, "{} more thresholds", figures.thresholds_left_out);
    }
}

/// Counts that are not zero.
fn tell_some(text: &mut String, counts: &[(u64, &str)]) {
    for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
        let _ = write!(text, ", {count} {what}");
    }
}

/// A test as JSON, with the names of its status fields.
pub(super) fn json(test: &ClusterTest) -> String {
    let time = |at: Option<u64>| at.map(loadline_kubernetes::time::format);
    let lost = test.lost.iter().map(|lost| {
        json!({ "agent": lost.agent, "pod": lost.pod, "node": lost.node, "cause": lost.cause, "replacedBy": lost.replaced_by })
    });
    let value = json!({
        "kind": test.kind.name(),
        "name": test.name,
        "namespace": test.namespace,
        "stage": test.stage,
        "result": test.result,
        "exitCode": test.exit_code,
        "reason": test.reason,
        "message": test.message,
        "runs": test.runs.map(|(done, total)| json!({ "done": done, "total": total })),
        "agents": test.agents,
        "agentsReady": test.agents_ready,
        "lost": lost.collect::<Vec<_>>(),
        "figures": test.figures,
        "results": kept(&test.kept),
        "startTime": time(test.start_unix_ns),
        "endTime": time(test.end_unix_ns),
    });
    format!("{value:#}\n")
}

fn kept(result: &KeptResult) -> Value {
    match result {
        KeptResult::ConfigMap(name) => json!({ "configMap": name }),
        KeptResult::Volume { claim, path } => json!({ "volumeClaim": claim, "path": path }),
        KeptResult::ObjectStore(folder) => json!({ "objectStore": folder }),
        KeptResult::Log { pod, container } => json!({ "pod": pod, "container": container }),
        KeptResult::Nowhere(_) => Value::Null,
    }
}

/// Tests as rows.
pub(super) fn table(tests: &[ClusterTest], with_namespace: bool, now_ns: u64) -> String {
    let mut rows = vec![
        [
            "NAMESPACE",
            "NAME",
            "STAGE",
            "RESULT",
            "VUS",
            "RATE",
            "P95",
            "AGENTS",
            "LOST",
            "RAN",
            "AGE",
        ]
        .map(str::to_owned),
    ];
    rows.extend(tests.iter().map(|test| row(test, now_ns)));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..rows[0].len()).filter_map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).skip(usize::from(!with_namespace));
        let line: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str(line.join("   ").trim_end());
        text.push('\n');
    }
    text
}

fn row(test: &ClusterTest, now_ns: u64) -> [String; 11] {
    let nothing = || NOTHING.to_owned();
    let agents = match (test.kind, test.is_over() || test.has_started()) {
        (TestKind::LoadSuite, _) => nothing(),
        (_, true) => test.agents.to_string(),
        (_, false) => format!("{}/{}", test.agents_ready, test.agents),
    };
    let stage = match test.runs {
        Some((done, all)) => format!("{} {done}/{all}", stage(test)),
        None => stage(test).to_owned(),
    };
    let lost = match test.lost.len() {
        0 => nothing(),
        lost => lost.to_string(),
    };
    let figures = figures(test);
    let of = |read: fn(&Figures) -> Option<String>| figures.as_ref().and_then(read);
    let vus = of(|figures| figures.vus_max.map(|vus| vus.to_string()));
    let rate = of(|figures| figures.rate.map(|rate| rate.to_string()));
    let p95 = of(|figures| figures.times.as_ref().map(|times| times.p95.clone()));
    let end_ns = test.end_unix_ns.unwrap_or(now_ns);
    let ran = test
        .start_unix_ns
        .map_or_else(nothing, |start| age(end_ns, start));
    [
        test.namespace.clone(),
        test.id().to_string(),
        stage,
        test.result.clone().unwrap_or_else(nothing),
        vus.unwrap_or_else(nothing),
        rate.unwrap_or_else(nothing),
        p95.unwrap_or_else(nothing),
        agents,
        lost,
        ran,
        test.made_unix_ns
            .map_or_else(nothing, |made| age(now_ns, made)),
    ]
}

fn stage(test: &ClusterTest) -> &str {
    match test.stage.as_str() {
        "" => "not seen by an operator",
        stage => stage,
    }
}

/// The time between two instants, in kubectl's format.
fn age(now_ns: u64, since_ns: u64) -> String {
    let seconds = now_ns.saturating_sub(since_ns) / SECOND_NS;
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(status: &Value) -> ClusterTest {
        ClusterTest::read(TestKind::TestRun, &json!({
            "metadata": { "name": "t", "namespace": "n", "creationTimestamp": "2026-01-01T00:00:00Z" },
            "spec": { "parallelism": 2 },
            "status": status,
        }))
        .expect("a test")
    }

    #[test]
    fn a_test_ends_with_its_own_exit_code() {
        let code = |status| exit_code(&test(&status));
        assert_eq!(
            code(json!({ "result": "passed", "exitCode": 0 })),
            ExitCode::Ok
        );
        assert_eq!(
            code(json!({ "result": "failed", "exitCode": 99 })),
            ExitCode::ThresholdsFailed
        );
        assert_eq!(code(json!({ "result": "error" })), ExitCode::Other);
        assert_eq!(
            code(json!({ "result": "error", "exitCode": 137 })),
            ExitCode::Other
        );
        assert_eq!(code(json!({})), ExitCode::Other);
    }

    #[test]
    fn lost_agents_are_told() {
        let lost = test(
            &json!({ "stage": "finished", "result": "passed", "exitCode": 0,
            "lost": [{ "agent": "t-2", "pod": "t-2-x", "node": "n-1", "cause": "OOMKilled", "replacedBy": "t-2-y" }] }),
        );
        assert_eq!(
            result(&lost),
            "test t: finished, passed, exit code 0\n\
             lost: t-2 (pod t-2-x on node n-1): OOMKilled; replaced by pod t-2-y\n"
        );
        let failed = test(
            &json!({ "stage": "error", "result": "error", "reason": "AgentLost", "message": "why" }),
        );
        assert_eq!(result(&failed), "test t: error, error\nAgentLost: why\n");
    }

    #[test]
    fn figures_are_told() {
        let ended = test(
            &json!({ "stage": "finished", "result": "failed", "exitCode": 99, "reason": "ThresholdsFailed",
            "message": "why", "figures": { "vusMax": 8, "rate": 41.5, "verdict": "All of it was delivered.",
            "requests": { "started": 100, "completed": 98, "failed": 2 },
            "iterations": { "completed": 99, "interrupted": 1, "planned": 100 },
            "times": { "metric": "http_req_duration", "p95": "12.35ms", "p99": "1s", "count": 98 },
            "thresholds": [{ "name": "http_reqs", "condition": "count>200", "value": 100.0, "passed": false }] } }),
        );
        assert_eq!(
            result(&ended),
            "test t: finished, failed, exit code 99\nThresholdsFailed: why\nAll of it was delivered.\n\
             requests: 100 started, 98 answered, 2 failed; 41.5 per second\n\
             iterations: 99 complete, 1 interrupted, 100 planned\n\
             http_req_duration: p95 12.35ms, p99 1s of 98\n\
             virtual users: up to 8\n\
             threshold crossed: http_reqs count>200 (was 100)\n"
        );
    }

    #[test]
    fn tests_are_rows() {
        let tests = [
            test(
                &json!({ "stage": "finished", "result": "passed", "figures": {
                "vusMax": 8, "rate": 41.5, "times": { "p95": "12.35ms" } } }),
            ),
            test(&json!({ "stage": "started", "startTime": "2026-01-01T00:00:10Z" })),
            test(&json!({})),
            ClusterTest::read(
                TestKind::LoadSuite,
                &json!({ "metadata": { "name": "s" }, "status": { "stage": "started",
                    "runs": { "done": 3, "total": 8 } } }),
            )
            .expect("a suite"),
        ];
        let now_ns = loadline_kubernetes::time::parse("2026-01-01T00:01:00Z").expect("a time");
        assert_eq!(
            table(&tests, false, now_ns),
            "NAME          STAGE                     RESULT   VUS   RATE   P95       AGENTS   LOST   RAN   AGE\n\
             t             finished                  passed   8     41.5   12.35ms   2        -      -     60s\n\
             t             started                   -        -     -      -         2        -      50s   60s\n\
             t             not seen by an operator   -        -     -      -         0/2      -      -     60s\n\
             loadsuite/s   started 3/8               -        -     -      -         -        -      -     -\n"
        );
    }
}
