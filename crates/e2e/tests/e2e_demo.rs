//! `loadline demo`: what a new user sees first.
//!
//! Must not know the ramp. Invariant: it needs no network, no server and no file of the user.

use loadline_e2e::ran::in_one_line;
use loadline_e2e::{clock, loadline, run_to_end};

use std::time::Duration;

/// The maximum duration that the demo promises.
const TIME_MAX: Duration = Duration::from_secs(30);

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_demo_finds_the_targets_limit() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let json = folder.path().join("demo.json");
    let mut command = loadline();
    command.args(["demo", "--quiet", "--json"]).arg(&json);
    let begun = clock::now();
    let output = run_to_end(command);
    assert!(begun.elapsed() < TIME_MAX, "it took {:?}", begun.elapsed());
    let report = in_one_line(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert!(report.contains("the target saturated at about"), "{report}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("demo.json"),
        "it tells where the result is: {said}"
    );
    let result = std::fs::read_to_string(&json).expect("the result was written");
    let result: serde_json::Value = serde_json::from_str(&result).expect("it is JSON");
    assert_eq!(result["verdict"]["limit"], "target", "{report}");
    assert!(
        result["verdict"]["saturation"]["throughput"].as_f64() > Some(0.0),
        "{report}"
    );
}
