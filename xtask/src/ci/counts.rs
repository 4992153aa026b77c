//! Sums the results printed by `cargo test`, suite by suite.
//!
//! Must not know which tests exist. Invariant: a `test result:` line is counted once, its ignored tests only if
//! nothing else will run them, and every failed test is named with its suite.

use std::fmt;

/// Tests by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Counts {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
        }
    }

    pub(super) fn has_failures(self) -> bool {
        self.failed > 0
    }

    /// Counts tests as passed that failed at first and passed when run alone.
    pub(super) fn with_passed_alone(self, tests: usize) -> Self {
        let moved = tests.min(self.failed);
        Self {
            passed: self.passed + moved,
            failed: self.failed - moved,
            ..self
        }
    }

    /// A test that skips itself counts as passed in the test harness: it is moved to skipped.
    pub(super) fn with_skips(self, skips: usize) -> Self {
        let moved = skips.min(self.passed);
        Self {
            passed: self.passed - moved,
            skipped: self.skipped + moved,
            ..self
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            skipped,
        } = self;
        write!(
            formatter,
            "{passed} passed, {failed} failed, {skipped} skipped"
        )
    }
}

/// A test that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FailedTest {
    pub(super) suite: String,
    pub(super) name: String,
}

/// The summary of the output of `cargo test`.
#[derive(Default)]
pub(super) struct Told {
    pub(super) counts: Counts,
    pub(super) failed: Vec<FailedTest>,
    /// Suites that started without a result: they crashed.
    pub(super) crashed: usize,
}

impl Told {
    pub(super) fn add(&mut self, other: Told) {
        self.counts = self.counts.plus(other.counts);
        self.failed.extend(other.failed);
        self.crashed += other.crashed;
    }
}

/// Reads the output of `cargo test`, both streams in order.
pub(super) struct Tally {
    counts: Counts,
    failed: Vec<FailedTest>,
    /// Suites that have started minus those that have ended.
    open: usize,
    suite: String,
    counts_ignored: fn(&str) -> bool,
}

impl Tally {
    /// `counts_ignored` is called with a suite's name (file name without `.rs`).
    pub(super) fn new(counts_ignored: fn(&str) -> bool) -> Self {
        Self {
            counts: Counts::default(),
            failed: Vec::new(),
            open: 0,
            suite: String::new(),
            counts_ignored,
        }
    }

    pub(super) fn line(&mut self, line: &str) {
        let line = line.trim_start();
        if let Some(suite) = suite_of(line) {
            self.suite = suite.to_owned();
            self.open += 1;
        } else if let Some(result) = line.strip_prefix("test result: ") {
            self.counts = self.counts.plus(self.result(result));
            self.open = self.open.saturating_sub(1);
        } else if let Some(name) = failed_test(line) {
            self.failed.push(FailedTest {
                suite: self.suite.clone(),
                name: name.to_owned(),
            });
        }
    }

    pub(super) fn finish(self) -> Told {
        Told {
            counts: self.counts,
            failed: self.failed,
            crashed: self.open,
        }
    }

    fn result(&self, result: &str) -> Counts {
        let ignored = number_before(result, " ignored");
        Counts {
            passed: number_before(result, " passed"),
            failed: number_before(result, " failed"),
            skipped: if (self.counts_ignored)(&self.suite) {
                ignored
            } else {
                0
            },
        }
    }
}

/// `Running tests/e2e_cli.rs (target/…)` → `e2e_cli`; `Doc-tests name` → `name`.
fn suite_of(line: &str) -> Option<&str> {
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(name);
    }
    let path = line.strip_prefix("Running ")?.split(" (").next()?;
    path.rsplit('/').next()?.strip_suffix(".rs")
}

/// `test module::name ... FAILED` → `module::name`.
fn failed_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// The number directly before `word`; zero if there is none.
fn number_before(text: &str, word: &str) -> usize {
    let before = text.split(word).next().unwrap_or_default();
    let digits = before
        .rsplit(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap_or_default();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
     Running unittests src/lib.rs (target/debug/deps/a-1)
running 3 tests
test one::works ... ok
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
     Running tests/e2e_cli.rs (target/debug/deps/e2e_cli-1)
test help::is_short ... FAILED
test result: FAILED. 0 passed; 1 failed; 7 ignored; 0 measured; 0 filtered out; finished in 0.00s
   Doc-tests loadline_metric
test result: ok. 40 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.10s";

    fn told(counts_ignored: fn(&str) -> bool) -> Told {
        let mut tally = Tally::new(counts_ignored);
        OUTPUT.lines().for_each(|line| tally.line(line));
        tally.finish()
    }

    fn tally(counts_ignored: fn(&str) -> bool) -> Counts {
        told(counts_ignored).counts
    }

    #[test]
    fn tests_that_fail_are_named_and_may_pass_alone() {
        let told = told(|_| true);
        let failed = FailedTest {
            suite: "e2e_cli".to_owned(),
            name: "help::is_short".to_owned(),
        };
        assert_eq!((told.failed, told.crashed), (vec![failed], 0));
        let mut crash = Tally::new(|_| true);
        OUTPUT.lines().take(5).for_each(|line| crash.line(line));
        assert_eq!(crash.finish().crashed, 1);
        let counts = told.counts.with_passed_alone(1);
        assert_eq!(counts.to_string(), "43 passed, 0 failed, 8 skipped");
    }

    #[test]
    fn sums_all_suites() {
        assert_eq!(
            tally(|_| true),
            Counts {
                passed: 42,
                failed: 1,
                skipped: 8
            }
        );
    }

    #[test]
    fn leaves_out_what_runs_later() {
        let counts = tally(|suite| !suite.starts_with("e2e_"));
        assert_eq!(counts.to_string(), "42 passed, 1 failed, 1 skipped");
    }

    #[test]
    fn tests_that_skipped_themselves_did_not_pass() {
        let counts = Counts {
            passed: 5,
            failed: 0,
            skipped: 1,
        };
        assert_eq!(
            counts.with_skips(2),
            Counts {
                passed: 3,
                failed: 0,
                skipped: 3
            }
        );
    }
}
