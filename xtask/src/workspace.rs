//! Locations: the repository and its files, its packages according to `cargo metadata`, the built binary.
//!
//! Must not know any rule. Invariant: every returned path is in the repository or its target folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

use crate::{Result, exec};

/// The target folder in an archive of the sources.
const BUILT: &str = "target";

/// The folder of the workspace's `Cargo.toml`.
///
/// Cargo provides it when it runs xtask or its tests. The folder at compile time may belong to another clone if
/// two share a target folder.
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

/// The requested part of the dependency graph.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The workspace's own packages.
    Members,
    /// Everything in the lock file.
    All,
}

/// The output of `cargo metadata` for the workspace.
///
/// # Errors
/// Cargo failed: a manifest is invalid, or the registry was unreachable.
pub(crate) fn metadata(depth: Depth) -> Result<Value> {
    let mut command = exec::cargo(root(), &["metadata", "--format-version", "1"]);
    if depth == Depth::Members {
        command.arg("--no-deps");
    }
    let text = exec::capture(&mut command)?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata wrote no JSON: {error}"))
}

/// The elements of an array field; empty if it is missing.
pub(crate) fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

/// A text field; empty if it is missing.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// Cargo's target folder for the workspace (`CARGO_TARGET_DIR` is honoured).
///
/// # Errors
/// Cargo failed.
pub(crate) fn target_directory() -> Result<PathBuf> {
    Ok(PathBuf::from(text(
        &metadata(Depth::Members)?,
        "target_directory",
    )))
}

/// Builds the product in the release profile, if necessary, and returns its path.
///
/// # Errors
/// The build failed.
pub(crate) fn release_binary() -> Result<PathBuf> {
    Ok(release_folder()?.join("loadline"))
}

/// The folder of the programs of a release build, which is made.
///
/// # Errors
/// The build failed.
pub(crate) fn release_folder() -> Result<PathBuf> {
    exec::run(&mut release_build())?;
    Ok(target_directory()?.join("release"))
}

/// The command of a release build. Always builds both programs: their common dependencies have other features if one
/// of them is built alone, and would be compiled twice.
pub(crate) fn release_build() -> Command {
    let mut words = vec!["build", "--release", "--locked"];
    words.extend(["-p", "loadline", "-p", "loadline-operator"]);
    exec::cargo(root(), &words)
}

/// All files in a clone of the repository once everything that git does not ignore is committed, with paths
/// relative to its root.
///
/// # Errors
/// Git failed, or a folder is unreadable.
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
        // The folder is only read, so its owner does not matter.
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

/// The files of an unpacked archive of the sources: only build output is excluded.
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
