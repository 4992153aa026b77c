//! kubectl, as tests against a real cluster use it; those of `loadline-operator` include this file.
//!
//! Must not know the commands. Invariant: the input was read when the output is returned.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// What `kubectl wait` says of a definition that was made a moment ago: it has no conditions yet.
const TOO_NEW: &str = ".status.conditions accessor error";
/// How often such a definition is looked at again, and how long that takes each time.
const LOOKS_MAX: usize = 40;
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Runs kubectl; returns its output.
pub(crate) fn kubectl(arguments: &[&str], input: Option<&str>) -> String {
    let mut output = spawn(arguments, input);
    for _ in 0..LOOKS_MAX {
        if !String::from_utf8_lossy(&output.stderr).contains(TOO_NEW) {
            break;
        }
        std::thread::park_timeout(LOOK_EVERY);
        output = spawn(arguments, input);
    }
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "kubectl {arguments:?}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs kubectl, whatever the result.
pub(crate) fn spawn(arguments: &[&str], input: Option<&str>) -> Output {
    let mut child = Command::new("kubectl")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("kubectl is in the PATH: eval \"$(up.sh control)\"");
    let mut to = child.stdin.take().expect("it is piped");
    to.write_all(input.unwrap_or_default().as_bytes())
        .expect("kubectl reads");
    drop(to);
    child.wait_with_output().expect("kubectl ends")
}
