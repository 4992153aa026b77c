//! JMeter plans under loadline's own commands: `run`, `inspect`, and rows of suites.
//!
//! Must not know JMeter's formats beyond plans. Invariant: the target's counts are those reported.

use std::path::{Path, PathBuf};
use std::process::Output;

use loadline_e2e::jmx::{self, arrivals, element, http, threads};
use loadline_e2e::k6::repository;
use loadline_e2e::process::Running;
use loadline_e2e::prometheus::Prometheus;
use loadline_e2e::rest::RestApi;
use loadline_e2e::target::Target;
use loadline_e2e::{Ran, loadline, run_to_end, skip};
use serde_json::Value;

/// A plan with one group: a request within a transaction, one whose assertion fails, and a sampler without a
/// request.
const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan testname="Plan"/><hashTree>
<ThreadGroup testname="Users">
  <stringProp name="ThreadGroup.num_threads">${__P(threads,3)}</stringProp>
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
    <boolProp name="LoopController.continue_forever">false</boolProp>
    <stringProp name="LoopController.loops">${__P(loops,4)}</stringProp>
  </elementProp>
</ThreadGroup><hashTree>
<ConfigTestElement guiclass="HttpDefaultsGui" testname="Defaults">
  <stringProp name="HTTPSampler.path">/get</stringProp>
</ConfigTestElement><hashTree/>
<TransactionController testname="Visit"/><hashTree>
<HTTPSamplerProxy testname="Home"/><hashTree/>
</hashTree>
<HTTPSamplerProxy testname="Teapot"><stringProp name="HTTPSampler.path">/status/418</stringProp></HTTPSamplerProxy>
<hashTree>
<ResponseAssertion testname="Is fine"><collectionProp name="Asserion.test_strings">
  <stringProp name="1">200</stringProp></collectionProp>
  <stringProp name="Assertion.test_field">Assertion.response_code</stringProp>
  <intProp name="Assertion.test_type">8</intProp></ResponseAssertion><hashTree/>
</hashTree>
<DebugSampler testname="Debug"/><hashTree/>
<ResultCollector testname="View"/><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
"#;

struct Place {
    folder: tempfile::TempDir,
    target: Target,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::write(folder.path().join("plan.jmx"), PLAN).expect("the plan can be written");
        Place {
            folder,
            target: Target::start(&[]),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `loadline COMMAND plan.jmx WORDS` in the folder.
    fn plan(&self, command: &str, words: &[&str]) -> Output {
        let mut started = loadline();
        started
            .args([command, "plan.jmx"])
            .args(words)
            .current_dir(self.folder.path());
        run_to_end(started)
    }

    fn run(&self, words: &[&str]) -> Output {
        let url = self.target.url("");
        let words = [&["--target", url.as_str()], words].concat();
        self.plan("run", &words)
    }
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("no signal ended it")
}

fn told(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("the file was written");
    serde_json::from_str(&text).expect("it is JSON")
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn samplers_are_metrics_under_their_names() {
    let place = Place::new();
    let output = place.run(&[
        "-l",
        "results.jtl",
        "--json",
        "result.json",
        "-o",
        "json=values.json",
        "--report",
        "page.html",
        "--threshold",
        "http_req_failed{name:Home}:rate<1%",
        "--threshold",
        "group_duration{group:::Visit}:avg<10s",
    ]);
    assert_eq!(code(&output), 0, "{}", told(&output.stderr));
    let rows = std::fs::read_to_string(place.path("results.jtl")).expect("a results file");
    let rows = rows.lines().filter(|line| line.contains(",Users 1-"));
    assert_eq!(rows.count(), 4 * 12, "each sample has its row");
    let result = json(&place.path("result.json"));
    let by_name = result
        .pointer("/summary/by_tag/rows")
        .and_then(Value::as_array);
    let names: Vec<&str> = by_name
        .expect("a row for each name")
        .iter()
        .filter_map(|row| row[0].as_str())
        .collect();
    assert!(
        names.contains(&"Home") && names.contains(&"Teapot"),
        "{names:?}"
    );
    let values = std::fs::read_to_string(place.path("values.json")).expect("values");
    let of = |metric: &str, tag: &str| {
        let metric = format!("\"metric\":\"{metric}\"");
        let lines = values.lines().filter(|line| line.contains("\"Point\""));
        lines
            .filter(|line| line.contains(&metric) && line.contains(tag))
            .count()
    };
    assert_eq!(of("http_reqs", "\"name\":\"Home\""), 12);
    assert_eq!(of("http_reqs", "\"group\":\"::Visit\""), 12);
    assert_eq!(of("http_reqs", "\"scenario\":\"Users\""), 24);
    assert_eq!(of("checks", "\"check\":\"Is fine\""), 12);
    assert_eq!(of("samples", "\"name\":\"Debug\""), 12);
    let page = std::fs::read_to_string(place.path("page.html")).expect("a page");
    assert!(page.contains("Teapot"), "samplers are on the page");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn exit_codes_tell_of_thresholds_and_of_failures() {
    let place = Place::new();
    let crossed = place.run(&["--threshold", "error_rate<10%"]);
    assert_eq!(code(&crossed), 99, "{}", told(&crossed.stdout));
    let without_host = place.plan("run", &["--quiet"]);
    assert_eq!(code(&without_host), 1, "no request can succeed");
    let warned = told(&without_host.stderr);
    assert!(
        warned.contains("Users > Home: the request has no host"),
        "{warned}"
    );
    let none = place.run(&["--set", "Users.num_threads=many"]);
    assert_eq!(code(&none), 104);
    assert!(told(&none.stderr).contains("\"many\", which is not a number"));
    let unknown = place.run(&["--set", "Users.threads=5"]);
    assert_eq!(code(&unknown), 104);
    assert!(told(&unknown.stderr).contains("ThreadGroup.num_threads"));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn values_of_the_command_line_go_over_those_of_the_plan() {
    let place = Place::new();
    let output = place.run(&[
        "--set",
        "Users.num_threads=2",
        "-Jloops=3",
        "--json",
        "result.json",
    ]);
    assert_eq!(code(&output), 0, "{}", told(&output.stderr));
    let result = json(&place.path("result.json"));
    let sent = result
        .pointer("/totals/seen/counts/started")
        .and_then(Value::as_u64);
    assert_eq!(sent, Some(2 * 2 * 3));
    let once = place.run(&["--once", "--json", "once.json"]);
    assert_eq!(code(&once), 0);
    let result = json(&place.path("once.json"));
    let sent = result
        .pointer("/totals/seen/counts/started")
        .and_then(Value::as_u64);
    assert_eq!(sent, Some(2));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn inspect_shows_the_tree_and_where_values_come_from() {
    let place = Place::new();
    let output = place.plan("inspect", &["--json", "--host", "h"]);
    assert_eq!(code(&output), 0);
    let seen: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let elements = seen["elements"].as_array().expect("a list");
    let home = elements.iter().find(|one| one["name"] == "Home");
    let home = home.expect("it is in the tree");
    assert_eq!(home["path"], "Plan > Users > Visit > Home");
    let values = home["values"].as_array().expect("its values");
    let path = values.iter().find(|one| one["name"] == "path");
    assert_eq!(path.expect("it has one")["from"], "Defaults");
    assert_eq!(seen["groups"][0]["threads"], 3);
    let text = told(&place.plan("inspect", &[]).stdout);
    assert!(
        text.contains("threads 3 (${__P(threads,3)}), 4 loops"),
        "{text}"
    );
    assert!(text.contains("has no host"), "{text}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_plan_is_a_row_of_a_suite() {
    let place = Place::new();
    let url = place.target.url("");
    let suite = format!(
        "name: plans
target: {url}
defaults:
  gates: {{generator: false, goodput: false, checks: false}}
  phases: {{smoke: {{checks: false}}}}
rows:
  - name: one
    jmeter: {{file: plan.jmx, args: '--target ${{target.url}}'}}
    vus: 2
    env: {{loops: '5'}}
documents:
  - {{file: results.md, columns: [{{title: Row, value: plan.title}}, {{title: Requests, value: run.requests}}]}}
"
    );
    std::fs::write(place.path("suite.yaml"), suite).expect("the suite can be written");
    let mut command = loadline();
    command
        .args(["suite", "run", "suite.yaml", "--state", "state"])
        .current_dir(place.folder.path());
    let output = run_to_end(command);
    assert_eq!(
        code(&output),
        0,
        "{}{}",
        told(&output.stdout),
        told(&output.stderr)
    );
    let runs = place.path("state/runs");
    let result = std::fs::read_dir(runs)
        .expect("the state folder")
        .find_map(|row| Some(row.ok()?.path().join("1/result.json")))
        .expect("a row was run");
    let sent = json(&result);
    let sent = sent
        .pointer("/totals/seen/counts/started")
        .and_then(Value::as_u64);
    assert_eq!(sent, Some(2 * 2 * 5), "threads and loops are the row's");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn two_plans_at_once_are_told_apart_in_one_prometheus() {
    let place = Place::new();
    let prometheus = match Prometheus::start() {
        Ok(prometheus) => prometheus,
        Err(why) => return skip("two plans in one Prometheus", &why),
    };
    let output = format!("prometheus-rw={}", prometheus.write_url());
    let url = place.target.url("");
    let start = |testid: &str| {
        let tag = format!("testid={testid}");
        let mut command = loadline();
        command
            .args([
                "run", "plan.jmx", "--quiet", "--target", &url, "-o", &output,
            ])
            .args(["--tag", &tag])
            .current_dir(place.folder.path());
        Running::start(command)
    };
    let both = [start("a"), start("b")];
    for running in both {
        let ended = running.finish();
        assert_eq!(code(&ended), 0, "{}", told(&ended.stderr));
    }
    for testid in ["a", "b"] {
        let query = format!(
            "sum(k6_http_reqs_total{{testid=\"{testid}\",name=\"Home\",scenario=\"Users\"}})"
        );
        assert!(
            (prometheus.number(&query) - 12.0).abs() < f64::EPSILON,
            "{testid}"
        );
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_plan_of_the_examples_says_at_the_start_that_it_has_no_host() {
    let plan = repository().join("examples/async-ingest/PerformanceTest.jmx");
    let place = Place::new();
    let url = place.target.url("/get");
    let mut command = loadline();
    command.arg("run").arg(&plan).args(["--quiet", "--once"]);
    let output = run_to_end(command);
    assert_eq!(code(&output), 1);
    assert!(told(&output.stderr).contains("Thread Group > HTTP Request: the request has no host"));
    let mut command = loadline();
    command
        .arg("run")
        .arg(&plan)
        .args(["--target", &url, "--json"])
        .arg(place.path("result.json"));
    assert_eq!(code(&run_to_end(command)), 0);
    let result = json(&place.path("result.json"));
    let good = result
        .pointer("/totals/seen/counts/good")
        .and_then(Value::as_u64);
    assert_eq!(good, Some(1_000), "100 threads with 10 loops");
}

/// A folder with a plan of these groups in addition to the usual files.
fn place_with(groups: &str) -> Place {
    let place = Place::new();
    std::fs::write(place.path("plan.jmx"), jmx::plan(groups)).expect("the plan can be written");
    place
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_arrival_that_waits_for_a_thread_waits_in_its_response_time() {
    // One thread for two arrivals per second, each of which occupies one.
    let group = arrivals("Users", 2, 3, &http("Slow", "/delay/0.9", ""));
    let group = group.replace(
        "</com.",
        "<stringProp name=\"ConcurrencyLimit\">8</stringProp></com.",
    );
    let place = place_with(&group);
    let output = place.run(&["--json", "result.json"]);
    let result = json(&place.path("result.json"));
    let (ran, told) = (
        Ran::of(&output, Some(&result.to_string())),
        told(&output.stderr),
    );
    assert_eq!(code(&output), 0, "{told}");
    assert!(ran.count("completed") >= 5, "{told}");
    let at = |metric: &str| ran.milliseconds(metric, "max");
    assert!(at("response_time_ns") >= at("service_time_ns"), "{result}");
    assert_eq!(
        result.pointer("/verdict/delivery").and_then(Value::as_str),
        Some("delivered")
    );
}

/// The pace of a plan's timers is what its author asks for: one that is missed is named, as is one that is kept.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_throughput_timer_that_asks_for_too_much_is_named() {
    let constant = |per_minute: &str| {
        let per_minute = format!("throughput={per_minute}");
        element(
            "ConstantThroughputTimer",
            "Pace",
            &[&per_minute, "calcMode=1"],
            "",
        )
    };
    let profile = "<kg.apc.jmeter.timers.VariableThroughputTimer testname=\"Shape\">\
        <collectionProp name=\"load_profile\"><collectionProp name=\"1\">\
        <stringProp name=\"1\">500</stringProp><stringProp name=\"2\">500</stringProp>\
        <stringProp name=\"3\">30</stringProp></collectionProp></collectionProp>\
        </kg.apc.jmeter.timers.VariableThroughputTimer><hashTree/>";
    for (timer, is_missed) in [
        (constant("6000"), true),
        (profile.to_owned(), true),
        (constant("600"), false),
    ] {
        let slow = http("Slow", "/delay/0.1", &timer);
        let place = place_with(&threads("Users", 2, 12, &slow));
        let output = place.run(&["--json", "result.json"]);
        assert_eq!(code(&output), 0, "{}", told(&output.stderr));
        let verdict = json(&place.path("result.json"))["verdict"].take();
        let is_named = verdict["findings"].to_string().contains("pace-missed");
        assert_eq!(is_named, is_missed, "{timer}: {verdict}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn what_transactions_lose_as_jmeter_does_is_in_the_totals() {
    let transaction = |name: &str, inside: &str| {
        let telling = ["TransactionController.parent=true"];
        element("TransactionController", name, &telling, inside)
    };
    let twice = |inside: &str| {
        element(
            "LoopController",
            "Twice",
            &["LoopController.loops=2"],
            inside,
        )
    };
    // If this fails, the loop continues with its next iteration.
    let next_round = element("ResultAction", "Next", &["OnError.action=5"], "");
    let tries = http("Home", "/get", "") + &http("Teapot", "/status/418", &next_round);
    let around = transaction("Around", &(twice(&tries) + &http("After", "/get", "")));
    let within = transaction("Outer", &twice(&transaction("Within", &tries)));
    let place = place_with(&threads("Users", 1, 1, &(around + &within)));
    let output = place.run(&["-l", "results.jtl", "-o", "json=values.json"]);
    assert_eq!(code(&output), 0, "{}", told(&output.stderr));
    let rows = std::fs::read_to_string(place.path("results.jtl")).expect("a results file");
    assert!(!rows.contains("After"), "JMeter tells it to nobody: {rows}");
    let values = std::fs::read_to_string(place.path("values.json")).expect("values");
    let count = |name: &str| {
        let name = format!("\"name\":\"{name}\"");
        let requests = values
            .lines()
            .filter(|line| line.contains("\"metric\":\"http_reqs\""));
        requests.filter(|line| line.contains(&name)).count()
    };
    assert_eq!((count("Home"), count("Teapot"), count("After")), (4, 4, 1));
}

/// `loadline COMMAND WORDS plan.jmx -- --target URL` in the folder.
fn loaded(place: &Place, words: &[&str], more: &[&str]) -> Output {
    let mut command = loadline();
    command
        .args(words)
        .args([
            "--warm-up",
            "500ms",
            "-q",
            "--json",
            "loads.json",
            "plan.jmx",
            "--",
        ])
        .args(["--target", &place.target.url("")])
        .args(more)
        .current_dir(place.folder.path());
    run_to_end(command)
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_plan_is_loaded_step_by_step() {
    let home = http("Home", "/get", "");
    let place = place_with(&threads(
        "Users",
        1,
        1,
        &format!("{home}{}", http("Next", "/get", "")),
    ));
    let output = loaded(
        &place,
        &["sweep", "--rates", "20,60", "-z", "2s", "--pause", "0s"],
        &[],
    );
    assert_eq!(code(&output), 0, "{}", told(&output.stderr));
    let points = json(&place.path("loads.json"));
    let points = points.pointer("/points").and_then(Value::as_array).cloned();
    let throughput = |point: &Value| point["throughput"].as_f64().expect("a rate");
    let rates: Vec<f64> = points
        .expect("a point a load")
        .iter()
        .map(throughput)
        .collect();
    for (measured, iterations) in rates.iter().zip([20.0, 60.0]) {
        let wanted = 2.0 * iterations;
        assert!(
            (measured - wanted).abs() < 0.1 * wanted,
            "two requests an iteration: {rates:?}"
        );
    }
    let users = loaded(
        &place,
        &["sweep", "--concurrency", "1,4", "-z", "1s", "--pause", "0s"],
        &[],
    );
    assert_eq!(code(&users), 0, "{}", told(&users.stderr));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_capacity_of_a_plan_heeds_its_assertions() {
    let bounds = ["--from", "400", "--to", "400", "--at-least", "400"];
    let objectives = ["capacity", "--slo", "p(99)<5s, errors<1%", "--probe", "2s"];
    let capacity = [&objectives[..], &bounds].concat();
    let home = http("Home", "/get", "");
    let good = place_with(&arrivals("Users", 7, 9, &home));
    let output = loaded(&good, &capacity, &[]);
    assert_eq!(
        code(&output),
        0,
        "{}{}",
        told(&output.stdout),
        told(&output.stderr)
    );
    // In the usual plan half of the requests fail by an assertion.
    let at_once = [&capacity[..], &["--recovery", "1s"]].concat();
    let output = loaded(&Place::new(), &at_once, &[]);
    assert_eq!(code(&output), 99, "{}", told(&output.stdout));
    let two = place_with(&format!(
        "{}{}",
        threads("A", 1, 1, &home),
        threads("B", 1, 1, &home)
    ));
    let refused = loaded(&two, &capacity, &[]);
    assert_eq!(code(&refused), 104);
    assert!(
        told(&refused.stderr).contains("A, B"),
        "{}",
        told(&refused.stderr)
    );
    let one = loaded(&two, &capacity, &["--set", "A.enabled=false"]);
    assert_eq!(code(&one), 0, "{}", told(&one.stderr));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn what_watches_a_run_watches_that_of_a_plan() {
    let place = place_with(&threads("Users", 2, 40, &http("Home", "/delay/0.05", "")));
    let api = RestApi::free();
    let target = place.target.url("");
    let web = format!("--web={}", api.address());
    let start = |json: &str, web: Option<&str>| {
        let mut command = loadline();
        command
            .args([
                "run", "plan.jmx", "--quiet", "--target", &target, "--json", json,
            ])
            .args(["--observe", "self", "--report", "page.html", "--label"])
            .arg(format!("build={json}"))
            .args(web)
            .current_dir(place.folder.path());
        Running::start(command)
    };
    let running = start("a.json", Some(&web));
    let page = api.first("GET", "/");
    assert_eq!(page.status, 200, "the live page is served");
    for (running, name) in [(running, "a.json"), (start("b.json", None), "b.json")] {
        let output = running.finish();
        assert_eq!(code(&output), 0, "{name}: {}", told(&output.stderr));
        let result = json(&place.path(name));
        let series = result
            .pointer("/observations/series")
            .and_then(Value::as_array);
        assert!(
            series.is_some_and(|series| !series.is_empty()),
            "{name}: it observes itself"
        );
    }
    let mut command = loadline();
    command
        .args(["compare", "a.json", "b.json"])
        .current_dir(place.folder.path());
    let compared = run_to_end(command);
    assert_eq!(code(&compared), 0, "{}", told(&compared.stderr));
    assert!(
        told(&compared.stdout).contains("ervice time"),
        "{}",
        told(&compared.stdout)
    );
}
