//! What the end-to-end tests share: starting the binary under test, and skipping aloud.
//!
//! Must not know any crate of the product: a test sees what a user sees. Invariant: no test runs
//! another binary than the one that `LOADLINE_BIN` names.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Command, Output};

/// A command that starts the binary under test, with an environment that changes nothing: no
/// proxies, no colours.
///
/// # Panics
/// `LOADLINE_BIN` is not set. `cargo xtask ci --only e2e` builds the release binary and sets it.
pub fn loadline() -> Command {
    let binary =
        std::env::var_os("LOADLINE_BIN").expect("LOADLINE_BIN names the binary under test");
    let mut command = Command::new(binary);
    command.env("NO_COLOR", "1");
    for proxy in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
        command.env_remove(proxy).env_remove(proxy.to_uppercase());
    }
    command
}

/// Runs the binary to its end and returns both streams and the exit code.
///
/// # Panics
/// The binary could not be started.
pub fn run<I, S>(arguments: I) -> Output
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    loadline()
        .args(arguments)
        .output()
        .expect("the binary under test can be started")
}

/// Tells that a test was not done, and why; the test then returns.
///
/// The test harness hides what a passing test prints and counts it as passed. The reason is
/// therefore also appended to the file that `LOADLINE_SKIPS` names, where CI finds it.
///
/// # Panics
/// That file cannot be written.
pub fn skip(test: &str, reason: &str) {
    let line = format!("{test}: {reason}\n");
    if let Some(path) = std::env::var_os("LOADLINE_SKIPS") {
        let file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(path);
        let mut file = file.expect("the skip log can be opened");
        file.write_all(line.as_bytes())
            .expect("the skip log can be written");
    }
    #[expect(clippy::print_stderr, reason = "shown by `cargo test -- --nocapture`")]
    {
        eprint!("skipped: {line}");
    }
}
