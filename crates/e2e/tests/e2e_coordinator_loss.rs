//! Tests on several processes whose coordinator cannot be reached for a while, or is killed and started again.
//!
//! Must not know what coordinator and agents say to each other. Invariant: the target's own count says what was sent.

use std::fs;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loadline_e2e::agents::{SOON, TOKEN, agent, coordinator_at, json, keeping, kept, text};
use loadline_e2e::clock;
use loadline_e2e::process::Running;
use loadline_e2e::proxy::relay;
use loadline_e2e::server::free_port;
use serde_json::Value;

type Kept = Arc<Mutex<Vec<String>>>;

fn count(targets: &Kept) -> usize {
    targets.lock().expect("nobody panics").len()
}

fn wait_for_requests(targets: &Kept, least: usize) {
    let are_there = || (count(targets) >= least).then_some(());
    clock::wait_for(SOON, are_there).expect("requests are sent");
}

fn listen() -> String {
    format!("127.0.0.1:{}", free_port())
}

/// Requests that were asked for, begun, completed, and lost.
fn counts(result: &Value) -> [u64; 4] {
    let (totals, counts) = (&result["totals"], &result["totals"]["seen"]["counts"]);
    let all = [
        &totals["asked"],
        &counts["started"],
        &counts["completed"],
        &counts["lost"],
    ];
    all.map(|value| value.as_u64().unwrap_or(0))
}

/// What is said in marks of this kind.
fn marks(result: &Value, kind: &str) -> Vec<String> {
    let events = result["events"].as_array().expect("events");
    let of_kind = events.iter().filter(|mark| mark["kind"] == kind);
    of_kind.map(|mark| mark["text"].to_string()).collect()
}

fn ends_with(running: Running, code: i32) {
    let ended = running.finish();
    assert_eq!(ended.status.code(), Some(code), "{}", text(&ended.stderr));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn load_goes_on_while_the_connection_is_cut_and_all_of_it_is_counted() {
    let (server, targets) = keeping();
    let folder = tempfile::tempdir().expect("there is room");
    let at = listen();
    let url = server.url("/");
    let command = [
        "bench",
        "--no-journal",
        "-r",
        "200",
        "-z",
        "6s",
        "--max-vus",
        "20",
        "--json",
        "r.json",
        &url,
    ];
    let coordinator = coordinator_at(folder.path(), &at, "1", &command);
    let relayed = relay((Ipv4Addr::LOCALHOST, 0).into(), at.clone());
    let between = relayed.address();
    let vienna = Running::start(agent(&between.to_string(), TOKEN, "vienna"));
    wait_for_requests(&targets, 200);
    drop(relayed);
    let at_the_cut = count(&targets);
    wait_for_requests(&targets, at_the_cut + 300);
    let told = coordinator.errors_so_far();
    assert!(told.contains("vienna cannot be heard"), "{told}");
    let _relayed = relay(between, at);
    let output = coordinator.finish();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    ends_with(vienna, 0);
    let result = json(&folder.path().join("r.json"));
    assert_eq!(counts(&result), [1_200, 1_200, 1_200, 0]);
    assert_eq!(count(&targets), 1_200, "the target's own count");
    let returned = marks(&result, "agent-returned");
    assert!(
        matches!(&returned[..], [what] if what.contains("vienna could not be heard for")),
        "{returned:?}"
    );
    let seconds = result["series"].as_array().expect("seconds");
    let started = |second: &&Value| second["started"].as_u64().unwrap_or(0) > 100;
    assert!(
        seconds.iter().filter(started).count() >= 5,
        "each second has its own"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_agent_whose_share_another_has_is_told_to_end_and_what_it_did_is_counted() {
    let (server, targets) = keeping();
    let folder = tempfile::tempdir().expect("there is room");
    let at = listen();
    let url = server.url("/");
    let command = [
        "bench",
        "--no-journal",
        "-r",
        "100",
        "-z",
        "6s",
        "--max-vus",
        "20",
        "--json",
        "r.json",
        &url,
    ];
    let coordinator = coordinator_at(folder.path(), &at, "1", &command);
    let relayed = relay((Ipv4Addr::LOCALHOST, 0).into(), at.clone());
    let between = relayed.address();
    let vienna = Running::start(agent(&between.to_string(), TOKEN, "vienna"));
    wait_for_requests(&targets, 100);
    drop(relayed);
    let graz = Running::start(agent(&at, TOKEN, "graz"));
    let is_there = || {
        let told = coordinator.errors_so_far();
        told.contains("graz has joined in the place of vienna")
            .then_some(())
    };
    clock::wait_for(SOON, is_there).expect("graz takes over");
    let _relayed = relay(between, at);
    let output = coordinator.finish();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    ends_with(vienna, 0);
    ends_with(graz, 0);
    let result = json(&folder.path().join("r.json"));
    let [_, started, completed, lost] = counts(&result);
    assert_eq!((started, lost), (count(&targets) as u64, 0));
    assert_eq!(completed, started, "the target's own count");
    let returned = marks(&result, "agent-returned");
    assert!(
        matches!(&returned[..], [what] if what.contains("it was told to end")),
        "{returned:?}"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_coordinator_that_is_killed_is_started_again_and_counts_everything() {
    let (server, targets) = keeping();
    let folder = tempfile::tempdir().expect("there is room");
    let at = listen();
    let url = server.url("/");
    let command = [
        "bench",
        "--no-journal",
        "-r",
        "200",
        "-z",
        "7s",
        "--max-vus",
        "20",
        "--json",
        "r.json",
        &url,
    ];
    let first = coordinator_at(folder.path(), &at, "2", &command);
    let agents = ["graz", "linz"].map(|name| Running::start(agent(&at, TOKEN, name)));
    wait_for_requests(&targets, 400);
    first.signal(libc::SIGKILL);
    let at_the_kill = count(&targets);
    drop(first.finish());
    wait_for_requests(&targets, at_the_kill + 200);
    let second = coordinator_at(folder.path(), &at, "2", &command);
    let output = second.finish();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(
        told.contains("this coordinator took the test over at"),
        "{told}"
    );
    for agent in agents {
        ends_with(agent, 0);
    }
    let result = json(&folder.path().join("r.json"));
    assert_eq!(counts(&result), [1_400, 1_400, 1_400, 0]);
    assert_eq!(count(&targets), 1_400, "the target's own count");
    let taken_over = marks(&result, "coordinator-replaced");
    assert!(
        matches!(&taken_over[..], [what] if what.contains("2 of 2 agents") && what.contains("graz")),
        "{taken_over:?}"
    );
    let seconds = result["series"].as_array().expect("seconds");
    let started = |second: &&Value| second["started"].as_u64().unwrap_or(0) > 100;
    assert!(
        seconds.iter().filter(started).count() >= 6,
        "each second has its own"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_script_goes_on_under_another_coordinator_without_a_second_setup() {
    let script = "import http from 'k6/http';
        export const options = { scenarios: {
            rate: { executor: 'constant-arrival-rate', rate: 100, duration: '7s', preAllocatedVUs: 10 },
        } };
        export function setup() { http.get('URLsetup'); return 'given'; }
        export default function (data) { http.get('URL' + data); }
        export function teardown(data) { http.get('URLteardown-' + data); }
        export function handleSummary(data) {
            return { 's.json': JSON.stringify({ requests: data.metrics.http_reqs.values.count,
                iterations: data.metrics.iterations.values.count }) };
        }";
    let (server, targets) = keeping();
    let folder = tempfile::tempdir().expect("there is room");
    let script = script.replace("URL", &server.url("/"));
    fs::write(folder.path().join("s.js"), script).expect("there is room");
    let at = listen();
    let first = coordinator_at(folder.path(), &at, "2", &["run", "s.js"]);
    let agents = ["graz", "linz"].map(|name| Running::start(agent(&at, TOKEN, name)));
    wait_for_requests(&targets, 200);
    first.signal(libc::SIGKILL);
    drop(first.finish());
    let at_the_kill = count(&targets);
    wait_for_requests(&targets, at_the_kill + 50);
    let output = coordinator_at(folder.path(), &at, "2", &["run", "s.js"]).finish();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for agent in agents {
        ends_with(agent, 0);
    }
    let asked = kept(&targets);
    let of = |path: &str| asked.iter().filter(|asked| *asked == path).count();
    assert_eq!((of("/setup"), of("/teardown-given")), (1, 1));
    let summary = json(&folder.path().join("s.json"));
    assert_eq!(summary["requests"], asked.len(), "{summary}");
    assert_eq!(summary["iterations"], of("/given"), "{summary}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn agents_of_another_test_are_refused_by_name() {
    let (server, targets) = keeping();
    let folder = tempfile::tempdir().expect("there is room");
    let at = listen();
    let url = server.url("/");
    let with = |rate| {
        [
            "bench",
            "--no-journal",
            "-r",
            rate,
            "-z",
            "1m",
            "--max-vus",
            "20",
            &url,
        ]
    };
    let first = coordinator_at(folder.path(), &at, "1", &with("50"));
    let graz = Running::start(agent(&at, TOKEN, "graz"));
    wait_for_requests(&targets, 20);
    first.signal(libc::SIGKILL);
    drop(first.finish());
    let other = coordinator_at(folder.path(), &at, "1", &with("60"));
    let ended = graz.finish();
    let told = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(104), "{told}");
    assert!(told.contains("it belongs to another test"), "{told}");
    other.signal(libc::SIGKILL);
    drop(other.finish());
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_agent_stops_when_its_grace_is_over() {
    let (server, targets) = keeping();
    let folder = tempfile::tempdir().expect("there is room");
    let at = listen();
    let url = server.url("/");
    let command = [
        "bench",
        "--no-journal",
        "-r",
        "50",
        "-z",
        "1m",
        "--max-vus",
        "20",
        &url,
    ];
    let coordinator = coordinator_at(folder.path(), &at, "1", &command);
    let mut graz = agent(&at, TOKEN, "graz");
    graz.args(["--orphan-grace", "1s"]);
    let graz = Running::start(graz);
    wait_for_requests(&targets, 20);
    coordinator.signal(libc::SIGKILL);
    drop(coordinator.finish());
    let at_the_kill = count(&targets);
    let ended = graz.finish();
    let told = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(105), "{told}");
    assert!(told.contains("it was not there again in 1 s"), "{told}");
    assert!(count(&targets) > at_the_kill, "it went on");
    let at_the_end = count(&targets);
    clock::pause(Duration::from_millis(300));
    assert_eq!(count(&targets), at_the_end, "it has stopped");
}
