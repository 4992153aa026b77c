//! A test on several processes that loses one of them.
//!
//! Must not know the protocol between coordinator and agents. Invariant: whatever is lost, the planned requests
//! are the sum of the completed, the lost and the unknown ones.

use std::collections::BTreeSet;
use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use loadline_e2e::agents::{
    SOON, TOKEN, agent, coordinator, coordinator_at, json, keeping, kept, long_bench, text,
};
use loadline_e2e::process::{Running, send};
use loadline_e2e::proxy::relay_without;
use loadline_e2e::server::free_port;
use loadline_e2e::{clock, loadline};
use serde_json::Value;

fn is_there(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

/// The requests of a run that lost an agent: planned, completed and lost.
fn conserved(result: &Value) -> (u64, u64, u64) {
    let (totals, counts) = (&result["totals"], &result["totals"]["seen"]["counts"]);
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let by_class = counts["failed"].as_object().expect("by class");
    let failed: u64 = by_class.values().map(number).sum();
    let [started, completed, interrupted, lost] =
        ["started", "completed", "interrupted", "lost"].map(|name| number(&counts[name]));
    assert_eq!(started, completed + failed + interrupted + lost, "{counts}");
    (number(&totals["asked"]), completed, lost)
}

/// The finding about lost agents: its gravity and its text.
fn found_lost(result: &Value) -> (String, String) {
    let found = result["verdict"]["findings"].as_array().expect("findings");
    let lost = found.iter().find(|found| found["code"] == "agent-lost");
    let lost = lost.unwrap_or_else(|| panic!("it is not found: {found:?}"));
    (lost["gravity"].to_string(), lost["text"].to_string())
}

const LOADED: [&str; 6] = ["-r", "300", "-z", "4s", "--max-vus", "60"];

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_lost_agent_is_named_and_its_share_stays_asked_for() {
    let mut command = vec!["--json", "result.json"];
    command.extend(LOADED);
    let folder = tempfile::tempdir().expect("there is room");
    let (server, running, at, token) = coordinator(folder.path(), "3", &command);
    let agents: Vec<Running> = ["vienna", "graz", "linz"]
        .map(|name| {
            let mut agent = agent(&at, &token, name);
            agent.args(["--orphan-grace", "2s"]);
            Running::start(agent)
        })
        .into();
    let asked = || (server.accepted() >= 3).then_some(());
    clock::wait_for(SOON, asked).expect("all agents send");
    clock::pause(Duration::from_millis(1_300));
    agents[1].signal(libc::SIGKILL);
    let output = running.finish();
    assert_eq!(output.status.code(), Some(112), "{}", text(&output.stderr));
    let result = json(&folder.path().join("result.json"));
    let (asked, completed, _) = conserved(&result);
    assert_eq!(asked, 1_200);
    assert!(
        (800..1_150).contains(&completed),
        "two of three went on: {completed}"
    );
    let verdict = &result["verdict"];
    assert_eq!(
        (&verdict["delivery"], &verdict["limit"]),
        (&"fell-short".into(), &"generator".into())
    );
    let (gravity, lost) = found_lost(&result);
    assert!(gravity.contains("alarm"), "{gravity}");
    let told = "graz was lost with its share of the load, 1/3: its connection was closed, and it did not come back in 5 s";
    assert!(lost.contains(told), "{lost}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn another_makes_the_share_of_a_lost_agent_again() {
    let (_server, folder, running) = long_bench(&LOADED);
    let agents = running.children();
    assert_eq!(agents.len(), 3);
    clock::pause(Duration::from_millis(1_300));
    send(agents[1], libc::SIGKILL);
    let output = running.finish();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let result = json(&folder.path().join("result.json"));
    let (asked, completed, lost) = conserved(&result);
    assert_eq!(asked, 1_200);
    // Its share is 100/s, and at least the last 1.3 s are made by the other.
    assert!(
        (1_070..1_200).contains(&(completed + lost)),
        "the share was made again: {completed}, {lost} lost"
    );
    let (gravity, told) = found_lost(&result);
    assert!(gravity.contains("caution"), "{gravity}");
    for part in ["agent-2 was lost", "agent-2 has taken over the share, 1/3"] {
        assert!(told.contains(part), "{told}");
    }
}

/// A test of three agents, one of which is ordered to end some time after all have started to send.
fn one_of_three_leaves(folder: &Path, command: &[&str], (signal, after): (i32, Duration)) {
    let (server, running, at, token) = coordinator(folder, "3", command);
    let mut agents: Vec<Running> = ["vienna", "graz", "linz"]
        .map(|name| Running::start(agent(&at, &token, name)))
        .into();
    let asked = || (server.accepted() >= 3).then_some(());
    clock::wait_for(SOON, asked).expect("all agents send");
    clock::pause(after);
    agents[1].signal(signal);
    let left = agents.remove(1).finish();
    assert_eq!(
        left.status.code(),
        Some(128 + signal),
        "{}",
        text(&left.stderr)
    );
    let output = running.finish();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_agent_that_is_told_to_end_gives_its_share_back_at_once() {
    let folder = tempfile::tempdir().expect("there is room");
    let mut command = vec!["--await-agent", "300ms", "--json", "result.json"];
    command.extend(LOADED);
    // If it had only lost its connection, its load would continue for 30 s.
    let leaves = (libc::SIGTERM, Duration::from_millis(1_300));
    one_of_three_leaves(folder.path(), &command, leaves);
    let result = json(&folder.path().join("result.json"));
    let (asked, completed, lost) = conserved(&result);
    assert_eq!(asked, 1_200);
    assert!(
        (1_000..=1_200).contains(&(completed + lost)),
        "the share was made again: {completed}, {lost} lost"
    );
    let (gravity, told) = found_lost(&result);
    assert!(gravity.contains("caution"), "{gravity}");
    for part in [
        "graz was lost",
        "it was stopped by a signal",
        "stands in for graz",
    ] {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn one_that_is_there_makes_the_share_of_an_agent_for_which_nobody_comes() {
    let folder = tempfile::tempdir().expect("there is room");
    let (server, targets) = keeping();
    let script = "import http from 'k6/http';
        import exec from 'k6/execution';
        export const options = { scenarios: { rate: {
            executor: 'constant-arrival-rate', rate: 60, duration: '14s', preAllocatedVUs: 12 } } };
        export function setup() { return 'given'; }
        export default function (data) {
            http.get(`URL${data}/${exec.scenario.iterationInTest}?vu=${exec.vu.idInTest}`); }";
    let path = folder.path().join("script.js");
    fs::write(&path, script.replace("URL", &server.url("/"))).expect("there is room");
    let at = format!("127.0.0.1:{}", free_port());
    let command = [
        "run",
        "--await-agent",
        "3s",
        "--json",
        "result.json",
        "script.js",
    ];
    let running = coordinator_at(folder.path(), &at, "3", &command);
    let agents: Vec<Running> = ["vienna", "graz", "linz"]
        .map(|name| {
            let mut agent = agent(&at, TOKEN, name);
            agent.args(["--orphan-grace", "1s"]);
            Running::start(agent)
        })
        .into();
    let asked = || (kept(&targets).len() >= 90).then_some(());
    clock::wait_for(SOON, asked).expect("the agents send");
    agents[1].signal(libc::SIGKILL);
    let stands_in = || {
        let told = running.errors_so_far();
        told.contains("prepares to stand in for graz").then_some(())
    };
    clock::wait_for(SOON, stands_in).expect("one that is there is asked");
    let late = Running::start(agent(&at, TOKEN, "late"));
    let output = running.finish();
    let log = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{log}");
    let late = late.finish();
    let told = text(&late.stderr);
    assert_eq!(late.status.code(), Some(0), "{told}");
    assert!(told.contains("stands in for graz by now"), "{told}");
    let result = json(&folder.path().join("result.json"));
    let (asked, completed, lost) = conserved(&result);
    // One more is due at the very end.
    assert_eq!(asked, 14 * 60 + 1, "what is planned stays planned");
    let sent = kept(&targets);
    let distinct: BTreeSet<&String> = sent.iter().collect();
    assert_eq!(distinct.len(), sent.len(), "no iteration is made twice");
    let sent = sent.len() as u64;
    // Requests that the lost agent started after its last report are unknown: less than a second of its 20/s.
    assert!(
        (completed..completed + lost + 20).contains(&sent),
        "{sent} were seen, {completed} completed, {lost} lost"
    );
    // The share is 20/s: of 14 s at least 5 are made.
    assert!(completed + lost >= 840 - 180, "{completed}, {lost} lost");
    let (gravity, told) = found_lost(&result);
    assert!(gravity.contains("caution"), "{gravity}");
    for part in [
        "graz was lost",
        "stands in for graz and has taken over the share, 1/3",
    ] {
        assert!(told.contains(part), "{told}");
    }
    has_row_for(&result, "graz");
    for agent in agents {
        let _ = agent.finish();
    }
}

/// Asserts that one agent stood in for this one, and that the resource use of its process is counted
/// separately.
fn has_row_for(result: &Value, lost: &str) {
    let rows = result["agents"].as_array().expect("rows");
    let stands_in = rows.iter().find(|row| row["stands_in_for"] == lost);
    let row = stands_in.unwrap_or_else(|| panic!("no row: {rows:?}"));
    assert_eq!((&row["replaced"], &row["cpu_ns"]), (&1.into(), &0.into()));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_run_waits_for_another_where_its_only_agent_is_lost() {
    let script = "import http from 'k6/http';
        import exec from 'k6/execution';
        export const options = { scenarios: {
            rate: { executor: 'constant-arrival-rate', rate: 50, duration: '4s', preAllocatedVUs: 5 },
            users: { executor: 'constant-vus', vus: 2, duration: '4s', exec: 'users' },
        } };
        export function setup() { return 'given'; }
        export default function (data) { http.get(`URL${data}/${exec.scenario.iterationInTest}`); }
        export function users() { http.get('URLuser'); }";
    let (server, targets) = keeping();
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("script.js");
    fs::write(&path, script.replace("URL", &server.url("/"))).expect("there is room");
    let mut command = loadline();
    command.args(["run", "-q", "--agents", "1"]).arg(&path);
    let running = Running::start(command);
    let asked = || (kept(&targets).len() >= 20).then_some(());
    clock::wait_for(SOON, asked).expect("the agent sends");
    send(running.children()[0], libc::SIGKILL);
    let output = running.finish();
    let log = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{log}");
    assert!(log.contains("agent-1 has taken over the share"), "{log}");
    let asked = kept(&targets);
    let given: Vec<&String> = asked.iter().filter(|path| path.contains("given")).collect();
    let distinct: BTreeSet<&&String> = given.iter().collect();
    assert_eq!(distinct.len(), given.len(), "no arrival is made twice");
    assert!(
        given.iter().any(|path| path.ends_with("/199")),
        "to the last one: {}",
        given.len()
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn agents_end_with_their_coordinator_however_it_ends() {
    for (signal, code) in [
        (libc::SIGKILL, None),
        (libc::SIGINT, Some(105)),
        (libc::SIGTERM, Some(105)),
    ] {
        let (_server, _folder, running) = long_bench(&["-c", "6", "-z", "1m", "--pacing", "5ms"]);
        let agents = running.children();
        assert_eq!(agents.len(), 3);
        running.signal(signal);
        let ended = running.finish();
        assert_eq!(ended.status.code(), code, "{}", text(&ended.stderr));
        let gone = || agents.iter().all(|agent| !is_there(*agent)).then_some(());
        clock::wait_for(SOON, gone).expect("no agent is left");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_coordinator_that_was_stopped_for_a_while_finds_its_agents_again() {
    let load = ["-c", "6", "-r", "60", "-z", "9s"];
    let (_server, folder, running) = long_bench(&load);
    running.signal(libc::SIGSTOP);
    clock::pause(Duration::from_millis(5_500));
    running.signal(libc::SIGCONT);
    let ended = running.finish();
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let result = json(&folder.path().join("result.json"));
    assert_eq!(conserved(&result), (540, 540, 0));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_test_whose_agents_die_before_they_join_ends() {
    let mut command = loadline();
    command.args([
        "bench",
        "--no-journal",
        "-q",
        "--agents",
        "2",
        "-c",
        "2",
        "-z",
        "1m",
    ]);
    command.arg(format!("http://127.0.0.1:{}/", free_port()));
    let running = Running::start(command);
    let started = || Some(running.children()).filter(|agents| !agents.is_empty());
    let agents = clock::wait_for(SOON, started).expect("agents are started");
    agents.iter().for_each(|agent| send(*agent, libc::SIGKILL));
    let ended = running.finish();
    let told = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(255), "{told}");
    assert!(told.contains("agent-1: its "), "{told}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_agent_that_is_told_to_end_waits_for_no_coordinator() {
    let nobody = format!("127.0.0.1:{}", free_port());
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let agent = Running::start(agent(&nobody, TOKEN, "vienna"));
        clock::pause(Duration::from_millis(500));
        agent.signal(signal);
        let left = agent.finish();
        assert_eq!(
            left.status.code(),
            Some(128 + signal),
            "{}",
            text(&left.stderr)
        );
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_agent_that_is_told_to_end_reports_all_that_it_did() {
    for (signal, csv) in [(libc::SIGTERM, false), (libc::SIGINT, true)] {
        let folder = tempfile::tempdir().expect("there is room");
        let mut command = vec!["--await-agent", "300ms", "--json", "result.json"];
        if csv {
            command.extend(["--csv", "samples.csv"]);
        }
        command.extend(["-c", "6", "-z", "3s", "--pacing", "5ms"]);
        let leaves = (signal, Duration::from_millis(1_500));
        one_of_three_leaves(folder.path(), &command, leaves);
        let result = json(&folder.path().join("result.json"));
        let (_, completed, lost) = conserved(&result);
        assert_eq!(lost, 0, "csv {csv}: {completed} are known");
        if csv {
            let rows = fs::read_to_string(folder.path().join("samples.csv")).expect("it is there");
            let good = rows.lines().filter(|row| row.contains(",200,")).count() as u64;
            assert_eq!(good, completed, "each is in the CSV, and nothing else is");
        }
    }
}

/// The connection for single values, which is the agent's second, may break before the start. The run neither waits for it forever nor
/// starts without it.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_way_for_single_values_is_tried_again_and_then_the_run_does_not_start() {
    for (cut, code) in [(1..2, 0), (1..usize::MAX, 255)] {
        let folder = tempfile::tempdir().expect("there is room");
        let command = [
            "--csv",
            "samples.csv",
            "--await-agent",
            "1s",
            "-n",
            "40",
            "-c",
            "2",
        ];
        let (_server, running, at, token) = coordinator(folder.path(), "1", &command);
        let between = relay_without(cut, (Ipv4Addr::LOCALHOST, 0).into(), at);
        let _agent = Running::start(agent(&between.address().to_string(), &token, "vienna"));
        let output = running.finish();
        let told = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{told}");
        let rows = fs::read_to_string(folder.path().join("samples.csv")).expect("it is there");
        let good = rows.lines().filter(|row| row.contains(",200,")).count();
        match code {
            0 => assert_eq!(good, 40, "{told}"),
            _ => assert!(told.contains("its samples cannot be delivered"), "{told}"),
        }
    }
}
