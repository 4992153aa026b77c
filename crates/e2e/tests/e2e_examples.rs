//! Every script of `examples/` under `loadline run` against `loadline target`, for a second or two.
//!
//! Must not know what a script does. Invariant: a script without checks, or with a failed one, fails the test;
//! none can be added without being run.

use std::path::{Path, PathBuf};

use loadline_e2e::k6::repository;
use loadline_e2e::target::Target;
use loadline_e2e::{loadline, run_to_end};
use serde_json::Value;

/// Replacements of the minutes and hours in the scripts.
const SHORT: [(&str, &str); 6] = [
    ("RAMP", "200ms"),
    ("HOLD", "1s"),
    ("VUS", "3"),
    ("RATE", "20"),
    ("REQUESTS", "30"),
    ("ROUNDS", "3"),
];

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn every_example_runs_and_all_its_checks_hold() {
    let root = repository();
    let routes = root.join("docs/target/routes.toml");
    let routes = routes.to_str().expect("the checkout's path is text");
    let target = Target::start(&["--tls", "127.0.0.1:0", "--routes", routes]);
    let failures: Vec<String> = scripts(&root)
        .iter()
        .filter_map(|script| run_one(script, &target).err())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn run_one(script: &Path, target: &Target) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let export = folder.path().join("summary.json");
    let mut command = loadline();
    command
        .args(["run", "--quiet", "--insecure-skip-tls-verify"])
        .arg("--summary-export")
        .arg(&export)
        .arg(script)
        .env("TARGET", target.url(""))
        .env("TARGET_TLS", target_tls(target))
        .envs(SHORT);
    let output = run_to_end(command);
    let name = script.display();
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{name}: {}\n{told}", output.status));
    }
    let text = std::fs::read_to_string(&export).map_err(|why| format!("{name}: {why}"))?;
    let summary: Value = serde_json::from_str(&text).expect("the export is JSON");
    let number = |pointer: &str| summary.pointer(pointer).and_then(Value::as_u64);
    let requests = number("/metrics/http_reqs/count").unwrap_or(0);
    let held = number("/metrics/checks/passes").unwrap_or(0);
    let failed = number("/metrics/checks/fails");
    if requests == 0 || held == 0 || failed != Some(0) {
        return Err(format!(
            "{name}: {requests} requests, {held} checks held, {failed:?} failed"
        ));
    }
    Ok(())
}

fn target_tls(target: &Target) -> String {
    format!("https://127.0.0.1:{}", target.tls_port())
}

fn scripts(root: &Path) -> Vec<PathBuf> {
    let folder = root.join("examples");
    let entries = std::fs::read_dir(&folder).expect("the examples can be listed");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the examples can be listed to the end").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "js"))
        .collect();
    paths.sort();
    paths
}
