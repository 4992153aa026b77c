//! Tests of the cluster commands, against a fake of the cluster's API.
//!
//! Must not know the operator. Invariant: every status is written by the test itself.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Parser as _;
use flate2::Compression;
use flate2::write::GzEncoder;
use loadline_kubernetes::testing::ApiServer;
use loadline_model::{KeptFile, Parcel};
use serde_json::{Value, json};

use super::follow::Follow;
use super::load::Load;
use super::{Place, fetch, make, stop};
use crate::cli::k8s::{K8sAction, K8sRunArgs};
use crate::cli::{Cli, Command};
use crate::terminal::print;
use crate::{Env, Files};

fn place(server: &ApiServer) -> Place {
    Place {
        cluster: server.cluster(),
        namespace: "shop".to_owned(),
    }
}

/// A test whose coordinator has a pod.
fn put_test(server: &ApiServer, status: &Value) {
    server.put(json!({ "apiVersion": "k6.io/v1alpha1", "kind": "TestRun",
        "metadata": { "name": "t", "namespace": "shop" }, "spec": { "parallelism": 2 } }));
    server.change("TestRun", "shop", "t", |test| {
        test["status"] = status.clone();
    });
    server.put(json!({ "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "t-coordinator-x", "namespace": "shop", "labels": { "job-name": "t-coordinator" } },
        "spec": { "containers": [
            { "name": "k6", "image": "i", "ports": [{ "containerPort": 6565 }] },
            { "name": "results", "image": "i" }] },
        "status": { "phase": "Succeeded" } }));
}

fn run_args(words: &[&str]) -> K8sRunArgs {
    let words = [&["loadline", "k8s", "run", "--context", "stand-in"], words].concat();
    match Cli::parse_from(words).command {
        Command::K8s(args) => match args.action {
            K8sAction::Run(args) => args,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_script_is_applied_with_all_that_it_reads() {
    let server = ApiServer::start();
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("a.js");
    std::fs::write(folder.path().join("b.js"), "export const n = 7;").expect("written");
    let text = "import { n } from './b.js'; export default function () { n; }";
    std::fs::write(&script, text).expect("written");
    let script = script.to_string_lossy();
    let template = folder.path().join("like.yaml");
    let like = "apiVersion: k6.io/v1alpha1\nkind: TestRun\nmetadata:\n  name: other\n  annotations: {a: b}\nspec:\n  \
        parallelism: 8\n  separate: true\n  runner:\n    nodeSelector: {pool: load}\n";
    std::fs::write(&template, like).expect("written");
    let template = make::read_template(&template).expect("a test");
    let args = run_args(&["-p", "3", "-e", "A=b c", &script, "--", "--vus", "9"]);
    let load = Load::of_file(&args, &Env::default(), &Files::Disk).expect("packed");
    let all = make::manifests(&args.new, "t", &load, Some(template.clone())).expect("objects");
    let place = place(&server);
    make::apply(&place, &all).expect("applied");
    let test = server.get("TestRun", "shop", "t").expect("it is there");
    assert_eq!(
        test["spec"],
        json!({ "parallelism": 3, "args": ["--env", "A=b c", "--vus", "9"], "separate": true,
            "script": { "configMap": { "name": "t", "file": "archive.tar" } },
            "runner": { "nodeSelector": { "pool": "load" } } })
    );
    assert_eq!(test["metadata"]["annotations"]["a"], "b");
    let script = server.get("ConfigMap", "shop", "t").expect("it is there");
    assert_eq!(
        script["metadata"]["ownerReferences"][0]["uid"],
        test["metadata"]["uid"]
    );
    let both = ["export const n = 7", "import { n }"];
    let packed = unpacked(&script, "archive.tar");
    assert!(both.iter().all(|part| packed.contains(part)) && !packed.contains("b c"));

    let again = make::apply(&place, &all).expect_err("it is there already");
    assert!(again.message().contains("test t already exists"), "{again}");
    let mut taken = template;
    taken["spec"]["arguments"] = json!("--vus 1");
    let taken = make::manifests(&args.new, "t", &load, Some(taken)).expect_err("said twice");
    assert!(taken.message().contains("arguments"), "{taken}");
}

/// The content of a key in a ConfigMap.
fn unpacked(config_map: &Value, key: &str) -> String {
    let text = config_map["binaryData"][key].as_str().expect("it is there");
    let bytes = STANDARD.decode(text).expect("base64");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_plan_is_applied_with_the_files_that_it_names() {
    let server = ApiServer::start();
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("shop.jmx");
    let write = |data: &str| {
        let text = format!(
            r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
            <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="p"/><hashTree>
            <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="g">
            <stringProp name="ThreadGroup.num_threads">1</stringProp></ThreadGroup><hashTree>
            <CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="c">
            <stringProp name="filename">{data}</stringProp></CSVDataSet><hashTree/>
            </hashTree></hashTree></hashTree></jmeterTestPlan>"#
        );
        std::fs::write(&plan, text).expect("written");
    };
    std::fs::create_dir(folder.path().join("data")).expect("made");
    std::fs::write(folder.path().join("data/users.csv"), "ann").expect("written");
    write("data/${__P(file)}.csv");
    let path = plan.to_string_lossy();
    let args = run_args(&["-p", "3", "-e", "A=b", &path, "--", "-Jfile=users"]);
    let load = Load::of_file(&args, &Env::default(), &Files::Disk).expect("packed");
    let all = make::manifests(&args.new, "t", &load, None).expect("objects");
    make::apply(&place(&server), &all).expect("applied");
    let test = server.get("LoadTest", "shop", "t").expect("it is there");
    assert_eq!(
        test["spec"],
        json!({ "parallelism": 3, "arguments": ["-Jfile=users"],
            "env": [{ "name": "A", "value": "b" }],
            "jmx": { "configMap": { "name": "t", "file": "shop.jmx", "items": [
                { "key": "0-users.csv", "path": "data/users.csv" },
                { "key": "1-shop.jmx", "path": "shop.jmx" }] } } })
    );
    let files = server.get("ConfigMap", "shop", "t").expect("it is there");
    assert_eq!(unpacked(&files, "0-users.csv"), "ann");
    let outside = folder.path().join("data/users.csv");
    write(&outside.to_string_lossy());
    let refused = Load::of_file(&args, &Env::default(), &Files::Disk).expect_err("absolute");
    assert!(
        refused.message().contains("below its directory"),
        "{refused}"
    );
    let template = json!({ "kind": "TestRun", "spec": {} });
    let refused = make::manifests(&args.new, "t", &load, Some(template)).expect_err("a plan");
    assert!(refused.message().contains("use a LoadTest"), "{refused}");
}

#[test]
fn a_line_of_bench_is_the_test() {
    let words = ["-r", "10", "-z", "5s", "http://a/"].map(str::to_owned);
    let load = Load::of_line(&words, &Env::default()).expect("a line");
    let args = run_args(&["-p", "2", "x.js"]).new;
    let new = make::manifests(&args, "t", &load, None).expect("objects");
    assert!(new.files.is_none());
    assert_eq!(new.test["kind"], "LoadTest");
    assert_eq!(
        new.test["spec"],
        json!({ "parallelism": 2, "bench": words })
    );
    let folder = tempfile::tempdir().expect("a folder");
    let body = folder.path().join("body.json");
    std::fs::write(&body, "{}").expect("written");
    let words = ["-D".to_owned(), body.to_string_lossy().into_owned()];
    let words = [words.as_slice(), &["http://a/".to_owned()]].concat();
    let refused = Load::of_line(&words, &Env::default()).expect_err("a file");
    assert!(refused.message().contains("body.json"), "{refused}");
}

#[test]
fn a_test_is_followed_to_its_end() {
    let server = ApiServer::start();
    put_test(
        &server,
        &json!({ "stage": "finished", "result": "failed", "exitCode": 99 }),
    );
    for line in ["one", "two"] {
        server.print("shop", "t-coordinator-x", "k6", line);
    }
    let place = place(&server);
    print::overhear();
    let test = Follow::log(&place, &place.test("t").expect("a test").id())
        .and_then(|follow| follow.until_over(None));
    let heard = print::take_overheard();
    assert_eq!(test.expect("it is over").exit_code, Some(99));
    // Other tests may write at the same time.
    let lines = heard.lines().filter(|line| ["one", "two"].contains(line));
    assert_eq!(lines.collect::<Vec<_>>(), ["one", "two"]);
    let missing = place.test("u").expect_err("there is none");
    assert!(missing.message().contains('u'), "{missing}");
}

#[test]
fn tests_of_all_kinds_are_found_by_name() {
    let server = ApiServer::start();
    let place = place(&server);
    for (kind, name, status) in [
        ("TestRun", "both", json!({ "stage": "started" })),
        ("K6", "old", json!({ "stage": "started" })),
        ("LoadTest", "both", json!({ "stage": "finished" })),
        ("LoadTest", "nightly", json!({ "stage": "scheduled" })),
        (
            "LoadSuite",
            "rows",
            json!({ "stage": "finished", "runs": { "done": 2, "total": 2 } }),
        ),
    ] {
        let group = match kind {
            "TestRun" | "K6" => "k6.io/v1alpha1",
            _ => "loadline.io/v1alpha1",
        };
        server.put(json!({ "apiVersion": group, "kind": kind,
            "metadata": { "name": name, "namespace": "shop" }, "spec": {} }));
        server.change(kind, "shop", name, |test| test["status"] = status.clone());
    }
    let found = |called: &str| {
        place
            .test(called)
            .map(|test| (test.id().to_string(), test.stage))
    };
    let is = |called: &str, id: &str, stage: &str| {
        assert_eq!(
            found(called).expect(called),
            (id.to_owned(), stage.to_owned())
        );
    };
    is("both", "both", "started");
    is("loadtest/both", "loadtest/both", "finished");
    is("old", "k6/old", "started");
    is("rows", "loadsuite/rows", "finished");
    for (called, why) in [
        ("testrun/rows", "rows"),
        ("pod/rows", "pod is not a kind of test"),
    ] {
        let error = found(called).expect_err("there is none");
        assert!(error.message().contains(why), "{error}");
    }
    let (tests, missing) = place.cluster.tests("shop").expect("a list");
    assert_eq!((tests.len(), missing.len()), (5, 0));

    let error = stop::stop(&place, "nightly", None).expect_err("it cannot be stopped");
    assert!(error.message().contains("is a schedule"), "{error}");
    stop::stop(&place, "rows", None).expect("it is over");
    assert!(server.get("LoadTest", "shop", "nightly").is_some());
    let rows = place.test("rows").expect("a suite");
    let folder = tempfile::tempdir().expect("a folder");
    let error =
        fetch::fetch(&Env::default(), &place, &rows, folder.path()).expect_err("it has none");
    assert!(
        error.message().contains("loadline k8s logs loadsuite/rows"),
        "{error}"
    );
}

#[test]
fn the_log_of_a_suite_is_its_pods() {
    let server = ApiServer::start();
    server.put(
        json!({ "apiVersion": "loadline.io/v1alpha1", "kind": "LoadSuite",
        "metadata": { "name": "rows", "namespace": "shop" }, "spec": {} }),
    );
    server.change("LoadSuite", "shop", "rows", |suite| {
        suite["status"] = json!({ "stage": "finished", "result": "passed" });
    });
    server.put(json!({ "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "rows-suite-x", "namespace": "shop", "labels": { "job-name": "rows-suite" } },
        "spec": { "containers": [{ "name": "loadline", "image": "i" }] },
        "status": { "phase": "Succeeded" } }));
    server.print("shop", "rows-suite-x", "loadline", "a row of the suite");
    let place = place(&server);
    print::overhear();
    let id = place.test("rows").expect("a suite").id();
    let suite = Follow::log(&place, &id).and_then(|follow| follow.until_over(None));
    let heard = print::take_overheard();
    assert!(suite.expect("it is over").is_over());
    assert!(heard.contains("a row of the suite\n"), "{heard}");
}

#[test]
fn the_whole_result_is_fetched_from_where_it_is_kept() {
    let server = ApiServer::start();
    let place = place(&server);
    let gzip = |text: &str| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).expect("memory");
        packed.finish().expect("memory")
    };
    let files = [
        (KeptFile::Result, gzip("{}")),
        (KeptFile::Report, gzip("<html>")),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let fetched = |status: &Value, into: &str| {
        put_test(&server, status);
        let test = place.test("t").expect("a test");
        let into = folder.path().join(into);
        let files = fetch::fetch(&Env::default(), &place, &test, &into)?;
        let read = |path| std::fs::read_to_string(path).expect("written");
        Ok::<_, crate::Ending>(files.iter().map(read).collect::<Vec<_>>())
    };
    let over = |results: Value| json!({ "stage": "finished", "results": results });
    let nothing = fetched(&over(json!({ "message": "full" })), "no").expect_err("it is not kept");
    assert!(
        nothing.message().ends_with("is not kept: full"),
        "{nothing}"
    );
    let early = fetched(&json!({ "stage": "started" }), "no").expect_err("it runs");
    assert!(early.message().contains("not ended"), "{early}");

    let data: serde_json::Map<String, Value> = files
        .iter()
        .map(|(file, bytes)| (file.packed_name().to_owned(), STANDARD.encode(bytes).into()))
        .collect();
    server.put(json!({ "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "t-results", "namespace": "shop" }, "binaryData": data }));
    let kept = fetched(&over(json!({ "configMap": "t-results" })), "a/b").expect("fetched");
    assert_eq!(kept, ["{}", "<html>"]);

    for line in Parcel::lines(&files).lines() {
        server.print("shop", "t-coordinator-x", "results", line);
    }
    let in_log = json!({ "pod": "t-coordinator-x", "container": "results" });
    for results in [in_log, Value::Null] {
        assert_eq!(
            fetched(&over(results), "c").expect("fetched"),
            ["{}", "<html>"]
        );
    }
    let stored = fetched(&over(json!({ "objectStore": "s3://bucket/t" })), "d");
    assert_eq!(
        stored.expect_err("no key is set").message(),
        "s3://bucket/t: AWS_ACCESS_KEY_ID is not set"
    );
}

#[test]
fn a_test_that_runs_is_asked_to_stop_and_one_that_waits_is_deleted() {
    let server = ApiServer::start();
    put_test(
        &server,
        &json!({ "stage": "started", "startTime": "2026-01-01T00:00:00Z" }),
    );
    let token = "REST API at 0.0.0.0:6565: send Authorization: Bearer tok-1 (--control-token names another, or off)";
    server.print("shop", "t-coordinator-x", "k6", token);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    server.listen_at(
        "t-coordinator-x",
        6565,
        listener.local_addr().expect("bound"),
    );
    let asked = thread::spawn(move || {
        // The first connection is the forward's own trial.
        for connection in listener.incoming().flatten() {
            let mut connection = connection;
            let mut bytes = [0; 4_096];
            let length = connection.read(&mut bytes).unwrap_or_default();
            if length > 0 {
                let answer = b"HTTP/1.0 200 OK\r\n\r\n{\"data\":{\"attributes\":{}}}";
                connection.write_all(answer).expect("a reader");
                return String::from_utf8_lossy(&bytes[..length]).into_owned();
            }
        }
        String::new()
    });
    let place = place(&server);
    stop::stop(&place, "t", None).expect("asked");
    let asked = asked.join().expect("it ends");
    assert!(
        asked.contains("Bearer tok-1\r\n") && asked.contains("\"stopped\":true"),
        "{asked}"
    );

    put_test(&server, &json!({ "stage": "created" }));
    stop::stop(&place, "t", None).expect("deleted");
    assert_eq!(server.get("TestRun", "shop", "t"), None);
}
