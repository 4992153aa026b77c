//! The Grafana dashboards of `deploy/grafana` against a real Prometheus, after a real run.
//!
//! Must not know what panels look like. Invariant: every query of every panel returns data.

use std::fs;
use std::path::PathBuf;

use loadline_e2e::prometheus::Prometheus;
use loadline_e2e::server::Server;
use loadline_e2e::web;
use loadline_e2e::{loadline, run_to_end, skip};
use serde_json::Value;

/// Some of the requests get a 503 response; no panel needs TLS, groups or data.
const SCRIPT: &str = "
    import http from 'k6/http';
    import { check } from 'k6';
    import exec from 'k6/execution';
    export const options = { scenarios: { steady: {
        executor: 'constant-arrival-rate', rate: 100, duration: '4s', preAllocatedVUs: 10,
    } } };
    export default function () {
        const path = exec.scenario.iterationInTest % Number(__ENV.EVERY) === 0 ? 'broken' : 'fine';
        const response = http.get(`${__ENV.TARGET}${path}`, { tags: { name: path } });
        check(response, { 'is ok': (r) => r.status === 200, 'is there': (r) => r.status > 0 });
        if (exec.scenario.iterationInTest === 7) check(response, { 'is rare': () => false });
    }";

fn dashboard(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../deploy/grafana")
        .join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// Titles and queries of all panels, with Grafana's variables replaced.
fn queries(dashboard: &Value, testid: &str) -> Vec<(String, String)> {
    let panels = dashboard["panels"].as_array().expect("it has panels");
    let mut queries = Vec::new();
    for panel in panels {
        let title = panel["title"].as_str().expect("a panel has a title");
        for target in panel["targets"].as_array().into_iter().flatten() {
            let query = target["expr"].as_str().expect("a target has a query");
            let query = query
                .replace("$__rate_interval", "1m")
                .replace("$testid", testid);
            assert!(!query.contains('$'), "{title}: {query}");
            queries.push((title.to_owned(), query));
        }
    }
    queries
}

fn every_panel_finds_something(test: &str, name: &str, variables: &[(&str, &str)]) {
    let prometheus = match Prometheus::start() {
        Ok(prometheus) => prometheus,
        Err(why) => return skip(test, &why),
    };
    let folder = tempfile::tempdir().expect("there is room");
    let script = folder.path().join("script.js");
    fs::write(&script, SCRIPT).expect("there is room");
    let target = Server::start(|stream, _| {
        web::serve(stream, |request| match request.word(1) {
            "/broken" => {
                b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy".to_vec()
            }
            _ => web::ok("hello"),
        })
    });
    // In the first run one in ten requests fails, in the second all of them.
    for (testid, every) in [("some", "10"), ("all", "1")] {
        let mut command = loadline();
        command
            .args(["run", "-q", "--strict-outputs"])
            .args(["--tag", &format!("testid={testid}")])
            .args(["-o", &format!("prometheus-rw={}", prometheus.write_url())])
            .args(["-e", &format!("TARGET={}", target.url("/"))])
            .args(["-e", &format!("EVERY={every}")])
            // The server of this test is in this process.
            .args(["--observe", &format!("service=process:pid:{}", std::process::id())])
            .arg(&script)
            .env("K6_PROMETHEUS_RW_PUSH_INTERVAL", "1s")
            .envs(variables.iter().copied());
        let output = run_to_end(command);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{told}");
    }
    let dashboard = dashboard(name);
    for testid in ["some", "all"] {
        let queries = queries(&dashboard, testid);
        assert!(queries.len() > 20, "{}", queries.len());
        every_query_finds_something(&prometheus, queries);
    }
    for (testid, failed) in [("some", 0.1), ("all", 1.0)] {
        let queries = queries(&dashboard, testid);
        let (_, of_requests) = queries
            .iter()
            .find(|(title, _)| title == "Failed requests")
            .expect("a panel");
        let (_, of_checks) = queries
            .iter()
            .find(|(title, _)| title == "Checks")
            .expect("a panel");
        let [failed_told, passed_told] =
            [of_requests, of_checks].map(|query| prometheus.number(query));
        assert!(
            (failed_told - failed).abs() < 0.02,
            "{testid}: {failed_told}"
        );
        // Of two checks that are equally frequent one always passes; a third occurs once.
        assert!(
            (passed_told - (1.0 - failed / 2.0)).abs() < 0.02,
            "{testid}: {passed_told}"
        );
    }
}

fn every_query_finds_something(prometheus: &Prometheus, queries: Vec<(String, String)>) {
    for (title, query) in queries {
        let found = prometheus.query(&query);
        let is_number = |series: &Value| {
            let value = series["value"][1].as_str();
            series["histogram"].is_array() || value.is_some_and(|value| value != "NaN")
        };
        assert!(found.iter().any(is_number), "{title}: {query}: {found:?}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn every_panel_of_the_native_dashboard_finds_something() {
    every_panel_finds_something(
        "every_panel_of_the_native_dashboard_finds_something",
        "native-histograms.json",
        &[("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true")],
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn every_panel_of_the_statistics_dashboard_finds_something() {
    every_panel_finds_something(
        "every_panel_of_the_statistics_dashboard_finds_something",
        "trend-stats.json",
        &[(
            "K6_PROMETHEUS_RW_TREND_STATS",
            "p(50),p(90),p(95),p(99),count,sum",
        )],
    );
}
