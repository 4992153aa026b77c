//! What runs say of the service under test: a process that is no part of this product, beside its load.
//!
//! Must not know how observers read. Invariant: figures are held against the kernel's own accounts.

use std::fs;
use std::time::Duration;

use loadline_e2e::clock;
use loadline_e2e::nginx::{Nginx, Options};
use loadline_e2e::process::Running;
use loadline_e2e::prometheus::Prometheus;
use loadline_e2e::target::Target;
use loadline_e2e::{bench, loadline, run_to_end, skip};
use serde_json::Value;

/// The series of a result by observer, component and metric.
fn series<'r>(result: &'r Value, observer: &str, metric: &str) -> Vec<&'r Value> {
    let all = result["observations"]["series"]
        .as_array()
        .expect("series are listed");
    all.iter()
        .filter(|one| one["observer"] == observer && one["metric"] == metric)
        .collect()
}

/// Times and values.
fn points(series: &Value) -> Vec<(f64, f64)> {
    let points = series["points"].as_array().expect("a series has points");
    points
        .iter()
        .map(|point| {
            let number = |at: usize| point[at].as_f64().expect("a point is two numbers");
            (number(0), number(1))
        })
        .collect()
}

/// What was used or counted from the first point to the last, each being the mean since the one before it.
fn sum_over_time(points: &[(f64, f64)]) -> f64 {
    let pairs = points.windows(2);
    pairs
        .map(|pair| pair[1].1 * (pair[1].0 - pair[0].0) / 1e9)
        .sum()
}

/// Processor time of a process in seconds, of the kernel's account.
fn cpu_seconds(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process is there");
    let (_, rest) = stat.rsplit_once(')').expect("the name ends");
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks: f64 = fields[11..13]
        .iter()
        .map(|ticks| ticks.parse::<f64>().expect("a number"))
        .sum();
    ticks / 100.0
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_processs_use_is_what_the_kernel_says() {
    let nginx = match Nginx::start(&Options::default()) {
        Ok(nginx) => nginx,
        Err(why) => return skip("a_processs_use_is_what_the_kernel_says", &why),
    };
    let (pid, url) = (nginx.pid(), nginx.url("/"));
    let before = cpu_seconds(pid);
    let ran = bench(&[
        "-c",
        "4",
        "-z",
        "4s",
        "--observe",
        &format!("web=process:pid:{pid}"),
        "--observe",
        "self",
        "--observe-baseline",
        "2s",
        "--observe-tail",
        "1s",
        &url,
    ]);
    let used = cpu_seconds(pid) - before;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let result = ran.result();
    let cpu = series(result, "web", "cpu_cores");
    assert_eq!(cpu.len(), 1, "{:?}", result["observations"]);
    let points_of_cpu = points(cpu[0]);
    let told = sum_over_time(&points_of_cpu);
    assert!(
        (told - used).abs() <= used * 0.1 + 0.05,
        "told {told} s, used {used} s"
    );
    assert!(
        points_of_cpu.first().is_some_and(|point| point.0 < 0.0),
        "there is a baseline"
    );
    let elapsed = result["totals"]["elapsed_ns"]
        .as_f64()
        .expect("it has a length");
    assert!(
        points_of_cpu.last().is_some_and(|point| point.0 > elapsed),
        "there is a tail"
    );
    let memory = series(result, "web", "memory_bytes");
    let resident = nginx_resident(pid);
    assert!(
        points(memory[0])
            .iter()
            .all(|point| (point.1 - resident).abs() <= resident * 0.5)
    );
    assert!(!series(result, "self", "cpu_cores").is_empty());
    assert!(
        ran.out.contains("Observed") && ran.out.contains("web"),
        "{}",
        ran.out
    );
}

/// The mean of the points from one time to another.
fn mean(points: &[(f64, f64)], from: f64, to: f64) -> f64 {
    let inside = points.iter().filter(|point| (from..to).contains(&point.0));
    let (sum, count) = inside.fold((0.0, 0.0), |(sum, count), point| {
        (sum + point.1, count + 1.0)
    });
    assert!(count > 0.0, "no point lies between {from} and {to}");
    sum / count
}

fn assert_close(what: &str, told: f64, truth: f64) {
    assert!(
        (told - truth).abs() <= truth * 0.02,
        "{what}: told {told}, true is {truth}"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn figures_are_within_two_percent_of_the_kernels_and_of_prometheus() {
    const CPU: &str = "rate(process_cpu_seconds_total[5s])";
    const ANSWERED: &str = "prometheus_http_requests_total";
    let prometheus = match Prometheus::start_scraping_itself() {
        Ok(prometheus) => prometheus,
        Err(why) => {
            let name = "figures_are_within_two_percent_of_the_kernels_and_of_prometheus";
            return skip(name, &why);
        }
    };
    let (pid, page) = (prometheus.pid(), prometheus.url("/metrics"));
    let has_rate = || prometheus.query(CPU).first().cloned();
    clock::wait_for(Duration::from_secs(20), has_rate).expect("it has scraped itself twice");
    let before = cpu_seconds(pid);
    let observers = [
        format!("web=process:pid:{pid}"),
        format!("page=scrape:{page};metric={ANSWERED};label=handler=/-/ready"),
        format!("asked=prometheus:{};query={CPU}", prometheus.url("")),
    ];
    let load = "-c 4 -z 8s --observe-baseline 2s --observe-tail 2s";
    let ready = prometheus.url("/-/ready");
    let words = load.split(' ').chain([ready.as_str()]);
    let observed = observers.iter().flat_map(|text| ["--observe", text]);
    let ran = bench(&words.chain(observed).collect::<Vec<_>>());
    let used = cpu_seconds(pid) - before;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let result = ran.result();
    let number = |value: &Value| value.as_f64().expect("it is a number");
    let only = |observer, metric| {
        let found = series(result, observer, metric);
        assert_eq!(found.len(), 1, "{observer} {metric}");
        points(found[0])
    };
    // Between the first look and the last: what lies before and after them is a moment without load.
    assert_close("processor", sum_over_time(&only("web", "cpu_cores")), used);
    // Each request of the load was answered once, and nobody else asked for that page.
    let answered = number(&result["totals"]["seen"]["counts"]["completed"]);
    assert_close(
        "requests",
        sum_over_time(&only("page", "rate_per_s")),
        answered,
    );

    let elapsed = number(&result["totals"]["elapsed_ns"]);
    let started = number(&result["totals"]["started_unix_ms"]) / 1e3;
    // What it scraped itself is up to a second old at any instant: half a second on average.
    for (told, query, age_s) in [
        (only("asked", "value"), CPU, 0.0),
        (
            only("web", "memory_bytes"),
            "process_resident_memory_bytes",
            0.5,
        ),
    ] {
        let of_prometheus = |at: f64| prometheus.number_at(query, started + at / 1e9 + age_s);
        let true_points: Vec<(f64, f64)> = told
            .iter()
            .filter_map(|(at, _)| Some((*at, of_prometheus(*at)?)))
            .collect();
        let truth = mean(&true_points, 0.0, elapsed);
        assert_close(query, mean(&told, 0.0, elapsed), truth);
    }
}

fn nginx_resident(pid: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process is there");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .expect("it has memory");
    let kb: f64 = line
        .split_whitespace()
        .nth(1)
        .and_then(|word| word.parse().ok())
        .expect("a number");
    kb * 1024.0
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn every_front_end_observes_and_leaves_its_result() {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let script = folder.path().join("script.js");
    let url = target.url("/ok");
    fs::write(
        &script,
        format!("import http from 'k6/http';\nexport default () => http.get('{url}');\n"),
    )
    .expect("there is room");
    let script = script.display().to_string();
    let observe = format!("process:pid:{}", target.pid());
    let lines: [&[&str]; 4] = [
        &["bench", "-q", "-n", "50", "--observe", &observe, &url],
        &["run", "-q", "-i", "50", "--observe", &observe, &script],
        &["hey", "-n", "50", "-observe", &observe, &url],
        &["bombardier", "-n", "50", "--observe", &observe, &url],
    ];
    for words in lines {
        let json = folder.path().join(format!("{}.json", words[0]));
        let mut command = loadline();
        command
            .args(words)
            .env("LOADLINE_JSON", &json)
            .env("LOADLINE_OBSERVE_BASELINE", "300ms")
            .env("LOADLINE_OBSERVE_TAIL", "300ms");
        let output = run_to_end(command);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {told}");
        let text = fs::read_to_string(&json).unwrap_or_else(|error| panic!("{words:?}: {error}"));
        let result: Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(
            series(&result, "process", "memory_bytes").len(),
            1,
            "{words:?}"
        );
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn what_cannot_be_read_is_told_and_what_is_required_ends_the_run() {
    let target = Target::start(&[]);
    let url = target.url("/ok");
    let ran = bench(&[
        "-n",
        "20",
        "--observe",
        "process:name:no-such-program",
        "--observe-baseline",
        "1s",
        &url,
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let result = ran.result();
    assert!(series(result, "process", "cpu_cores").is_empty());
    let notes = result["observations"]["notes"]
        .as_array()
        .expect("notes are listed");
    assert!(notes.iter().any(|note| note["kind"] == "gap"), "{notes:?}");
    assert!(ran.out.contains("no-such-program"), "{}", ran.out);

    let ran = bench(&[
        "-n",
        "20",
        "--observe",
        "process:name:no-such-program;required=true",
        &url,
    ]);
    assert_eq!(ran.code, Some(111), "{}", ran.err);
    assert!(ran.err.contains("no-such-program"), "{}", ran.err);

    for bad in [
        "proces:nginx",
        "process",
        "prometheus:http://h;query",
        "@no-such-file.yaml",
    ] {
        let ran = bench(&["-n", "20", "--observe", bad, &url]);
        assert_eq!(ran.code, Some(104), "{bad}: {}", ran.err);
        assert!(ran.err.contains("--observe"), "{bad}: {}", ran.err);
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_required_process_that_dies_ends_the_run_and_nothing_is_lost() {
    let observed = Target::start(&[]);
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let json = folder.path().join("result.json");
    let mut command = loadline();
    command
        .args(["bench", "-q", "-r", "100", "-z", "60s", "--json"])
        .arg(&json)
        .args([
            "--observe",
            &format!("process:pid:{};required=true", observed.pid()),
        ])
        .args(["--observe-baseline", "200ms", &target.url("/ok")]);
    let running = Running::start(command);
    clock::pause(Duration::from_secs(2));
    drop(observed);
    let output = running.finish();
    assert_eq!(
        output.status.code(),
        Some(111),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = fs::read_to_string(&json).expect("the result was written");
    let result: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(result["totals"]["stop"], "observer-lost");
    assert!(result["totals"]["seen"]["counts"]["completed"].as_u64() > Some(0));
}
