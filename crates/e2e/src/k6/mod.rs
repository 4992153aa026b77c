//! The suite of k6 scripts: the location of scripts and golden files, recording the latter, and comparing with
//! them.
//!
//! Must not know any single script. Invariant: a golden file is only written from two equal observations, and
//! every script has one.

mod case;
mod normal;
mod observe;
mod points;
mod servers;
mod summary;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::difference;
use crate::process::binary;
use crate::skip;
use serde_json::{Value, json};

use case::Case;
use servers::Servers;

/// The tool from which the golden files were recorded.
const PEER: &str = "k6 v2.2.0";
/// Number of scripts of a topic that run concurrently: they mostly wait.
const AT_ONCE: usize = 2;

/// The folder of the suite.
#[must_use]
pub fn root() -> PathBuf {
    package().join("k6")
}

/// The root of the repository.
///
/// # Panics
/// The package was moved.
#[must_use]
pub fn repository() -> PathBuf {
    let root = package().ancestors().nth(2).map(Path::to_path_buf);
    root.expect("the package lies two folders deep")
}

/// Cargo provides the package's folder when it runs a test. The folder at compile time may belong to another
/// clone if two share a target folder.
fn package() -> PathBuf {
    let told = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    told.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")))
}

/// The topics of the existing scripts.
///
/// # Panics
/// The folder cannot be read.
#[must_use]
pub fn topics() -> Vec<String> {
    let names = entries(&root().join("scripts"));
    names
        .into_iter()
        .filter_map(|path| file_name(&path))
        .collect()
}

/// Runs the scripts of a topic with the binary under test, against its own target, and compares each with its
/// golden file.
///
/// # Panics
/// One differs that is not a known difference, or a known difference does not differ.
pub fn hold(topic: &str) {
    let mut cases = cases(topic);
    cases.retain(|case| !case.needs_httpbin);
    hold_all(&cases, &Servers::target());
}

/// The same with an agent that generates the load: a test is one test, however many processes run it.
///
/// # Panics
/// As [`hold`].
pub fn hold_with_agent(topic: &str) {
    let mut cases = cases(topic);
    cases.retain(|case| !case.needs_httpbin && case.command.is_none());
    for case in &mut cases {
        case.args.extend(["--agents", "1"].map(str::to_owned));
    }
    hold_all(&cases, &Servers::target());
}

/// The same against go-httpbin, if it is installed.
///
/// # Panics
/// As [`hold`].
pub fn hold_against_httpbin(topic: &str) {
    match Servers::httpbin() {
        Some(servers) => hold_all(&cases(topic), &servers),
        None => skip(topic, "go-httpbin is not installed"),
    }
}

fn hold_all(cases: &[Case], servers: &Servers) {
    let known = known_differences();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let failure = failure_of(case, servers, known.contains_key(&case.title()));
                    let mut failures = failures.lock().unwrap_or_else(PoisonError::into_inner);
                    failures.extend(failure);
                }
            });
        }
    });
    let mut failures = failures
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    failures.sort();
    assert!(
        failures.is_empty(),
        "{} of {} scripts differ from {PEER}\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

/// The problem of a script; `None`: there is none.
fn failure_of(case: &Case, servers: &Servers, is_known: bool) -> Option<String> {
    let lines = match look(&binary(), case, servers) {
        Ok(seen) => difference::between(&golden(case), &seen),
        Err(why) => vec![why],
    };
    difference::judged(&case.title(), &lines, is_known)
}

/// Records the golden files of all scripts whose title contains `only`, from the k6 at `peer`.
///
/// # Panics
/// The peer has another version, a script needs go-httpbin, which is not installed, or two runs of a script
/// were not equal.
pub fn record(peer: &OsStr, only: &str) {
    let version = Command::new(peer).arg("version").output();
    let version = version.expect("the peer can be started").stdout;
    let version = String::from_utf8_lossy(&version).into_owned();
    assert!(
        version.starts_with(PEER),
        "{PEER} is required, not {version}"
    );
    let target = Servers::target();
    let httpbin = Servers::httpbin();
    let mut unsteady = Vec::new();
    let all = topics().into_iter().flat_map(|topic| cases(&topic));
    for case in all.filter(|case| case.title().contains(only)) {
        let servers = if case.needs_httpbin {
            httpbin.as_ref().expect("go-httpbin is installed")
        } else {
            &target
        };
        if let Err(why) = record_one(peer, &case, servers) {
            unsteady.push(format!("{}:\n    {why}", case.title()));
        }
    }
    assert!(
        unsteady.is_empty(),
        "not recorded, as two runs were not equal:\n{}",
        unsteady.join("\n")
    );
}

fn record_one(peer: &OsStr, case: &Case, servers: &Servers) -> Result<(), String> {
    let mut seen = look(peer, case, servers)?;
    let again = look(peer, case, servers)?;
    let lines = difference::between(&seen, &again);
    if !lines.is_empty() {
        return Err(lines.join("\n    "));
    }
    seen["peer"] = json!(PEER);
    write(&golden_path(case), &seen);
    Ok(())
}

/// The observation of a script; an error if the tool hangs or writes unreadable output, so that the other
/// scripts of the topic are still checked.
fn look(tool: &OsStr, case: &Case, servers: &Servers) -> Result<Value, String> {
    let observed = catch_unwind(AssertUnwindSafe(|| observe::observe(tool, case, servers)));
    observed.map_err(|why| {
        let text = why.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| why.downcast_ref::<&str>().copied());
        text.unwrap_or("it cannot be observed").to_owned()
    })
}

/// Golden files without a script, scripts without a golden file, and known differences without a script.
///
/// # Panics
/// A folder cannot be read.
#[must_use]
pub fn strays() -> Vec<String> {
    let mut found = Vec::new();
    let all: Vec<Case> = topics().iter().flat_map(|topic| cases(topic)).collect();
    let wanted: Vec<PathBuf> = all.iter().map(golden_path).collect();
    for path in wanted.iter().filter(|path| !path.is_file()) {
        found.push(format!("{} was never recorded", path.display()));
    }
    for topic in entries(&root().join("golden")) {
        let files = entries(&topic);
        let lone = files.iter().filter(|path| !wanted.contains(path));
        found.extend(lone.map(|path| format!("{} has no script", path.display())));
    }
    for title in known_differences().into_keys() {
        if !all.iter().any(|case| case.title() == title) {
            found.push(format!("known_differences.toml: {title}: no such script"));
        }
    }
    found
}

fn cases(topic: &str) -> Vec<Case> {
    let files = entries(&root().join("scripts").join(topic));
    let scripts = files.into_iter().filter(|path| path.is_file());
    scripts.map(|path| Case::read(topic, &path)).collect()
}

fn golden_path(case: &Case) -> PathBuf {
    let folder = root().join("golden").join(&case.topic);
    folder.join(format!("{}.json", case.name))
}

/// The recording, without the name of the peer.
fn golden(case: &Case) -> Value {
    let path = golden_path(case);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|why| panic!("{}: {why}: cargo xtask k6-goldens", path.display()));
    let mut value: Value = serde_json::from_str(&text).expect("a golden file is JSON");
    let peer = value.as_object_mut().and_then(|map| map.remove("peer"));
    assert_eq!(peer, Some(json!(PEER)), "{}", path.display());
    value
}

fn known_differences() -> BTreeMap<String, String> {
    let path = root().join("known_differences.toml");
    let text = std::fs::read_to_string(path).expect("the list of differences can be read");
    toml::from_str(&text).expect("the list of differences is a table of reasons")
}

fn write(path: &Path, value: &Value) {
    let folder = path.parent().expect("a golden file lies in a folder");
    std::fs::create_dir_all(folder).expect("the checkout can be written to");
    let text = serde_json::to_string_pretty(value).expect("an observation is JSON");
    std::fs::write(path, text + "\n").expect("the checkout can be written to");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder)
        .unwrap_or_else(|why| panic!("{} can be read: {why}", folder.display()));
    let mut paths: Vec<PathBuf> = found
        .map(|entry| entry.expect("a folder can be read to its end").path())
        .collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}
