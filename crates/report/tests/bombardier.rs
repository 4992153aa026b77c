//! Compares the bombardier dialect with what bombardier 2.0.2 printed: text and JSON of the same run, from
//! results with the same distributions.

mod support;

use std::time::Duration;

use loadline_model::{ErrorClass, Executor, RunResult};
use loadline_report::bombardier::{
    Client, Identity, ReportTemplate, Spec, Stop, render_json, render_text,
};
use serde_json::Value;

fn spec(json: &Value, latencies: bool) -> Spec {
    let text = |name: &str| json["spec"][name].as_str().expect("text").to_owned();
    let stop = match json["spec"]["numberOfRequests"].as_u64() {
        Some(requests) => Stop::Requests(requests),
        None => Stop::Duration(Duration::from_secs(
            json["spec"]["testDurationSeconds"]
                .as_u64()
                .expect("seconds"),
        )),
    };
    let headers = json["spec"]["headers"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let part = |header: &Value, name: &str| header[name].as_str().expect("text").to_owned();
    Spec {
        connections: json["spec"]["numberOfConnections"]
            .as_u64()
            .expect("a number"),
        stop,
        method: text("method"),
        url: text("url"),
        headers: headers
            .iter()
            .map(|header| (part(header, "key"), part(header, "value")))
            .collect(),
        body: text("body"),
        body_file: None,
        certificate_file: None,
        key_file: None,
        stream: false,
        timeout: Duration::from_secs(2),
        client: Client::FastHttp,
        rate: json["spec"]["rate"].as_u64(),
        latencies,
    }
}

/// A result with bombardier's counters; its distributions are our own.
fn result(json: &Value) -> RunResult {
    let executor = Executor::ConstantVus {
        vus: 10,
        duration: None,
    };
    let mut result = support::empty(support::plan("http://127.0.0.1:9100/", executor));
    let found = &json["result"];
    let number = |name: &str| found[name].as_u64().expect("a number");
    let mean_us = found["latency"]["mean"].as_f64().expect("a number");
    for (name, status) in [("req2xx", 200), ("req4xx", 404), ("req5xx", 503)] {
        let seen = &mut result.totals.seen;
        seen.counts.started += number(name);
        seen.counts.completed += number(name);
        if number(name) > 0 {
            *seen.statuses.row(status) += number(name);
        }
        seen.answered_time
            .record_n((mean_us * 1e3) as u64, number(name));
    }
    if number("others") > 0 {
        let key = support::key(
            ErrorClass::Refused,
            "GET http://127.0.0.1:9/",
            "127.0.0.1:9",
            "",
        );
        support::fail(&mut result, &key, number("others"));
        result
            .totals
            .seen
            .failed_time
            .record_n((mean_us * 1e3) as u64, number("others"));
    }
    let totals = &mut result.totals;
    totals.seen.counts.bytes_received = number("bytesRead");
    totals.seen.counts.bytes_sent = number("bytesWritten");
    totals.elapsed_ns = (found["timeTakenSeconds"].as_f64().expect("seconds") * 1e9).round() as u64;
    let rate = found["rps"]["mean"].as_f64().expect("a number");
    [rate * 0.9, rate, rate * 1.1]
        .iter()
        .for_each(|rate| totals.window_rates.record(*rate).expect("finite"));
    result
}

const RUNS: &[(&str, &str, bool)] = &[
    (
        include_str!("golden/bombardier-2.0.2/get.json"),
        include_str!("golden/bombardier-2.0.2/get.txt"),
        false,
    ),
    (
        include_str!("golden/bombardier-2.0.2/get-l.json"),
        include_str!("golden/bombardier-2.0.2/get-l.txt"),
        true,
    ),
    (
        include_str!("golden/bombardier-2.0.2/timed.json"),
        include_str!("golden/bombardier-2.0.2/timed.txt"),
        false,
    ),
    (
        include_str!("golden/bombardier-2.0.2/timed-l.json"),
        include_str!("golden/bombardier-2.0.2/timed-l.txt"),
        true,
    ),
    (
        include_str!("golden/bombardier-2.0.2/refused.json"),
        include_str!("golden/bombardier-2.0.2/refused.txt"),
        false,
    ),
    (
        include_str!("golden/bombardier-2.0.2/refused-l.json"),
        include_str!("golden/bombardier-2.0.2/refused-l.txt"),
        true,
    ),
];

/// Statistics differ from run to run: their digits become nines, their units one unit, and the
/// spaces that align them stay. Counts and throughput are compared as they are.
fn layout(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let varies = line.starts_with("  Reqs/sec")
            || line.starts_with("  Latency ")
            || line.starts_with("     ");
        if varies {
            // Right-aligned columns: ends of columns are what must agree.
            let ends: Vec<usize> = line
                .char_indices()
                .zip(line.chars().skip(1).map(Some).chain([None]))
                .filter(|((_, c), next)| *c != ' ' && next.is_none_or(|next| next == ' '))
                .map(|((at, _), _)| at)
                .collect();
            let name = line.split_whitespace().next().unwrap_or_default();
            out.push_str(&format!("{name} {ends:?}\n"));
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[test]
fn text_has_bombardiers_layout() {
    for (json, text, latencies) in RUNS {
        let json: Value = serde_json::from_str(json).expect("bombardier printed JSON");
        let ours = render_text(&result(&json), &spec(&json, *latencies));
        assert_eq!(layout(&ours), layout(text));
    }
}

/// The numbers after these keys differ from run to run.
fn without_statistics(json: &str) -> String {
    let mut out = String::new();
    let mut rest = json;
    let keys = [
        "\"mean\":",
        "\"stddev\":",
        "\"max\":",
        "\"50\":",
        "\"75\":",
        "\"90\":",
        "\"95\":",
        "\"99\":",
    ];
    while let Some((at, key)) = keys
        .iter()
        .filter_map(|key| Some((rest.find(key)?, key)))
        .min()
    {
        let after = at + key.len();
        out.push_str(&rest[..after]);
        let number = rest[after..].find([',', '}']).expect("a number ends");
        assert!(rest[after..after + number].parse::<f64>().is_ok(), "{rest}");
        rest = &rest[after + number..];
    }
    out + rest
}

#[test]
fn json_is_bombardiers_but_for_the_statistics() {
    for (golden, _, latencies) in RUNS {
        let json: Value = serde_json::from_str(golden).expect("bombardier printed JSON");
        let ours = render_json(&result(&json), &spec(&json, *latencies));
        assert_eq!(
            without_statistics(&ours),
            without_statistics(golden.trim_end())
        );
        let read: Value = serde_json::from_str(&ours).expect("ours is JSON");
        let mean = |json: &Value| json["result"]["rps"]["mean"].as_f64().expect("a number");
        assert!((mean(&read) - mean(&json)).abs() < 1e-6);
    }
}

#[test]
fn a_run_without_data_says_so() {
    let executor = Executor::ConstantVus {
        vus: 1,
        duration: None,
    };
    let nothing = support::empty(support::plan("http://h/", executor));
    let json: Value = serde_json::from_str(RUNS[0].0).expect("bombardier printed JSON");
    let spec = spec(&json, true);
    let text = render_text(&nothing, &spec);
    assert!(text.contains("enough data to compute statistics for requests"));
    assert!(text.contains("enough data to compute statistics for latencies"));
    let ours: Value = serde_json::from_str(&render_json(&nothing, &spec)).expect("is JSON");
    assert_eq!(ours["result"].get("latency"), None);
}

fn render(template: &str, result: &RunResult, spec: &Spec) -> String {
    let mut state = 0_u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state
    };
    let mut identity = Identity {
        unix_ns: 1_800_000_000_000_000_000,
        node: [3; 6],
        uid: 0,
        gid: 0,
        random: &mut random,
    };
    let template = ReportTemplate::parse(template).expect("parses");
    template
        .render(result, spec, &mut identity)
        .expect("renders")
}

#[test]
fn templates_see_the_same_figures_as_the_reports() {
    let json: Value = serde_json::from_str(RUNS[3].0).expect("bombardier printed JSON");
    let (result, spec) = (result(&json), spec(&json, true));
    let own_json = r#"{{with .Result}}{{.Req2XX}} {{.Req4XX}} {{.Others}} {{.BytesRead}}{{end}}
{{with .Result.LatenciesStats (FloatsToArray 0.5 0.99)}}{{printf "%.2f" .Mean}}{{range $p, $l := .Percentiles}} {{printf "%2.0f" (Multiply $p 100)}}={{FormatTimeUsUint64 $l}}{{end}}{{end}}
{{FormatBinary .Result.Throughput}}/s {{.Spec.URL}} {{.Spec.IsTimedTest}} {{.Spec.TestDuration.Seconds}} {{.Spec.Rate}}
{{range .Spec.Headers}}{{.Key}}: {{.Value}}{{end}} {{WithLatencies}} {{printf "%s" (StringToBytes "x")}} {{.Spec.URL.Host}}"#;
    let text = render(own_json, &result, &spec);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "303 101 0 60701");
    assert_eq!(lines[1], "259.25 50=259.00us 99=259.00us");
    assert_eq!(
        lines[2],
        "135.07KB/s http://127.0.0.1:9100/mixed?a=1&b=2 true 1 500"
    );
    assert_eq!(lines[3], "X-A: b true x 127.0.0.1:9100");
}

#[test]
fn templates_make_uuids_and_refuse_raw_histograms() {
    let json: Value = serde_json::from_str(RUNS[0].0).expect("bombardier printed JSON");
    let (result, spec) = (result(&json), spec(&json, false));
    let text = render(
        "{{$n := UUIDV1}}{{UUIDV5 $n \"a\"}} {{UUIDV3 $n \"a\"}} {{UUIDV4}} {{UUIDV2 0}}",
        &result,
        &spec,
    );
    let versions: Vec<char> = text
        .split(' ')
        .filter_map(|uuid| uuid.chars().nth(14))
        .collect();
    assert_eq!(versions, ['5', '3', '4', '2']);
    for (bad, what) in [
        ("{{.Result.Latencies.VisitAll}}", "VisitAll"),
        ("{{UUIDV9}}", "UUIDV9"),
        ("{{Multiply 1}}", "Multiply"),
    ] {
        let error = ReportTemplate::parse(bad).expect_err(bad);
        assert!(error.what.contains(what), "{error}");
    }
}
