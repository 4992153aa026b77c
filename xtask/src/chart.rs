//! `cargo xtask chart`: the files of the Helm chart that are made from others.
//!
//! Helm reads nothing outside of a chart, so definitions and permissions, whose only source is
//! `deploy/operator`, are copied into it; and if helm is installed, its output is stored for the tests. Must
//! not know the content of the files. Invariant: after it has run, `--check` finds nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::root;
use crate::{Result, exec};

const SOURCES: &str = "deploy/operator";
const CHART: &str = "deploy/helm/loadline-operator";
/// Where the tests find the rendered output: `NAME.yaml`, from the values in `NAME.values.yaml`.
const RENDERED: &str = "crates/e2e/chart";
/// Files whose rules the chart includes.
const RIGHTS: &[&str] = &["role.yaml", "beside-k6-operator.yaml"];
const DEFINITION: &str = "kind: CustomResourceDefinition";

/// Writes the files, or with `--check` compares them.
///
/// # Errors
/// Bad arguments, a file could not be read or written, helm failed, or `--check` found a stale file.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let stale = stale(root())?;
    match words.as_slice() {
        [] => {
            for (path, content) in &stale {
                put(path, content.as_deref())?;
                println!("chart: wrote {}", path.display());
            }
            render()
        }
        ["--check"] => check(&stale),
        other => Err(format!("chart: unknown arguments {other:?}")),
    }
}

/// Whether the copies are up to date.
///
/// # Errors
/// One is not.
pub(crate) fn check_copies() -> Result<()> {
    check(&stale(root())?)
}

fn check(stale: &BTreeMap<PathBuf, Option<String>>) -> Result<()> {
    let paths: Vec<String> = stale
        .keys()
        .map(|path| path.display().to_string())
        .collect();
    match paths.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "stale: {}; run `cargo xtask chart`",
            paths.join(", ")
        )),
    }
}

/// The correct content of files that differ; `None`: they should not exist.
fn stale(root: &Path) -> Result<BTreeMap<PathBuf, Option<String>>> {
    let mut wanted = BTreeMap::new();
    let copies = root.join(CHART).join("files");
    for (name, content) in files(&root.join(SOURCES))? {
        if content.lines().any(|line| line == DEFINITION) {
            wanted.insert(copies.join("crds").join(name), Some(content));
        } else if RIGHTS.contains(&name.as_str()) {
            wanted.insert(copies.join(name), Some(content));
        }
    }
    for folder in [copies.join("crds"), copies] {
        for (name, content) in files(&folder)? {
            let path = folder.join(name);
            match wanted.get(&path) {
                Some(fresh) if *fresh == Some(content) => drop(wanted.remove(&path)),
                Some(_) => {}
                None => drop(wanted.insert(path, None)),
            }
        }
    }
    Ok(wanted)
}

/// Names and contents of the YAML files of a folder.
fn files(folder: &Path) -> Result<BTreeMap<String, String>> {
    let unread = |error| format!("{}: {error}", folder.display());
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            let content = fs::read_to_string(&path).map_err(unread)?;
            files.insert(name.into_owned(), content);
        }
    }
    Ok(files)
}

fn put(path: &Path, content: Option<&str>) -> Result<()> {
    let written = match content {
        Some(content) => fs::write(path, content),
        None => fs::remove_file(path),
    };
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// Stores helm's output for each file of values.
fn render() -> Result<()> {
    let Some(helm) = exec::find("helm") else {
        println!("NOTE: helm is not installed; {RENDERED} is left as it is");
        return Ok(());
    };
    let folder = root().join(RENDERED);
    for name in files(&folder)?.keys() {
        let Some(case) = name.strip_suffix(".values.yaml") else {
            continue;
        };
        let mut command = Command::new(&helm);
        command.args(["template", "loadline-operator", CHART]);
        command.args(["--namespace", "default", "--kube-version", "1.37.1"]);
        command
            .arg("--values")
            .arg(folder.join(name))
            .current_dir(root());
        let rendered = exec::capture(&mut command)?;
        put(&folder.join(format!("{case}.yaml")), Some(&rendered))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copies_are_fresh() {
        assert_eq!(check_copies(), Ok(()));
    }

    #[test]
    fn a_copy_that_differs_or_has_no_source_is_stale() {
        let folder = tempfile::tempdir().expect("there is room");
        let put_at = |path: &str, content: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("there is room");
            fs::write(path, content).expect("there is room");
        };
        let definition = format!("{DEFINITION}\n");
        put_at(&format!("{SOURCES}/crd-new.yaml"), &definition);
        put_at(&format!("{SOURCES}/role.yaml"), "new");
        put_at(&format!("{SOURCES}/operator.yaml"), "not copied");
        put_at(&format!("{CHART}/files/role.yaml"), "old");
        put_at(&format!("{CHART}/files/crds/gone.yaml"), &definition);
        for (path, content) in stale(folder.path()).expect("they are read") {
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            match name.as_str() {
                "gone.yaml" => assert_eq!(content, None),
                "role.yaml" => assert_eq!(content.as_deref(), Some("new")),
                "crd-new.yaml" => assert_eq!(content.as_deref(), Some(&*definition)),
                other => panic!("{other} is not a copy"),
            }
            put(&path, content.as_deref()).expect("there is room");
        }
        assert!(stale(folder.path()).expect("they are read").is_empty());
    }
}
