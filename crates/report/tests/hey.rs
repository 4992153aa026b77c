//! Compares the hey dialect with what hey 0.1.5 printed: results are built from the samples that hey printed
//! with `{{jsonify .}}`, and rendered next to its report of the same run.

mod support;

use loadline_model::sample::Sample;
use loadline_model::{ErrorClass, Executor, RunResult};
use loadline_report::hey;
use serde_json::Value;

fn seconds(value: &Value, name: &str) -> Vec<u64> {
    let list = value[name].as_array().expect("a list");
    list.iter()
        .map(|item| (item.as_f64().expect("a number") * 1e9).round() as u64)
        .collect()
}

fn samples(report: &Value) -> Vec<Sample> {
    let [lats, conn, dns, req, delay, res, offsets] = [
        "Lats",
        "ConnLats",
        "DnsLats",
        "ReqLats",
        "DelayLats",
        "ResLats",
        "Offsets",
    ]
    .map(|name| seconds(report, name));
    let statuses = report["StatusCodes"].as_array().expect("a list");
    let sample = |i: usize| Sample {
        start_ns: offsets[i],
        intended_ns: offsets[i],
        dns_ns: dns[i],
        connect_ns: conn[i] - dns[i],
        sending_ns: req[i],
        waiting_ns: delay[i],
        receiving_ns: res[i],
        service_ns: lats[i],
        status: statuses[i].as_u64().expect("a status") as u16,
        error: None,
        body_bytes: 0,
        sent_bytes: 0,
        vus: 1,
    };
    (0..lats.len()).map(sample).collect()
}

fn shared(vus: u32, iterations: u64) -> Executor {
    Executor::SharedIterations {
        vus,
        iterations,
        max_duration: None,
    }
}

/// The result that would have given hey's samples.
fn result(report: &Value) -> RunResult {
    let mut result = support::empty(support::plan("http://127.0.0.1:9100/get", shared(1, 1)));
    let totals = &mut result.totals;
    totals.elapsed_ns = report["Total"].as_u64().expect("nanoseconds");
    let seen = &mut totals.seen;
    for sample in samples(report) {
        seen.answered_time.record(sample.service_ns);
        seen.phases
            .blocked
            .record(sample.dns_ns + sample.connect_ns);
        seen.phases.sending.record(sample.sending_ns);
        seen.phases.waiting.record(sample.waiting_ns);
        seen.phases.receiving.record(sample.receiving_ns);
        *seen.statuses.row(sample.status) += 1;
        seen.counts.started += 1;
        seen.counts.completed += 1;
    }
    seen.counts.body_bytes = report["SizeTotal"].as_u64().expect("bytes");
    result
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("hey printed JSON")
}

/// hey 0.1.5 prints the percent sign twice, a defect that is not copied.
fn corrected(text: &str) -> String {
    text.replace("%% in", "% in")
}

#[test]
fn a_clean_run_is_printed_to_the_byte() {
    let report = json(include_str!("golden/hey-0.1.5/get.json"));
    assert_eq!(
        hey::render(&result(&report)),
        corrected(include_str!("golden/hey-0.1.5/get.txt"))
    );
}

/// hey prints `0% in 0.0000 secs` for percentiles that too few samples reach; ours are the slowest.
fn without_unreached(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("  0% in") && !line.starts_with("  99% in"));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn other_statuses_and_empty_bodies_are_printed_as_hey_does() {
    for (report, text) in [
        (
            include_str!("golden/hey-0.1.5/mixed.json"),
            include_str!("golden/hey-0.1.5/mixed.txt"),
        ),
        (
            include_str!("golden/hey-0.1.5/empty.json"),
            include_str!("golden/hey-0.1.5/empty.txt"),
        ),
    ] {
        let ours = hey::render(&result(&json(report)));
        assert!(ours.contains("\n  99% in"));
        assert_eq!(
            without_unreached(&ours),
            without_unreached(&corrected(text))
        );
    }
}

#[test]
fn few_samples_do_not_shift_the_percentiles() {
    let report = json(include_str!("golden/hey-0.1.5/four.json"));
    let mut lats = seconds(&report, "Lats");
    lats.sort_unstable();
    let ours = hey::render(&result(&report));
    for (percentage, rank) in [(10, 1), (25, 1), (50, 2), (75, 3), (90, 3), (99, 3)] {
        let line = format!("  {percentage}% in {:.4} secs\n", lats[rank] as f64 / 1e9);
        assert!(ours.contains(&line), "{line}{ours}");
    }
}

#[test]
fn a_run_of_errors_alone_is_printed_to_the_byte() {
    let golden = include_str!("golden/hey-0.1.5/refused.txt");
    let rate = golden
        .lines()
        .find_map(|line| line.strip_prefix("  Requests/sec:\t"))
        .expect("a rate");
    let mut result = support::empty(support::plan("http://127.0.0.1:9/", shared(2, 20)));
    let key = support::key(
        ErrorClass::Refused,
        "GET http://127.0.0.1:9/",
        "127.0.0.1:9",
        "",
    );
    support::fail(&mut result, &key, 20);
    result.totals.elapsed_ns = (20.0 / rate.parse::<f64>().expect("a number") * 1e9).round() as u64;
    let ours = hey::render(&result);
    let rate_of = |text: &str| {
        text.lines()
            .find(|l| l.contains("Requests/sec"))
            .map(str::to_owned)
    };
    let (ours_rate, wanted_rate) = (
        rate_of(&ours).expect("a rate"),
        rate_of(golden).expect("a rate"),
    );
    // The rate comes back through whole nanoseconds.
    assert_eq!(ours_rate[..18], wanted_rate[..18]);
    assert_eq!(
        ours.replace(&ours_rate, ""),
        golden.replace(&wanted_rate, "")
    );
}

#[test]
fn csv_is_printed_to_the_byte() {
    for (report, golden) in [
        (
            include_str!("golden/hey-0.1.5/get.json"),
            include_str!("golden/hey-0.1.5/get.csv"),
        ),
        (
            include_str!("golden/hey-0.1.5/mixed.json"),
            include_str!("golden/hey-0.1.5/mixed.csv"),
        ),
    ] {
        let mut lines = vec![hey::csv_header().to_owned()];
        lines.extend(samples(&json(report)).iter().filter_map(hey::csv_row));
        assert_eq!(lines.join("\n"), golden.trim_end());
    }
    let failed = Sample {
        error: Some(ErrorClass::Closed),
        ..samples(&json(include_str!("golden/hey-0.1.5/four.json")))[0]
    };
    assert_eq!(hey::csv_row(&failed), None);
}

#[test]
fn jsonify_gives_heys_fields_in_heys_order() {
    let text = include_str!("golden/hey-0.1.5/get.json");
    let report = json(text);
    let template = hey::ReportTemplate::parse("{{jsonify .}}").expect("parses");
    assert!(template.needs_samples());
    let ours = template
        .render(&result(&report), &samples(&report))
        .expect("renders");
    let keys = |text: &str| -> Vec<String> {
        text.split('"')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(keys(&ours), keys(text));
    let ours = json(&ours);
    for name in [
        "Total",
        "SizeTotal",
        "SizeReq",
        "NumRes",
        "StatusCodes",
        "StatusCodeDist",
        "ErrorDist",
    ] {
        assert_eq!(ours[name], report[name], "{name}");
    }
    for name in [
        "AvgTotal", "Fastest", "Slowest", "Average", "Rps", "AvgConn", "ReqMax", "ReqMin",
    ] {
        let (ours, theirs) = (
            ours[name].as_f64().expect(name),
            report[name].as_f64().expect(name),
        );
        assert!(
            (ours - theirs).abs() <= theirs.abs() * 1e-6 + 1e-9,
            "{name}: {ours} {theirs}"
        );
    }
    assert_eq!(ours["Histogram"].as_array().map(Vec::len), Some(11));
}

#[test]
fn templates_know_heys_functions_and_are_checked_before_the_run() {
    let report = json(include_str!("golden/hey-0.1.5/get.json"));
    let render = |text: &str| {
        let template = hey::ReportTemplate::parse(text).expect("parses");
        template.render(&result(&report), &[]).expect("renders")
    };
    let total = report["Total"].as_f64().expect("a number") / 1e9;
    assert_eq!(
        render("{{formatNumber .Total.Seconds}}"),
        format!("{total:.4}\n")
    );
    assert_eq!(
        render("{{range $k, $v := .StatusCodeDist}}{{$k}}:{{$v}}{{end}} {{formatNumberInt 7}}"),
        "200:120 7\n"
    );
    let ours = hey::render(&result(&report));
    assert!(ours.contains(render("{{histogram .Histogram}}").trim_end()));
    for text in [
        "{{nope}}",
        "{{formatNumber}}",
        "{{.Total",
        "{{histogram 1 2}}",
    ] {
        assert!(hey::ReportTemplate::parse(text).is_err(), "{text}");
    }
    let nothing = support::empty(support::plan("http://h/", shared(1, 1)));
    let template =
        hey::ReportTemplate::parse("{{jsonify .}}{{histogram .Histogram}}").expect("parses");
    let json = template.render(&nothing, &[]).expect("renders");
    assert!(
        json.contains("\"Average\":null") && json.contains("\"Histogram\":null"),
        "{json}"
    );
}
