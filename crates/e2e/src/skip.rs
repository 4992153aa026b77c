//! Skips tests with a report.
//!
//! Must not know why a test cannot be run. Invariant: a skipped test leaves its reason where CI finds it.

use std::ffi::OsStr;
use std::io::Write;

/// CI services set it to `true`.
const CI: &str = "CI";

/// Like [`skip`] on a developer's machine; in CI, where everything can be installed, the test fails.
///
/// # Panics
/// `CI` is `true`, or the skip log cannot be written.
pub fn skip_unless_ci(test: &str, reason: &str) {
    assert!(
        !is_ci(std::env::var_os(CI).as_deref()),
        "{test}: {reason}; with {CI}=true this is no reason to skip it"
    );
    skip(test, reason);
}

fn is_ci(variable: Option<&OsStr>) -> bool {
    variable.is_some_and(|value| value == "true")
}

/// Reports that a test was skipped, and why; the test then returns.
///
/// The test harness hides the output of a passing test and counts it as passed. Therefore the reason is also
/// appended to the file named by `LOADLINE_SKIPS`, where CI finds it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci_says_so_by_true() {
        assert!(is_ci(Some(OsStr::new("true"))));
        for other in [None, Some(""), Some("false"), Some("0")] {
            assert!(!is_ci(other.map(OsStr::new)), "{other:?}");
        }
    }
}
