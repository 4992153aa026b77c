//! Remote write into a real Prometheus that disappears and returns; and into receivers that are busy, strict or
//! dead.
//!
//! Must not know how samples are encoded. Invariant: Prometheus' data at the end equals the summary.

use std::fs;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loadline_e2e::prometheus::Prometheus;
use loadline_e2e::server::Server;
use loadline_e2e::web::{self, Request};
use loadline_e2e::{clock, loadline, process::Running, run_to_end, skip};
use serde_json::Value;

/// 200 iterations per second with a request, a check and a trend.
const SCRIPT: &str = "
    import http from 'k6/http';
    import { check } from 'k6';
    import { Trend } from 'k6/metrics';
    const own = new Trend('own_time', true);
    export const options = { scenarios: { steady: {
        executor: 'constant-arrival-rate', rate: 200, duration: __ENV.DURATION, preAllocatedVUs: 10,
    } } };
    export function setup() { http.get(__ENV.TARGET); }
    export default function () {
        const response = http.get(__ENV.TARGET, { tags: { 'bad-label.x': 'y', 'empty': '' } });
        check(response, { 'is ok': (r) => r.status === 200 });
        own.add(12.5);
    }";

/// A run of the script, with a folder for its output files.
struct Test {
    folder: tempfile::TempDir,
    target: Server,
}

impl Test {
    fn new() -> Test {
        let folder = tempfile::tempdir().expect("there is room");
        fs::write(folder.path().join("script.js"), SCRIPT).expect("there is room");
        let target = Server::start(|stream, _| web::serve(stream, |_| web::ok("hello")));
        Test { folder, target }
    }

    fn command(&self, receiver: &str, duration: &str, arguments: &[&str]) -> Command {
        let mut command = loadline();
        command
            .args([
                "run",
                "-q",
                "--audit",
                "-o",
                &format!("prometheus-rw={receiver}"),
            ])
            .arg("--summary-export")
            .arg(self.summary_path())
            .args(["-e", &format!("TARGET={}", self.target.url("/"))])
            .args(["-e", &format!("DURATION={duration}")])
            .args(arguments)
            .arg(self.folder.path().join("script.js"))
            .env("K6_PROMETHEUS_RW_PUSH_INTERVAL", "1s")
            .env("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true");
        command
    }

    fn summary_path(&self) -> std::path::PathBuf {
        self.folder.path().join("summary.json")
    }

    fn summary(&self) -> Value {
        let text = fs::read_to_string(self.summary_path()).expect("it was written");
        serde_json::from_str(&text).expect("it is JSON")
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Compares Prometheus' totals with the summary's.
fn assert_totals_agree(prometheus: &Prometheus, summary: &Value) {
    let metrics = &summary["metrics"];
    let count = |name: &str| metrics[name]["count"].as_f64().expect("it is a counter");
    let requests = prometheus.number("sum(k6_http_reqs_total)");
    assert_eq!(requests, count("http_reqs"));
    let iterations = prometheus.number("sum(k6_iterations_total)");
    assert_eq!(iterations, count("iterations"));
    let durations = "sum(k6_http_req_duration_seconds)";
    let observed = prometheus.number(&format!("histogram_count({durations})"));
    assert_eq!(observed, count("http_reqs"));
    let sum_s = prometheus.number(&format!("histogram_sum({durations})"));
    let mean_ms = metrics["http_req_duration"]["avg"]
        .as_f64()
        .expect("it is a trend");
    let wanted_s = mean_ms / 1e3 * observed;
    assert!(
        (sum_s - wanted_s).abs() < 1e-6 * wanted_s,
        "{sum_s} {wanted_s}"
    );
    let p95_s = prometheus.number(&format!("histogram_quantile(0.95, {durations})"));
    let p95_ms = metrics["http_req_duration"]["p(95)"]
        .as_f64()
        .expect("it is a trend");
    // The bucket width of schema 3.
    let width = 2_f64.powf(1.0 / 8.0) * 1.001;
    let ratio = p95_s * 1e3 / p95_ms;
    assert!(
        (1.0 / width..=width).contains(&ratio),
        "{p95_s} s, {p95_ms} ms"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn prometheus_has_what_the_summary_says() {
    let prometheus = match Prometheus::start() {
        Ok(prometheus) => prometheus,
        Err(why) => return skip("prometheus_has_what_the_summary_says", &why),
    };
    let test = Test::new();
    let output = run_to_end(test.command(&prometheus.write_url(), "3s", &["--strict-outputs"]));
    let told = errors(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(
        told.contains("audit: ") && told.contains("lost: 0"),
        "{told}"
    );
    assert_totals_agree(&prometheus, &test.summary());
    let found = prometheus.query("k6_http_reqs_total{bad_label_x=\"y\"}");
    let labels = &found[0]["metric"];
    assert_eq!(labels["scenario"], "steady");
    assert_eq!(
        (labels["status"].as_str(), labels.get("empty")),
        (Some("200"), None)
    );
    // A counter starts with zero: its increase is its value.
    let increase = prometheus.number("sum(increase(k6_iterations_total[1m])) > 0");
    assert!(increase > 0.0);
    assert_eq!(
        prometheus.number("histogram_count(sum(k6_own_time_seconds))"),
        prometheus.number("sum(k6_iterations_total)")
    );
    assert_eq!(prometheus.number("k6_checks_rate"), 1.0);
    assert!(prometheus.number("loadline_generator_memory_bytes") > 1e6);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn agents_write_one_set_of_series() {
    let prometheus = match Prometheus::start() {
        Ok(prometheus) => prometheus,
        Err(why) => return skip("agents_write_one_set_of_series", &why),
    };
    let test = Test::new();
    let more = ["--strict-outputs", "--agents", "3"];
    let output = run_to_end(test.command(&prometheus.write_url(), "3s", &more));
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert_totals_agree(&prometheus, &test.summary());
    // One of setup(), one of the scenario, whichever virtual user made the requests.
    assert_eq!(prometheus.number("count(k6_http_reqs_total)"), 2.0);
    assert_eq!(prometheus.number("count(k6_iterations_total)"), 1.0);
    assert_eq!(prometheus.number("count(k6_vus)"), 1.0);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_outage_in_the_middle_loses_nothing() {
    let mut prometheus = match Prometheus::start() {
        Ok(prometheus) => prometheus,
        Err(why) => return skip("an_outage_in_the_middle_loses_nothing", &why),
    };
    let test = Test::new();
    let url = prometheus.write_url();
    let running = Running::start(test.command(&url, "12s", &["--strict-outputs"]));
    let has_begun = || (!prometheus.query("k6_iterations_total").is_empty()).then_some(());
    clock::wait_for(Duration::from_secs(20), has_begun).expect("samples arrive");
    prometheus.stop();
    clock::pause(Duration::from_secs(4));
    prometheus.start_again();
    let output = running.finish();
    let told = errors(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("they are kept and tried again"), "{told}");
    assert!(told.contains("accepts samples again"), "{told}");
    assert!(told.contains("lost: 0"), "{told}");
    assert_totals_agree(&prometheus, &test.summary());
    // The seconds of the outage were sent later, each with its time.
    let points = prometheus.number("count_over_time(k6_iterations_total[1m])");
    assert!(points >= 10.0, "{points}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn runs_without_a_script_are_pushed_too() {
    let prometheus = match Prometheus::start() {
        Ok(prometheus) => prometheus,
        Err(why) => return skip("runs_without_a_script_are_pushed_too", &why),
    };
    let target = Server::start(|stream, _| web::serve(stream, |_| web::ok("hello")));
    let mut command = loadline();
    command
        .args([
            "bench",
            "-q",
            "--audit",
            "--strict-outputs",
            "-c",
            "2",
            "-n",
            "500",
        ])
        .args(["-o", &format!("prometheus-rw={}", prometheus.write_url())])
        .arg(target.url("/"))
        .env("K6_PROMETHEUS_RW_TREND_STATS", "count,p(99.9)");
    let output = run_to_end(command);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert_eq!(
        prometheus.number("k6_http_reqs_total{status=\"200\"}"),
        500.0
    );
    assert_eq!(prometheus.number("k6_http_req_duration_count"), 500.0);
    assert!(prometheus.number("k6_http_req_duration_p999") > 0.0);
}

/// A run of requests without a script, with this run id.
fn bench(prometheus: &Prometheus, target: &Server, testid: &str) -> Command {
    let mut command = loadline();
    command
        .args(["bench", "-q", "--audit", "-r", "100", "-z", "4s"])
        .args(["--tag", &format!("testid={testid}")])
        .args(["-o", &format!("prometheus-rw={}", prometheus.write_url())])
        .arg(target.url("/"))
        .env("K6_PROMETHEUS_RW_TREND_STATS", "count")
        .env("K6_PROMETHEUS_RW_PUSH_INTERVAL", "1s");
    command
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn two_runs_into_one_receiver_are_told_apart_by_their_tags() {
    let prometheus = match Prometheus::start() {
        Ok(prometheus) => prometheus,
        Err(why) => {
            return skip(
                "two_runs_into_one_receiver_are_told_apart_by_their_tags",
                &why,
            );
        }
    };
    let test = Test::new();
    let tagged = ["--strict-outputs", "--tag", "testid=scripted"];
    let scripted = Running::start(test.command(&prometheus.write_url(), "4s", &tagged));
    let mut benched = bench(&prometheus, &test.target, "benched");
    benched.arg("--strict-outputs");
    let benched = Running::start(benched);
    for output in [scripted.finish(), benched.finish()] {
        let told = errors(&output);
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(told.contains("lost: 0"), "{told}");
        assert!(!told.contains("refuse"), "{told}");
    }
    let requests =
        |testid| prometheus.number(&format!("sum(k6_http_reqs_total{{testid=\"{testid}\"}})"));
    assert_eq!(requests("benched"), 400.0);
    let summary = test.summary();
    assert_eq!(
        Some(requests("scripted")),
        summary["metrics"]["http_reqs"]["count"].as_f64()
    );
    for metric in ["k6_vus", "k6_vus_max", "loadline_generator_cpu_cores"] {
        let of_runs = prometheus.query(&format!("{metric}{{testid=~\"scripted|benched\"}}"));
        assert_eq!(of_runs.len(), 2, "{metric}: {of_runs:?}");
    }
    let untagged = prometheus.query("{__name__=~\"k6_.*|loadline_.*\",testid=\"\"}");
    assert!(untagged.is_empty(), "{untagged:?}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn two_runs_that_write_the_same_series_are_told_of_each_other() {
    let prometheus = match Prometheus::start() {
        Ok(prometheus) => prometheus,
        Err(why) => {
            return skip(
                "two_runs_that_write_the_same_series_are_told_of_each_other",
                &why,
            );
        }
    };
    let target = Server::start(|stream, _| web::serve(stream, |_| web::ok("hello")));
    let begin = || Running::start(bench(&prometheus, &target, "one"));
    let first = begin();
    while prometheus.query("k6_http_reqs_total").is_empty() {
        clock::pause(Duration::from_millis(50));
    }
    let told = [begin(), first].map(|run| errors(&run.finish()));
    assert!(
        told.iter().any(|told| told.contains("another run wrote")),
        "{told:?}"
    );
    let alone = errors(&run_to_end(bench(&prometheus, &target, "one")));
    assert!(!alone.contains("another run wrote"), "{alone}");
}

/// Their sums never fall: each pushes a zero and, at its end, the same number.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn two_runs_that_push_once_are_told_of_each_other_by_the_audit() {
    let test = "two_runs_that_push_once_are_told_of_each_other_by_the_audit";
    let prometheus = match Prometheus::start() {
        Ok(prometheus) => prometheus,
        Err(why) => return skip(test, &why),
    };
    let target = Server::start(|stream, stop| {
        web::serve(stream, |_| {
            stop.pause(Duration::from_millis(40));
            web::ok("hello")
        })
    });
    let command = || {
        let mut command = loadline();
        command.args(["bench", "-q", "--audit", "-c", "1", "-n", "10"]);
        command.args(["-o", &format!("prometheus-rw={}", prometheus.write_url())]);
        command.arg(target.url("/"));
        command
    };
    let both = [command(), command()].map(Running::start);
    let told = both.map(|run| errors(&run.finish()));
    assert!(
        told.iter().any(|told| told.contains("another run wrote")),
        "{told:?}"
    );
    let alone = errors(&run_to_end(command()));
    assert!(!alone.contains("another run wrote"), "{alone}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_push_that_is_refused_in_part_loses_only_that() {
    let prometheus = match Prometheus::start() {
        Ok(prometheus) => prometheus,
        Err(why) => return skip("a_push_that_is_refused_in_part_loses_only_that", &why),
    };
    let target = Server::start(|stream, _| web::serve(stream, |_| web::ok("hello")));
    // Another sender has already written this series, with a value one hour ahead.
    prometheus.write_ahead("k6_vus", ("testid", "same"));
    let told = errors(&run_to_end(bench(&prometheus, &target, "same")));
    let series = "k6_vus{testid=\"same\"}";
    let refused =
        format!("refuses samples: {series}: the server answered 400: out of order sample");
    assert!(told.contains(&refused), "{told}");
    let audited = format!("1 are missing and 0 differ, lost: 0; the first is {series}");
    assert!(told.contains(&audited), "{told}");
    for metric in ["sum(k6_http_reqs_total)", "k6_http_req_duration_count"] {
        assert_eq!(prometheus.number(metric), 400.0, "{metric}");
    }
    // All data of the other series arrived: four seconds, and the zero before them.
    let points = prometheus.number("count_over_time(k6_http_reqs_total[1m])");
    assert!(points >= 4.0, "{points}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_receiver_that_is_not_there_is_told_of_soon_and_what_never_arrived_is_counted() {
    let test = Test::new();
    let silent = Server::start(|_, stop| {
        stop.wait();
        Ok(())
    });
    let nobody = loadline_e2e::server::free_port();
    for receiver in [
        silent.url("/push"),
        format!("http://127.0.0.1:{nobody}/push"),
    ] {
        let mut command = test.command(&receiver, "8s", &["--audit=false"]);
        command.env_remove("K6_PROMETHEUS_RW_PUSH_INTERVAL");
        let running = Running::start(command);
        let is_told = || {
            let told = running.errors_so_far();
            told.contains("they are kept and tried again").then_some(())
        };
        // Before the end of the run: its summary does not exist yet.
        let told = clock::wait_for(Duration::from_secs(20), is_told);
        assert!(told.is_some() && !test.summary_path().exists());
        let begun = clock::now();
        let output = running.finish();
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{:?}",
            begun.elapsed()
        );
        fs::remove_file(test.summary_path()).expect("it was written");
        let told = errors(&output);
        assert!(told.contains("samples never arrived"), "{told}");
    }
}

/// A receiver that responds to each push with the next of these responses, and then repeats the last one.
fn receiver(answers: &'static [&'static str]) -> (Server, Arc<Mutex<Vec<Request>>>) {
    let seen: Arc<Mutex<Vec<Request>>> = Arc::default();
    let log = Arc::clone(&seen);
    let server = Server::start(move |stream, _| {
        web::serve(stream, |request| {
            let mut seen = log.lock().expect("nothing panics under it");
            let answer = answers[seen.len().min(answers.len() - 1)];
            seen.push(Request {
                head: request.head.clone(),
                body: request.body.clone(),
            });
            answer.as_bytes().to_vec()
        })
    });
    (server, seen)
}

const TAKEN: &str = "HTTP/1.1 204 No Content\r\n\r\n";
const BUSY: &str =
    "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 5\r\n\r\nbusy\n";
const REFUSED: &str = "HTTP/1.1 400 Bad Request\r\nContent-Length: 13\r\n\r\nbad timestamp";

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_busy_receiver_is_asked_again_and_credentials_stand_beside_headers() {
    let test = Test::new();
    let (server, seen) = receiver(&[TAKEN, BUSY, TAKEN]);
    let mut command = test.command(
        &server.url("/push"),
        "2s",
        &["--audit=false", "--strict-outputs"],
    );
    command
        .env("K6_PROMETHEUS_RW_USERNAME", "ann")
        .env("K6_PROMETHEUS_RW_PASSWORD", "secret")
        .env("K6_PROMETHEUS_RW_HTTP_HEADERS", "X-Scope-OrgID:tenant");
    let output = run_to_end(command);
    let told = errors(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("the server answered 429: busy"), "{told}");
    let seen = seen.lock().expect("nothing panics under it");
    assert!(seen.len() >= 4, "{}", seen.len());
    for request in seen.iter() {
        assert_eq!(
            request.header("authorization"),
            Some("Basic YW5uOnNlY3JldA==")
        );
        assert_eq!(request.header("x-scope-orgid"), Some("tenant"));
        assert_eq!(request.header("content-encoding"), Some("snappy"));
    }
    // The first request announces the protocol version; this receiver only knows 1.0.
    let version = |n: usize| seen[n].header("x-prometheus-remote-write-version");
    assert_eq!((version(0), version(1)), (Some("2.0.0"), Some("0.1.0")));
    assert_eq!(
        seen[1].body, seen[2].body,
        "the refused request comes again"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn what_does_not_arrive_is_told_once_and_at_the_end() {
    let test = Test::new();
    let (server, _) = receiver(&[TAKEN, REFUSED]);
    let url = server.url("/push");
    let output = run_to_end(test.command(&url, "2s", &["--audit=false"]));
    let told = errors(&output);
    assert_eq!(
        output.status.code(),
        Some(0),
        "outputs are not strict: {told}"
    );
    let once = told.matches("is failing: Prometheus refuses").count();
    assert_eq!(once, 1, "{told}");
    assert!(
        told.contains("the server answered 400: bad timestamp"),
        "{told}"
    );
    assert!(
        told.contains("samples were refused; the first of k6_"),
        "{told}"
    );
    let strict = run_to_end(test.command(&url, "1s", &["--audit=false", "--strict-outputs"]));
    assert_ne!(strict.status.code(), Some(0));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn settings_that_mean_nothing_are_refused_before_the_run() {
    let test = Test::new();
    let output = run_to_end(test.command("localhost:9090", "1s", &[]));
    assert_ne!(output.status.code(), Some(0));
    let told = errors(&output);
    assert!(
        told.contains("must begin with http:// or https://"),
        "{told}"
    );
}
