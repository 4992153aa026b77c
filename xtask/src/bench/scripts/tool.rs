//! The two programs that run the same script, and the cost of a run of either.
//!
//! Must not know the rows. Invariant: both get the same words and the same cores, and a run in which a check or
//! a request failed does not count.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::measure::{Usage, measure};
use crate::bench::{Bench, machine::pinned};
use crate::{Result, exec};

/// A program that runs scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::bench) enum Tool {
    Loadline,
    K6,
}

/// A script file and its arguments.
#[derive(Clone)]
pub(super) struct Script {
    path: PathBuf,
    arguments: Vec<String>,
    /// Not pinned to the client's core.
    everywhere: bool,
}

/// The counted unit, by its name in the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Request,
    Iteration,
}

/// A successful run.
pub(super) struct Outcome {
    pub(super) usage: Usage,
    summary: Value,
}

/// The file named by `K6_BIN`, otherwise `k6` in the folders of peers; `None` is reported.
pub(in crate::bench) fn find_k6() -> Option<PathBuf> {
    let named = std::env::var_os("K6_BIN").map(PathBuf::from);
    let found = named.or_else(|| exec::find("k6"));
    if found.is_none() {
        println!("NOTE: no k6, neither K6_BIN nor in PATH: its columns stay empty");
    }
    found
}

impl Tool {
    /// The program, if it exists.
    pub(super) fn program(self, bench: &Bench) -> Option<&Path> {
        match self {
            Self::Loadline => Some(&bench.loadline),
            Self::K6 => bench.k6.as_ref().map(|peer| peer.program.as_path()),
        }
    }
}

impl Script {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            arguments: Vec::new(),
            everywhere: false,
        }
    }

    /// Adds words of the command line, separated by spaces.
    pub(super) fn with(mut self, words: &str) -> Self {
        self.arguments
            .extend(words.split_whitespace().map(str::to_owned));
        self
    }

    /// Lets the tool use all cores, if no server needs one.
    pub(super) fn on_all_cores(mut self) -> Self {
        self.everywhere = true;
        self
    }

    /// Sets a variable in the script's `__ENV`.
    pub(super) fn env(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.arguments
            .extend(["-e".to_owned(), format!("{name}={value}")]);
        self
    }
}

/// Runs `script` once.
///
/// # Errors
/// `program` ended with a non-zero code, wrote no summary, or a check or a request failed.
pub(super) fn run(bench: &Bench, program: &Path, script: &Script) -> Result<Outcome> {
    let export = bench.folder.file("summary.json");
    let core = bench.cores.client.filter(|_| !script.everywhere);
    let mut command = pinned(core, program);
    command.args(["run", "-q", "--no-usage-report"]);
    command.args(["--insecure-skip-tls-verify", "--summary-export"]);
    command.arg(&export).args(&script.arguments);
    let usage = measure(command.arg(&script.path))?;
    let told = |error: &dyn std::fmt::Display| {
        format!("{} of {}: {error}", export.display(), program.display())
    };
    let text = fs::read_to_string(&export).map_err(|error| told(&error))?;
    // A later run that writes nothing must not be mistaken for this one.
    fs::remove_file(&export).map_err(|error| told(&error))?;
    let summary: Value = serde_json::from_str(&text).map_err(|error| told(&error))?;
    match failures(&summary) {
        0 => Ok(Outcome { usage, summary }),
        failed => Err(told(&format!(
            "{failed} checks and requests failed: the row would compare unlike things"
        ))),
    }
}

/// Failed checks, and failed requests, which are counted by `passes` of `http_req_failed`.
fn failures(summary: &Value) -> u64 {
    let metrics = &summary["metrics"];
    let count = |metric: &str, field: &str| metrics[metric][field].as_u64().unwrap_or(0);
    count("checks", "fails") + count("http_req_failed", "passes")
}

impl Outcome {
    /// CPU microseconds per request or iteration.
    ///
    /// # Errors
    /// There was none.
    pub(super) fn cpu_us_per(&self, unit: Unit) -> Result<f64> {
        let metric = match unit {
            Unit::Request => "http_reqs",
            Unit::Iteration => "iterations",
        };
        let count = self.summary["metrics"][metric]["count"].as_f64();
        match count.filter(|count| *count > 0.0) {
            Some(count) => Ok(self.usage.cpu.as_secs_f64() * 1e6 / count),
            None => Err(format!("the summary counts no {metric}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    fn outcome(summary: Value) -> Outcome {
        let usage = Usage {
            stdout: String::new(),
            cpu: Duration::from_millis(30),
            wall: Duration::from_secs(1),
            rss_bytes_max: 0,
        };
        Outcome { usage, summary }
    }

    #[test]
    fn costs_are_per_unit() {
        let run =
            outcome(json!({"metrics": {"http_reqs": {"count": 1000}, "iterations": {"count": 0}}}));
        assert_eq!(run.cpu_us_per(Unit::Request), Ok(30.0));
        assert!(run.cpu_us_per(Unit::Iteration).is_err());
        assert!(outcome(json!({})).cpu_us_per(Unit::Request).is_err());
    }

    #[test]
    fn failed_checks_and_requests_are_seen() {
        let good = json!({"metrics": {"checks": {"passes": 9, "fails": 0}, "http_req_failed": {"passes": 0, "fails": 9}}});
        assert_eq!(failures(&good), 0);
        let bad = json!({"metrics": {"checks": {"passes": 9, "fails": 2}, "http_req_failed": {"passes": 3, "fails": 9}}});
        assert_eq!(failures(&bad), 5);
    }

    #[test]
    fn scripts_gather_their_words() {
        let script = Script::new(PathBuf::from("a.js"))
            .with("-u 50 -d 5s")
            .env("TARGET", "http://x/ y");
        assert_eq!(
            script.arguments,
            ["-u", "50", "-d", "5s", "-e", "TARGET=http://x/ y"]
        );
    }
}
