//! The file in which tests that skip themselves report it: for the test harness they pass.
//!
//! Must not know the tests. Invariant: the file is removed when its lines are counted.

use std::path::PathBuf;

use super::counts::Told;
use crate::Result;

/// The variable with the file's path for tests.
const VARIABLE: &str = "LOADLINE_SKIPS";

pub(super) struct SkipLog(PathBuf);

impl SkipLog {
    /// A log for the tests that get [`Self::variable`]; there is one at a time.
    pub(super) fn new() -> SkipLog {
        let name = format!("loadline-ci-{}-skips", std::process::id());
        SkipLog(std::env::temp_dir().join(name))
    }

    /// The environment variable for tests.
    pub(super) fn variable(&self) -> (String, String) {
        (VARIABLE.to_owned(), self.0.display().to_string())
    }

    /// Moves the tests that skipped themselves from passed to skipped, and prints them.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub(super) fn counted(self, mut told: Told) -> Result<Told> {
        // No file: no test skipped itself.
        let skips = std::fs::read_to_string(&self.0).unwrap_or_default();
        if !skips.is_empty() {
            print!("tests that skipped themselves:\n{skips}");
            std::fs::remove_file(&self.0).map_err(|error| format!("skip log: {error}"))?;
        }
        told.counts = told.counts.with_skips(skips.lines().count());
        Ok(told)
    }
}
