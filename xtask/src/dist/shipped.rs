//! The packages whose code is in the programs, as resolved by cargo for a target.
//!
//! Must not know the use of the list. Invariant: packages that are only for tests and build scripts are not in
//! it; it is sorted by name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use crate::workspace::{list, root, text};
use crate::{Result, exec};

const PROGRAMS: [&str; 2] = ["loadline", "loadline-operator"];

/// A package that is compiled into a program.
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// SPDX expression.
    pub(super) licence: String,
    pub(super) authors: Vec<String>,
    /// The folder of its sources.
    pub(super) folder: PathBuf,
    /// Whether it comes from a registry.
    pub(super) is_foreign: bool,
}

pub(super) struct Shipped {
    /// The version of the programs.
    pub(super) version: String,
    pub(super) packages: Vec<Package>,
    /// Indices of the packages that each package uses.
    pub(super) uses: Vec<Vec<usize>>,
}

/// The shipped packages for a target.
///
/// # Errors
/// Cargo failed, or does not know the programs.
pub(super) fn of(target: &str) -> Result<Shipped> {
    let words = [
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--filter-platform",
        target,
    ];
    let told = exec::capture(&mut exec::cargo(root(), &words))?;
    let metadata = serde_json::from_str(&told);
    read(&metadata.map_err(|error| format!("cargo metadata wrote no JSON: {error}"))?)
}

fn read(metadata: &Value) -> Result<Shipped> {
    let nodes = list(&metadata["resolve"], "nodes").iter();
    let nodes: BTreeMap<&str, &Value> = nodes.map(|node| (text(node, "id"), node)).collect();
    let packages = list(metadata, "packages");
    let mut open: Vec<&str> = (packages.iter())
        .filter(|package| package["source"].is_null() && PROGRAMS.contains(&text(package, "name")))
        .map(|package| text(package, "id"))
        .collect();
    if open.len() != PROGRAMS.len() {
        return Err(format!("cargo metadata does not name all of {PROGRAMS:?}"));
    }
    let mut reached = BTreeSet::new();
    while let Some(id) = open.pop() {
        if reached.insert(id) {
            open.extend(nodes.get(id).into_iter().flat_map(|node| linked(node)));
        }
    }
    let mut kept: Vec<&Value> = (packages.iter())
        .filter(|package| reached.contains(text(package, "id")))
        .collect();
    kept.sort_by_key(|package| (text(package, "name"), text(package, "version")));
    let ids: Vec<&str> = kept.iter().map(|package| text(package, "id")).collect();
    let position = |id: &str| ids.iter().position(|known| *known == id);
    let uses = |id: &&str| {
        let node = nodes.get(id).into_iter();
        node.flat_map(|node| linked(node))
            .filter_map(position)
            .collect()
    };
    let program = kept
        .iter()
        .find(|package| text(package, "name") == PROGRAMS[0]);
    Ok(Shipped {
        version: program
            .map_or("", |program| text(program, "version"))
            .to_owned(),
        uses: ids.iter().map(uses).collect(),
        packages: kept.into_iter().map(package).collect(),
    })
}

/// The packages with which a package is linked: no tests, no build scripts.
fn linked(node: &Value) -> impl Iterator<Item = &str> {
    let is_linked = |one: &&Value| {
        list(one, "dep_kinds")
            .iter()
            .any(|kind| kind["kind"].is_null())
    };
    list(node, "deps")
        .iter()
        .filter(is_linked)
        .map(|one| text(one, "pkg"))
}

fn package(package: &Value) -> Package {
    let manifest = PathBuf::from(text(package, "manifest_path"));
    let authors = list(package, "authors").iter().filter_map(Value::as_str);
    Package {
        name: text(package, "name").to_owned(),
        version: text(package, "version").to_owned(),
        licence: text(package, "license").to_owned(),
        authors: authors.map(str::to_owned).collect(),
        folder: manifest.parent().map(PathBuf::from).unwrap_or_default(),
        is_foreign: !package["source"].is_null(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// Two programs that use `a`, which uses `b`, and `c` in its build script.
    pub(in super::super) fn example() -> Shipped {
        let one = |name: &str, source: Value| {
            json!({
                "id": name, "name": name, "version": "1.0.0", "license": "MIT", "source": source,
                "authors": ["Ann"], "manifest_path": format!("/r/{name}/Cargo.toml"),
            })
        };
        let uses = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let registry = || json!("registry+r");
        read(&json!({
            "packages": [
                one("loadline", Value::Null), one("loadline-operator", Value::Null),
                one("b", registry()), one("a", registry()), one("c", registry()),
            ],
            "resolve": {"nodes": [
                {"id": "loadline", "deps": [uses("a", Value::Null)]},
                {"id": "loadline-operator", "deps": [uses("a", Value::Null)]},
                {"id": "a", "deps": [uses("b", Value::Null), uses("c", json!("build"))]},
                {"id": "b", "deps": []}, {"id": "c", "deps": []},
            ]},
        }))
        .expect("it is sound")
    }

    #[test]
    fn what_is_linked_is_shipped() {
        let shipped = example();
        let names: Vec<&str> = shipped
            .packages
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(names, ["a", "b", "loadline", "loadline-operator"]);
        assert_eq!(shipped.uses, [vec![1], vec![], vec![0], vec![0]]);
        assert_eq!(shipped.version, "1.0.0");
    }
}
