//! Runs the test suites that other steps ignore: those that need the release binary, a cluster or a node.
//!
//! Must not know what a suite tests. Invariants: the output of a suite is printed as a whole; a suite that
//! measures the machine has it for itself.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::counts::{Tally, Told};
use super::skips::SkipLog;
use super::{Outcome, cargo_linted, outcome};
use crate::workspace::{self, list, text};
use crate::{Result, exec};

/// Number of concurrent end-to-end suites. Most of their tests wait: for a run to end, or for a server that is slow
/// on purpose.
const LANES: usize = 4;

/// Number of concurrent cluster suites: each of their tests has its own namespace.
const LAB_LANES: usize = 2;

/// Number of concurrent tests in a cluster suite: they wait for pods to start and to end.
const LAB_THREADS: &str = "4";

/// Suites that measure the machine (CPU time, starvation, who is in the way, processes by name), and the one that
/// removes definitions of the cluster.
const ALONE: &[&str] = &[
    "e2e_bottlenecks",
    "e2e_demo",
    "e2e_freeze",
    "e2e_kits",
    "e2e_observe",
    "e2e_response_time",
    "e2e_situations",
    "lab_chart",
];

/// Maximum number of tests that may fail while others run and pass alone. They start servers, burn CPU and
/// measure: another guest of the machine can make one fail; a defect fails it again.
const SECOND_TRIES_MAX: usize = 3;

/// A compiled suite.
struct Suite {
    name: String,
    /// The folder of its package, in which its tests run.
    folder: PathBuf,
    program: PathBuf,
}

/// Runs all tests of the suites whose names match `pattern`; the few that fail are run once more, alone.
///
/// # Errors
/// A suite does not compile or crashed, a test failed twice, or too many failed.
pub(super) fn run(pattern: &str, environment: &[(String, String)]) -> Result<Outcome> {
    let binary = workspace::release_binary()?.display().to_string();
    let skips = SkipLog::new();
    let mut environment = environment.to_vec();
    environment.extend([("LOADLINE_BIN".to_owned(), binary), skips.variable()]);
    let suites = compiled(pattern)?;
    let told = skips.counted(run_all(&suites, &environment)?)?;
    if told.crashed > 0 || !(1..=SECOND_TRIES_MAX).contains(&told.failed.len()) {
        return outcome(&told);
    }
    for test in &told.failed {
        let words = ["--exact", &test.name];
        for suite in suites.iter().filter(|suite| suite.name == test.suite) {
            if !suite.run(&words, &environment)?.failed.is_empty() {
                return outcome(&told);
            }
        }
    }
    let names: Vec<&str> = told.failed.iter().map(|test| test.name.as_str()).collect();
    let counts = told.counts.with_passed_alone(names.len());
    Ok(Outcome::TestedTwice(counts, names.join(", ")))
}

/// Runs the suites that may run concurrently, then the rest one after another.
fn run_all(suites: &[Suite], environment: &[(String, String)]) -> Result<Told> {
    let sum = Mutex::new(Told::default());
    for lanes in [LANES, LAB_LANES, 1] {
        let left = Mutex::new(suites.iter().filter(|suite| suite.lanes() == lanes));
        let lane = || {
            loop {
                let next = locked(&left).next();
                let Some(suite) = next else { return Ok(()) };
                let told = suite.run(&[], environment)?;
                locked(&sum).add(told);
            }
        };
        std::thread::scope(|scope| {
            let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
            lanes.into_iter().try_for_each(|lane| {
                let ended = lane.join();
                ended.unwrap_or_else(|_| Err("a lane of tests panicked".to_owned()))
            })
        })?;
    }
    Ok(sum.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Suite {
    /// Number of suites that may run while this one does, with it.
    fn lanes(&self) -> usize {
        let is = |kind: &str| self.name.starts_with(kind);
        match () {
            () if ALONE.contains(&self.name.as_str()) => 1,
            () if is("e2e_") => LANES,
            () if is("lab_") => LAB_LANES,
            () => 1,
        }
    }

    /// Runs its tests, or those selected by `words`, and prints their output after the last has ended.
    ///
    /// # Errors
    /// The suite could not start.
    fn run(&self, words: &[&str], environment: &[(String, String)]) -> Result<Told> {
        let mut command = Command::new(&self.program);
        command
            .arg("--include-ignored")
            .args(words)
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .envs(environment.iter().map(|(name, value)| (name, value)));
        if self.name.starts_with("lab_") {
            command.env("RUST_TEST_THREADS", LAB_THREADS);
        }
        let mut lines = vec![format!("     Running tests/{}.rs", self.name)];
        exec::lines(&mut command, |line| lines.push(line.to_owned()))?;
        let mut tally = Tally::new(|_| true);
        lines.iter().for_each(|line| tally.line(line));
        println!("{}", lines.join("\n"));
        Ok(tally.finish())
    }
}

/// Compiles the suites whose names match `pattern`.
///
/// # Errors
/// One does not compile.
fn compiled(pattern: &str) -> Result<Vec<Suite>> {
    let format = "--message-format=json-render-diagnostics";
    let words = ["test", "--workspace", "--no-run", format, "--test", pattern];
    let told = exec::capture(&mut cargo_linted(&words))?;
    let messages = told
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    Ok(messages
        .filter_map(|message: Value| suite(&message))
        .collect())
}

/// The suite in a message of cargo.
fn suite(message: &Value) -> Option<Suite> {
    let target = &message["target"];
    let is_suite = list(target, "kind").iter().any(|kind| kind == "test");
    let manifest = Path::new(text(message, "manifest_path"));
    is_suite.then_some(Suite {
        name: text(target, "name").to_owned(),
        folder: manifest.parent()?.to_owned(),
        program: message["executable"].as_str()?.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_known_by_its_message() {
        let message = serde_json::json!({
            "reason": "compiler-artifact",
            "manifest_path": "/house/crates/e2e/Cargo.toml",
            "target": {"kind": ["test"], "name": "e2e_stops"},
            "executable": "/house/target/debug/deps/e2e_stops-1",
        });
        let known = suite(&message).expect("it is one");
        assert_eq!(known.folder, Path::new("/house/crates/e2e"));
        assert_eq!(known.lanes(), LANES);
        let library = serde_json::json!({
            "manifest_path": "/house/crates/e2e/Cargo.toml",
            "target": {"kind": ["lib"], "name": "loadline_e2e"},
            "executable": null,
        });
        assert!(suite(&library).is_none());
    }

    #[test]
    fn suites_that_have_the_machine_for_themselves_are_there() {
        let tests = workspace::root().join("crates/e2e/tests");
        for suite in ALONE {
            assert!(tests.join(suite).with_extension("rs").is_file(), "{suite}");
        }
    }
}
