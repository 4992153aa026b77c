//! Skipping aloud.
//!
//! Must not know why a test cannot be done. Invariant: a test that was not done leaves its reason where
//! CI finds it.

use std::io::Write;

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
