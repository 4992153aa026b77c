//! Builds the fuzz targets with the stable compiler and lets each run for a moment.
//!
//! Must not know what the targets test: their names come from the manifest in `fuzz/`. Invariant:
//! a target that is named there is built and run, from its seeds, or the step fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::Outcome;
use crate::workspace::{self, Depth, list, root, text};
use crate::{Result, exec};

const MANIFEST: &str = "fuzz/Cargo.toml";

/// What libFuzzer needs from the compiler. `cargo-fuzz` passes the same through a nightly flag.
const RUSTFLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table --cfg fuzzing";

/// Seconds and inputs, whichever ends first: enough to see that a target works from its seeds.
const LIMITS: [&str; 3] = ["-max_total_time=3", "-runs=200000", "-timeout=10"];

pub(super) fn step() -> Result<Outcome> {
    let names = targets()?;
    if names.is_empty() {
        return Err(format!(
            "{MANIFEST} names no [[bin]]: no fuzz target would run"
        ));
    }
    if exec::find("g++").is_none() {
        return Ok(Outcome::Skipped(
            "g++ is not installed, libFuzzer needs it".to_owned(),
        ));
    }
    let directory = workspace::target_directory()?.join("fuzz");
    let triple = host()?;
    let binaries = build(&directory, &triple)?;
    run_all(&names, &binaries, &directory)?;
    Ok(Outcome::Passed)
}

/// Runs the targets, as many at a time as there are processors: each keeps one busy.
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
    let metadata = workspace::metadata(MANIFEST, Depth::Members)?;
    let all = list(&metadata, "packages")
        .iter()
        .flat_map(|package| list(package, "targets"));
    let binaries = all.filter(|target| list(target, "kind").iter().any(|kind| kind == "bin"));
    Ok(binaries
        .map(|target| text(target, "name").to_owned())
        .collect())
}

fn host() -> Result<String> {
    let version = exec::capture(Command::new("rustc").current_dir(root()).arg("-vV"))?;
    let line = version.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned)
        .ok_or_else(|| "rustc -vV names no host".to_owned())
}

/// The development profile keeps debug assertions, which are finds too. The target is named although
/// it is the host: build scripts and macros are then left uninstrumented, which they must be in order
/// to link.
fn build(directory: &Path, triple: &str) -> Result<PathBuf> {
    let mut command = exec::cargo(root(), &["build", "--manifest-path", MANIFEST]);
    command
        .args(["--target", triple])
        .arg("--target-dir")
        .arg(directory);
    // A find is looked at with a build of its own; here lines of code would only cost time.
    command.env("CARGO_PROFILE_DEV_DEBUG", "0");
    exec::run(command.env("RUSTFLAGS", RUSTFLAGS))?;
    Ok(directory.join(triple).join("debug"))
}

fn smoke_run(name: &str, binaries: &Path, directory: &Path) -> Result<()> {
    // libFuzzer writes what it finds into the first folder; the seeds stay as they are.
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
