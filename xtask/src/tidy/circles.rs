//! Cyclic dependencies between files of one crate: a reader has to treat such files as one, so there may only
//! be few of them.
//!
//! Must not know what a path names; a file depends on another if it contains a path `crate::…`, `self::…` or
//! `super::…` to it. Re-exports of a module count as part of that module. Invariant: each cycle is found once.

use std::collections::{BTreeMap, BTreeSet};

use super::File;
use super::paths::{is_test, paths_from};

/// Maximum number of files in a cycle.
const CIRCLE_MAX: usize = 3;

/// Existing larger cycles: one of the files, and their maximum number of files.
const STILL_LARGER: &[(&str, usize)] = &[
    ("crates/script/src/modules/http/mod.rs", 5),
    ("crates/script/src/vu/mod.rs", 14),
];

/// The names of the modules from the crate's root to a file.
type ModulePath = Vec<String>;

pub(super) fn breaches(files: &[File]) -> Vec<String> {
    let mut crates: BTreeMap<&str, BTreeMap<ModulePath, &File>> = BTreeMap::new();
    for file in files.iter().filter(|file| !is_test(&file.path)) {
        if let Some((folder, module)) = module_of(&file.path) {
            crates.entry(folder).or_default().insert(module, file);
        }
    }
    crates
        .values()
        .flat_map(circles)
        .filter(|circle| circle.len() > most(circle))
        .map(|circle| {
            let (first, others) = circle.split_first().expect("a circle is not empty");
            format!(
                "{first}: knows {} other files in a circle, {CIRCLE_MAX} files are the most: {}",
                others.len(),
                others.join(", ")
            )
        })
        .collect()
}

fn most(circle: &[&str]) -> usize {
    let listed = STILL_LARGER.iter().find(|(file, _)| circle.contains(file));
    listed.map_or(CIRCLE_MAX, |(_, files)| *files)
}

/// `crates/run/src/verdict/mod.rs` → `crates/run`, `verdict`; `None`: it is not a source of a crate.
fn module_of(path: &str) -> Option<(&str, ModulePath)> {
    let (folder, inside) = path.strip_suffix(".rs")?.split_once("/src/")?;
    let mut module: ModulePath = inside.split('/').map(str::to_owned).collect();
    if module
        .last()
        .is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main"))
    {
        module.pop();
    }
    Some((folder, module))
}

/// The cycles of one crate, each a sorted list of files.
fn circles<'a>(modules: &BTreeMap<ModulePath, &'a File>) -> BTreeSet<Vec<&'a str>> {
    let known: BTreeMap<&ModulePath, BTreeSet<ModulePath>> = modules
        .iter()
        .map(|(module, file)| (module, known_to(module, file, modules)))
        .collect();
    let reached: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> = modules
        .keys()
        .map(|module| (module, reached_from(module, &known)))
        .collect();
    let circle = |module: &ModulePath| {
        let both_ways = reached[module]
            .iter()
            .filter(|other| reached[**other].contains(module));
        let files = both_ways.map(|other| modules[*other].path.as_str());
        files.collect::<Vec<_>>()
    };
    modules
        .keys()
        .map(circle)
        .filter(|circle| circle.len() > 1)
        .collect()
}

/// The modules that a file names, except itself.
fn known_to(
    module: &ModulePath,
    file: &File,
    modules: &BTreeMap<ModulePath, &File>,
) -> BTreeSet<ModulePath> {
    let paths = ["crate::", "self::", "super::"]
        .into_iter()
        .flat_map(|root| paths_from(root, &file.content));
    paths
        .map(|(path, _)| nearest(named(module, &path), modules))
        .filter(|other| other != module)
        .collect()
}

fn named(module: &ModulePath, path: &str) -> ModulePath {
    let mut named = module.clone();
    for name in path.split("::") {
        match name {
            "crate" => named.clear(),
            "self" => {}
            "super" => drop(named.pop()),
            name => named.push(name.to_owned()),
        }
    }
    named
}

/// The file of a path: the longest prefix of the path that is a module.
fn nearest(mut path: ModulePath, modules: &BTreeMap<ModulePath, &File>) -> ModulePath {
    while !path.is_empty() && !modules.contains_key(&path) {
        path.pop();
    }
    path
}

/// The modules reachable from a module; including the module itself if it is in a cycle.
fn reached_from<'a>(
    module: &ModulePath,
    known: &'a BTreeMap<&ModulePath, BTreeSet<ModulePath>>,
) -> BTreeSet<&'a ModulePath> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&ModulePath> = known[module].iter().collect();
    while let Some(next) = waiting.pop() {
        if reached.insert(next) {
            waiting.extend(known.get(next).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(contents: &[(&str, &str)]) -> Vec<File> {
        let file = |(path, content): &(&str, &str)| File {
            path: format!("crates/x/src/{path}"),
            content: (*content).to_owned(),
        };
        contents.iter().map(file).collect()
    }

    #[test]
    fn a_circle_of_four_files_is_told_once() {
        let found = breaches(&files(&[
            ("lib.rs", "mod a;"),
            ("a.rs", "use crate::b::{c::See, Other};"),
            ("b/mod.rs", "pub(crate) use d::D;"),
            ("b/c.rs", "use super::d;"),
            ("b/d.rs", "use crate::e;"),
            ("e.rs", "fn f() { crate::a::go() }"),
        ]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("a.rs: knows 3 other files"), "{found:?}");
    }

    #[test]
    fn three_files_and_tests_may_know_one_another() {
        let found = breaches(&files(&[
            ("a.rs", "use crate::b;"),
            ("b.rs", "use crate::c;"),
            (
                "c.rs",
                "use crate::a; // crate::d\n#[cfg(test)]\nmod tests { use crate::d; }",
            ),
            ("d.rs", "use super::a;"),
            ("e/tests.rs", "use crate::a;"),
        ]));
        assert!(found.is_empty(), "{found:?}");
    }
}
