//! A handful of the staged situations, so that the harness and its staging keep working.
//!
//! Must not know what is staged: `crates/e2e/situations` defines it. Invariant: only situations that any
//! machine can stage and that take seconds; `cargo xtask situations` runs all.

use std::process::Command;

use loadline_e2e::process::binary;
use loadline_e2e::{run_to_end, skip};

/// One per side, for which only Python is needed.
const QUICK: &str = "pool-open,fails-500,too-few-vus-script,nulls-in-200,keepalive-ends-carried";

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_verdict_is_right_on_a_handful() {
    let python = Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|python| python.status.success()) {
        return skip("the_verdict_is_right_on_a_handful", "there is no python3");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_situations"));
    command
        .args(["--quiet", "--only", QUICK])
        .env("LOADLINE_BIN", binary());
    let output = run_to_end(command);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{told}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(told.contains("5 of 5 right"), "{told}");
}
