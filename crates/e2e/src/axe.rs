//! axe-core, which finds violations of WCAG on a page: fetched from npm, stored outside of the repository.
//!
//! axe-core is by Deque Systems (MPL-2.0); the product contains nothing of it. Must not know pages. Invariant:
//! one fixed version is used, so that the same page is always judged the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::browser::Browser;
use crate::process::has_program;

const VERSION: &str = "4.14.1";

/// The source of the library; fetched if this machine does not have it yet.
///
/// # Errors
/// Why it is unavailable: npm is missing, or cannot fetch it.
pub fn source() -> Result<String, String> {
    let kept = cache().join(format!("axe-core-{VERSION}.js"));
    if let Ok(source) = fs::read_to_string(&kept) {
        return Ok(source);
    }
    if !has_program("npm") {
        return Err("npm is not installed".to_owned());
    }
    let folder = tempfile::tempdir().map_err(|why| why.to_string())?;
    let package = format!("axe-core@{VERSION}");
    run("timeout", &["90", "npm", "pack", &package], folder.path())
        .and_then(|()| {
            let archive = format!("axe-core-{VERSION}.tgz");
            run("tar", &["-xzf", &archive], folder.path())
        })
        .map_err(|why| format!("npm cannot fetch {package}: {why}"))?;
    let source = fs::read_to_string(folder.path().join("package/axe.min.js"));
    let source = source.map_err(|why| format!("{package} holds no axe.min.js: {why}"))?;
    // Another test may store it at the same time: the last one wins, and both are the same. Without a cache it
    // is fetched again next time.
    let beside = kept.with_extension(std::process::id().to_string());
    let _ = fs::create_dir_all(cache())
        .and_then(|()| fs::write(&beside, &source))
        .and_then(|()| fs::rename(&beside, &kept));
    Ok(source)
}

fn cache() -> PathBuf {
    let known = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let folder = known.or_else(home).unwrap_or_else(std::env::temp_dir);
    folder.join("loadline-tests")
}

fn run(program: &str, words: &[&str], folder: &Path) -> Result<(), String> {
    let status = Command::new(program)
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|why| format!("{program}: {why}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{program} ended with {status}")),
    }
}

/// Violations of WCAG 2.2 A or AA on a page, each with its rule and location.
///
/// # Panics
/// The library does not finish.
#[must_use]
pub fn violations(page: &mut Browser, source: &str) -> Vec<String> {
    page.value(&format!("void (window.axe || (() => {{ {source}\n }})())"));
    let found = page.value(
        "axe.run(document, {
            runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'] },
            resultTypes: ['violations'],
        }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map((node) =>
            `${id} at ${node.target.join(' ')}: ${node.failureSummary}`)))",
    );
    let found = found.as_array().expect("a list of what was found");
    found
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
