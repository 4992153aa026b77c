//! Builds the fuzz targets with the stable compiler and runs each for a moment.
//!
//! Must not know what the targets test: their names come from the manifest in `fuzz/`. Invariant: a target
//! named there is built and run, starting from its seeds, or the step fails.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{LINTER, LINTS, Outcome, cargo_once};
use crate::workspace::{self, Depth, list, root, text};
use crate::{Result, exec};

const PACKAGE: &str = "loadline-fuzz";
/// The folder with Cargo's settings for instrumenting this repository's crates.
const FOLDER: &str = "fuzz";

/// Seconds and inputs, whichever ends first: enough to see that a target works from its seeds. The inputs are
/// the same each time: a step that passes or fails by chance says nothing about the change. Searching is left
/// to longer runs.
const LIMITS: [&str; 4] = ["-max_total_time=1", "-runs=5000", "-timeout=10", "-seed=1"];

pub(super) fn step() -> Result<Outcome> {
    let names = targets()?;
    if names.is_empty() {
        return Err(format!(
            "{FOLDER}/Cargo.toml names no [[bin]]: no fuzz target would run"
        ));
    }
    if exec::find("g++").is_none() {
        return Ok(Outcome::Skipped(
            "g++ is not installed, libFuzzer needs it".to_owned(),
        ));
    }
    build(&names)?;
    let target = workspace::target_directory()?;
    run_all(&names, &target.join("debug"), &target.join("fuzz-smoke"))?;
    Ok(Outcome::Passed)
}

/// Runs the targets, as many at a time as there are CPUs: each keeps one busy.
fn run_all(names: &[String], binaries: &Path, directory: &Path) -> Result<()> {
    let next = AtomicUsize::new(0);
    let run_next = || -> Result<()> {
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            smoke_run(name, binaries, directory)?;
        }
        Ok(())
    };
    let lanes = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(run_next)).collect();
        lanes.into_iter().try_for_each(|lane| {
            lane.join()
                .unwrap_or_else(|_| Err("a fuzz lane panicked".to_owned()))
        })
    })
}

fn targets() -> Result<Vec<String>> {
    let metadata = workspace::metadata(Depth::Members)?;
    let packages = list(&metadata, "packages").iter();
    let all = packages
        .filter(|package| text(package, "name") == PACKAGE)
        .flat_map(|package| list(package, "targets"));
    let binaries = all.filter(|target| list(target, "kind").iter().any(|kind| kind == "bin"));
    Ok(binaries
        .map(|target| text(target, "name").to_owned())
        .collect())
}

/// The development profile keeps debug assertions, whose failures are findings too, and reuses the dependencies
/// from the step `clippy`: their features are those of the selected packages, so all are selected.
fn build(names: &[String]) -> Result<()> {
    let mut command = cargo_once(&["build", "--workspace"]);
    for name in names {
        command.args(["--bin", name]);
    }
    command
        .env("LOADLINE_FUZZ_COMPILER", LINTER)
        .env("CLIPPY_ARGS", LINTS);
    exec::run(command.current_dir(root().join(FOLDER)))
}

fn smoke_run(name: &str, binaries: &Path, directory: &Path) -> Result<()> {
    // libFuzzer writes its findings into the first folder; the seeds stay unchanged.
    let corpus = directory.join("corpus").join(name);
    let artifacts = directory.join("artifacts");
    let log = directory.join(format!("{name}.log"));
    for folder in [&corpus, &artifacts] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let output = fs::File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let mut command = Command::new(binaries.join(name));
    command
        .args(LIMITS)
        .arg(format!("-artifact_prefix={}/{name}-", artifacts.display()));
    command.arg(&corpus).stdout(Stdio::null()).stderr(output);
    let seeds = root().join("fuzz/seeds").join(name);
    if seeds.is_dir() {
        command.arg(seeds);
    }
    let outcome = exec::run(&mut command);
    let said = fs::read(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let said = String::from_utf8_lossy(&said);
    if let Err(error) = outcome {
        let artifacts = artifacts.display();
        return Err(format!(
            "fuzz target {error}; the input lies in {artifacts}\n{said}"
        ));
    }
    println!("{}", said.lines().last().unwrap_or_default());
    Ok(())
}
