//! The files that a test leaves in its container, and their processing by the container next to it.
//!
//! Must not know clusters. Invariant: the variables and the command line are as the operator writes them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use loadline_e2e::process::Running;
use loadline_e2e::server::Server;
use loadline_e2e::{agents, clock, loadline};
use serde_json::{Value, json};

const SCRIPT: &str = "
    import http from 'k6/http';
    import { sleep } from 'k6';
    export const options = { scenarios: { all: { executor: 'shared-iterations', vus: 4, iterations: 40 } },
        thresholds: { iterations: ['count>1000'], http_req_failed: ['rate==0'] } };
    export default function () { http.get(__ENV.URL); sleep(__ENV.SECONDS || 0.01); }";

/// A coordinator in a folder, as in its container.
fn coordinator(folder: &Path, server: &Server, words: &[&str]) -> Command {
    fs::write(folder.join("script.js"), SCRIPT).expect("there is room");
    // The kubelet's file exists before the container.
    fs::write(folder.join("last-word"), "").expect("there is room");
    let mut command = loadline();
    command
        .current_dir(folder)
        .args(["run", "--quiet", "--agents", "2", "-e"])
        .arg(format!("URL={}", server.url("/")))
        .args(words)
        .arg("script.js")
        .env("LOADLINE_TERMINATION_LOG", folder.join("last-word"))
        .env("LOADLINE_AT_WORK", folder.join("at-work"))
        .env("LOADLINE_JSON", folder.join("result.json"));
    command
}

/// The container next to it.
fn keeper(folder: &Path) -> Running {
    let mut command = loadline();
    command.current_dir(folder).args([
        "k8s",
        "keep",
        "--at-work",
        "at-work",
        "--result",
        "result.json",
    ]);
    Running::start(command)
}

fn lines(output: &Output) -> Vec<String> {
    agents::text(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn figures_and_files_are_left() {
    let (server, _) = agents::keeping();
    let folder = tempfile::tempdir().expect("there is room");
    let keeper = keeper(folder.path());
    let ran = loadline_e2e::run_to_end(coordinator(folder.path(), &server, &[]));
    assert_eq!(ran.status.code(), Some(99), "{}", agents::text(&ran.stderr));
    let figures: Value = agents::json(&folder.path().join("last-word"));
    assert_eq!(figures["loadline"], "figures/v1");
    assert_eq!(figures["requests"]["started"], 40);
    assert_eq!(
        figures["iterations"],
        json!({"planned": 40, "completed": 40, "interrupted": 0, "dropped": 0})
    );
    assert_eq!(figures["times"]["count"], 40);
    assert_eq!(
        figures["thresholds"],
        json!([
            {"name": "iterations", "condition": "count>1000", "value": 40.0, "passed": false},
            {"name": "http_req_failed", "condition": "rate==0", "value": 0.0, "passed": true},
        ])
    );
    assert_eq!(
        figures["error"],
        "thresholds on metrics 'iterations' have been crossed"
    );
    let handed = keeper.finish();
    assert_eq!(
        handed.status.code(),
        Some(0),
        "{}",
        agents::text(&handed.stderr)
    );
    let lines = lines(&handed);
    assert_eq!(lines[0], "loadline-parcel/v1");
    assert!(lines[1].starts_with("file result.json.gz "), "{}", lines[1]);
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.starts_with("file report.html.gz "))
            .count(),
        1
    );
    assert_eq!(lines.last().map(String::as_str), Some("end"));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn whoever_keeps_a_result_ends_with_a_coordinator_that_is_killed() {
    let (server, _) = agents::keeping();
    let folder = tempfile::tempdir().expect("there is room");
    let keeper = keeper(folder.path());
    let coordinator = coordinator(folder.path(), &server, &["-e", "SECONDS=60"]);
    let coordinator = Running::start(coordinator);
    let begun = || folder.path().join("at-work").exists().then_some(());
    clock::wait_for(agents::SOON, begun).expect("it begins");
    coordinator.signal(9);
    drop(coordinator.finish());
    let handed = keeper.finish();
    assert_eq!(
        handed.status.code(),
        Some(0),
        "{}",
        agents::text(&handed.stderr)
    );
    assert_eq!(lines(&handed), ["loadline-parcel/v1", "end"]);
    let last_word = fs::read_to_string(folder.path().join("last-word"));
    assert_eq!(last_word.expect("it is there"), "");
}
