//! Tests on several processes whose coordinator is unreachable for a while, or killed and restarted.
//!
//! Must not know the protocol between coordinator and agents. Invariant: the target's own count shows what was
//! sent.

use std::fs;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loadline_e2e::agents::{SOON, TOKEN, agent, coordinator_at, json, keeping, kept, text};
use loadline_e2e::clock;
use loadline_e2e::process::Running;
use loadline_e2e::proxy::relay;
use loadline_e2e::server::{Server, free_port};
use serde_json::Value;
use tempfile::TempDir;

/// A test whose coordinator may be restarted, with a target that records its requests.
struct Test {
    server: Server,
    targets: Arc<Mutex<Vec<String>>>,
    folder: TempDir,
    /// The address where agents join.
    at: String,
    agents: &'static str,
}

impl Test {
    /// A test with this number of agents.
    fn of(agents: &'static str) -> Test {
        let (server, targets) = keeping();
        Test {
            server,
            targets,
            folder: tempfile::tempdir().expect("there is room"),
            at: format!("127.0.0.1:{}", free_port()),
            agents,
        }
    }

    /// Starts a coordinator with this rate in requests per second, for this duration.
    fn bench(&self, rate: &str, time: &str) -> Running {
        let load = ["-r", rate, "-z", time, "--max-vus", "20"];
        let url = self.server.url("/");
        let ends = ["--json", "r.json", &url];
        self.coordinator(&[&["bench", "--no-journal"], &load[..], &ends[..]].concat())
    }

    fn coordinator(&self, command: &[&str]) -> Running {
        coordinator_at(self.folder.path(), &self.at, self.agents, command)
    }

    fn agent(&self, name: &str) -> Running {
        Running::start(agent(&self.at, TOKEN, name))
    }

    /// An agent behind a relay, and the relay.
    fn agent_behind_relay(&self, name: &str) -> (Running, Server) {
        let relayed = relay((Ipv4Addr::LOCALHOST, 0).into(), self.at.clone());
        let between = relayed.address().to_string();
        (Running::start(agent(&between, TOKEN, name)), relayed)
    }

    /// The number of requests that the target has received.
    fn count(&self) -> usize {
        self.targets.lock().expect("nobody panics").len()
    }

    fn wait_for_requests(&self, least: usize) {
        let are_there = || (self.count() >= least).then_some(());
        clock::wait_for(SOON, are_there).expect("requests are sent");
    }

    /// The result of a bench.
    fn result(&self) -> Value {
        json(&self.folder.path().join("r.json"))
    }
}

fn kill(running: Running) {
    running.signal(libc::SIGKILL);
    drop(running.finish());
}

/// Requests that were planned, started, completed, and lost.
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

/// The texts of marks of this kind.
fn marks(result: &Value, kind: &str) -> Vec<String> {
    let events = result["events"].as_array().expect("events");
    let of_kind = events.iter().filter(|mark| mark["kind"] == kind);
    of_kind.map(|mark| mark["text"].to_string()).collect()
}

/// The number of seconds with at least half of 200 requests.
fn busy_seconds(result: &Value) -> usize {
    let seconds = result["series"].as_array().expect("seconds");
    let started = |second: &&Value| second["started"].as_u64().unwrap_or(0) > 100;
    seconds.iter().filter(started).count()
}

/// Waits for its end with this exit code; returns its messages.
fn ends_with(running: Running, code: i32) -> String {
    let ended = running.finish();
    let told = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(code), "{told}");
    told
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn load_goes_on_while_the_connection_is_cut_and_all_of_it_is_counted() {
    let test = Test::of("1");
    let coordinator = test.bench("200", "6s");
    let (vienna, relayed) = test.agent_behind_relay("vienna");
    let between = relayed.address();
    test.wait_for_requests(200);
    drop(relayed);
    let at_the_cut = test.count();
    test.wait_for_requests(at_the_cut + 300);
    let told = coordinator.errors_so_far();
    assert!(told.contains("vienna is unreachable"), "{told}");
    let _relayed = relay(between, test.at.clone());
    ends_with(coordinator, 0);
    ends_with(vienna, 0);
    let result = test.result();
    assert_eq!(counts(&result), [1_200, 1_200, 1_200, 0]);
    assert_eq!(test.count(), 1_200, "the target's own count");
    let returned = marks(&result, "agent-returned");
    assert!(
        matches!(&returned[..], [what] if what.contains("vienna was unreachable for")),
        "{returned:?}"
    );
    assert!(busy_seconds(&result) >= 5, "each second has its own");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_agent_whose_share_another_has_is_told_to_end_and_what_it_did_is_counted() {
    let test = Test::of("1");
    let coordinator = test.bench("100", "6s");
    let (vienna, relayed) = test.agent_behind_relay("vienna");
    let between = relayed.address();
    test.wait_for_requests(100);
    drop(relayed);
    let graz = test.agent("graz");
    let is_there = || {
        let told = coordinator.errors_so_far();
        told.contains("graz has joined to replace vienna")
            .then_some(())
    };
    clock::wait_for(SOON, is_there).expect("graz takes over");
    let _relayed = relay(between, test.at.clone());
    ends_with(coordinator, 0);
    ends_with(vienna, 0);
    ends_with(graz, 0);
    let result = test.result();
    let [_, started, completed, lost] = counts(&result);
    assert_eq!(
        (started, lost),
        (test.count() as u64, 0),
        "the target's own count"
    );
    // An agent that is ordered to end does so at once.
    let cut_off = &result["totals"]["seen"]["counts"]["interrupted"];
    assert_eq!(completed + cut_off.as_u64().unwrap_or(0), started);
    let returned = marks(&result, "agent-returned");
    assert!(
        matches!(&returned[..], [what] if what.contains("it was stopped")),
        "{returned:?}"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_coordinator_that_is_killed_is_started_again_and_counts_everything() {
    let test = Test::of("2");
    let first = test.bench("200", "7s");
    let agents = ["graz", "linz"].map(|name| test.agent(name));
    test.wait_for_requests(400);
    kill(first);
    let at_the_kill = test.count();
    test.wait_for_requests(at_the_kill + 200);
    let told = ends_with(test.bench("200", "7s"), 0);
    assert!(
        told.contains("this coordinator replaced a lost one at"),
        "{told}"
    );
    for agent in agents {
        ends_with(agent, 0);
    }
    let result = test.result();
    assert_eq!(counts(&result), [1_400, 1_400, 1_400, 0]);
    assert_eq!(test.count(), 1_400, "the target's own count");
    let taken_over = marks(&result, "coordinator-replaced");
    assert!(
        matches!(&taken_over[..], [what] if what.contains("2 of 2 agents") && what.contains("graz")),
        "{taken_over:?}"
    );
    assert!(busy_seconds(&result) >= 6, "each second has its own");
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
    let test = Test::of("2");
    let script = script.replace("URL", &test.server.url("/"));
    fs::write(test.folder.path().join("s.js"), script).expect("there is room");
    let first = test.coordinator(&["run", "s.js"]);
    let agents = ["graz", "linz"].map(|name| test.agent(name));
    test.wait_for_requests(200);
    kill(first);
    let at_the_kill = test.count();
    test.wait_for_requests(at_the_kill + 50);
    ends_with(test.coordinator(&["run", "s.js"]), 0);
    for agent in agents {
        ends_with(agent, 0);
    }
    let asked = kept(&test.targets);
    let of = |path: &str| asked.iter().filter(|asked| *asked == path).count();
    assert_eq!((of("/setup"), of("/teardown-given")), (1, 1));
    let summary = json(&test.folder.path().join("s.json"));
    assert_eq!(summary["requests"], asked.len(), "{summary}");
    assert_eq!(summary["iterations"], of("/given"), "{summary}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn agents_of_another_test_are_refused_by_name() {
    let test = Test::of("1");
    let first = test.bench("50", "1m");
    let graz = test.agent("graz");
    test.wait_for_requests(20);
    kill(first);
    let other = test.bench("60", "1m");
    let told = ends_with(graz, 104);
    assert!(told.contains("it belongs to another test"), "{told}");
    kill(other);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_agent_stops_when_its_grace_is_over() {
    let test = Test::of("1");
    let coordinator = test.bench("50", "1m");
    let mut graz = agent(&test.at, TOKEN, "graz");
    graz.args(["--orphan-grace", "1s"]);
    let graz = Running::start(graz);
    test.wait_for_requests(20);
    kill(coordinator);
    let at_the_kill = test.count();
    let told = ends_with(graz, 105);
    assert!(told.contains("it did not come back within 1 s"), "{told}");
    assert!(test.count() > at_the_kill, "it went on");
    let at_the_end = test.count();
    clock::pause(Duration::from_millis(300));
    assert_eq!(test.count(), at_the_end, "it has stopped");
}
