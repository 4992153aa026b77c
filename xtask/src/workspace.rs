//! Where things are: the repository and its files, its packages as `cargo metadata` tells them, the built binary.
//!
//! Must not know any rule. Invariant: every path it gives lies in the repository or its target folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

use crate::{Result, exec};

/// Where an archive of the sources is built.
const BUILT: &str = "target";

/// The folder that holds the workspace's `Cargo.toml`.
///
/// Cargo tells it when it runs xtask or its tests. What was known when xtask was compiled may be
/// another clone's, where two share a target folder.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let told = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let xtask = told.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
        xtask
            .parent()
            .expect("xtask lies in a folder of the workspace")
            .to_path_buf()
    });
    &ROOT
}

/// How much of the dependency graph to ask for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The workspace's own packages.
    Members,
    /// Everything in the lock file.
    All,
}

/// What `cargo metadata` says of the workspace.
///
/// # Errors
/// Cargo failed: a manifest is broken, or the registry could not be reached.
pub(crate) fn metadata(depth: Depth) -> Result<Value> {
    let mut command = exec::cargo(root(), &["metadata", "--format-version", "1"]);
    if depth == Depth::Members {
        command.arg("--no-deps");
    }
    let text = exec::capture(&mut command)?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata wrote no JSON: {error}"))
}

/// The elements of an array field; nothing when it is absent.
pub(crate) fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

/// A text field; empty when it is absent.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// Where cargo puts what it builds for the workspace (`CARGO_TARGET_DIR` is honoured).
///
/// # Errors
/// Cargo failed.
pub(crate) fn target_directory() -> Result<PathBuf> {
    Ok(PathBuf::from(text(
        &metadata(Depth::Members)?,
        "target_directory",
    )))
}

/// Builds the product in the release profile (nothing to do when it is fresh) and tells where it is.
///
/// # Errors
/// The build failed.
pub(crate) fn release_binary() -> Result<PathBuf> {
    Ok(release_folder()?.join("loadline"))
}

/// The folder of the programs of a release build, which is made. Always of both: what they share has other features
/// when one of them is built alone, and would be compiled twice.
///
/// # Errors
/// The build failed.
pub(crate) fn release_folder() -> Result<PathBuf> {
    let mut words = vec!["build", "--release", "--locked"];
    words.extend(["-p", "loadline", "-p", "loadline-operator"]);
    exec::run(&mut exec::cargo(root(), &words))?;
    Ok(target_directory()?.join("release"))
}

/// All files that a clone of the repository holds, once all that git does not ignore is committed: paths from its root.
///
/// # Errors
/// Git failed, or a folder that cannot be read.
pub(crate) fn files() -> Result<BTreeSet<String>> {
    if root().join(".git").exists() {
        return listed_by_git();
    }
    let mut unpacked = BTreeSet::new();
    walk(root(), &mut unpacked)?;
    Ok(unpacked)
}

fn listed_by_git() -> Result<BTreeSet<String>> {
    let listing = Command::new("git")
        // Whoever owns the folder, it is only read.
        .args(["-c", "safe.directory=*", "ls-files", "-z"])
        .args(["--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .map_err(|error| format!("git ls-files: {error}"))?;
    if !listing.status.success() {
        let told = String::from_utf8_lossy(&listing.stderr);
        return Err(format!("git ls-files: {}", told.trim()));
    }
    let listing = String::from_utf8_lossy(&listing.stdout);
    let there = listing
        .split('\0')
        .filter(|path| !path.is_empty() && root().join(path).exists());
    Ok(there.map(str::to_owned).collect())
}

/// The files of an unpacked archive of the sources: there, only what was built is not kept.
fn walk(folder: &Path, found: &mut BTreeSet<String>) -> Result<()> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        if relative(&path) == BUILT {
            continue;
        }
        if path.is_dir() {
            walk(&path, found)?;
        } else {
            found.insert(relative(&path));
        }
    }
    Ok(())
}

fn relative(path: &Path) -> String {
    let inside = path.strip_prefix(root()).unwrap_or(path);
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_knows_itself() {
        let metadata = metadata(Depth::Members).expect("the workspace is sound");
        let packages = list(&metadata, "packages");
        assert!(
            packages
                .iter()
                .any(|package| text(package, "name") == "xtask")
        );
        assert!(root().join("Cargo.toml").is_file());
    }

    #[test]
    fn an_unpacked_archive_is_walked() {
        let mut unpacked = BTreeSet::new();
        for folder in ["xtask", "crates/target"] {
            walk(&root().join(folder), &mut unpacked).expect("the folder can be read");
        }
        for file in ["xtask/src/workspace.rs", "crates/target/src/lib.rs"] {
            assert!(unpacked.contains(file), "{file}");
        }
    }
}
