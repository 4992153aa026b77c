//! Pure crates name no clock, socket, file, thread, process or environment of the standard library.
//!
//! Must not know Rust's grammar beyond comments, `use` trees and the house's habit that a file's
//! tests come last. Invariant: what it reports is written outside comments and tests.

use super::File;
use crate::layers::{LAYERS, Level};

/// Paths that a pure crate must not name; everything below a path is meant too.
const BANNED: &[(&str, &str)] = &[
    (
        "std::env",
        "the environment is read by the app and given as an argument",
    ),
    ("std::fs", "files are the business of sinks and the app"),
    (
        "std::net",
        "sockets are the engine's; an address as data is core::net",
    ),
    ("std::process", "processes are the app's business"),
    ("std::thread", "threads are the engine's"),
    ("std::time::Instant", "time is an argument"),
    ("std::time::SystemTime", "time is an argument"),
];

pub(super) fn breaches(file: &File) -> Vec<String> {
    if !file.is_rust() || !is_pure(&file.path) || is_test(&file.path) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (path, line) in std_paths(&file.content) {
        let banned = BANNED.iter().find(|(banned, _)| {
            path.strip_prefix(banned)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        });
        if let Some((_, why)) = banned {
            found.push(format!(
                "{}:{line}: {path} in a pure crate: {why}",
                file.path
            ));
        }
    }
    found
}

fn is_pure(path: &str) -> bool {
    let folder = path
        .strip_prefix("crates/")
        .and_then(|rest| rest.split('/').next());
    LAYERS.iter().any(|layer| {
        layer.level == Level::Pure && layer.package.strip_prefix("loadline-") == folder
    })
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.contains("/examples/") || path.ends_with("tests.rs")
}

/// Every `std::…` path of the code before the tests, `use` trees spread out, with its line.
fn std_paths(content: &str) -> Vec<(String, usize)> {
    let code = code_before_tests(content);
    let mut found = Vec::new();
    for (at, _) in code.match_indices("std::") {
        let inside_word = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if inside_word {
            continue;
        }
        let line = code[..at].matches('\n').count() + 1;
        let tree: String = tree_text(&code[at..]);
        found.extend(spread("", &tree).into_iter().map(|path| (path, line)));
    }
    found
}

fn code_before_tests(content: &str) -> String {
    let lines: Vec<&str> = content.lines().collect();
    let opens_tests = |at: usize| {
        lines[at].trim() == "#[cfg(test)]"
            && lines
                .get(at + 1)
                .is_some_and(|next| next.starts_with("mod ") && next.contains('{'))
    };
    let end = (0..lines.len())
        .find(|at| opens_tests(*at))
        .unwrap_or(lines.len());
    // A comment becomes an empty line, so that the line numbers stay.
    let code = lines[..end]
        .iter()
        .map(|line| line.split("//").next().unwrap_or_default());
    code.collect::<Vec<_>>().join("\n")
}

/// The path or `use` tree that starts the text, without white space.
fn tree_text(text: &str) -> String {
    let mut depth = 0_usize;
    let mut tree = String::new();
    for c in text.chars() {
        match c {
            '{' if tree.ends_with("::") => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '*' if depth > 0 => {}
            c if c.is_whitespace() && depth > 0 => continue,
            c if c.is_alphanumeric() || c == '_' || c == ':' => {}
            _ => break,
        }
        tree.push(c);
        if depth == 0 && c == '}' {
            break;
        }
    }
    tree
}

/// `std::{fs, time::{Instant, Duration}}` → `std::fs`, `std::time::Instant`, `std::time::Duration`.
fn spread(prefix: &str, tree: &str) -> Vec<String> {
    let Some((head, rest)) = tree.split_once('{') else {
        return vec![format!(
            "{prefix}{}",
            tree.trim_end_matches("::").trim_end_matches("::self")
        )];
    };
    let prefix = format!("{prefix}{head}");
    let inside = rest.strip_suffix('}').unwrap_or(rest);
    branches(inside)
        .into_iter()
        .flat_map(|branch| spread(&prefix, branch))
        .collect()
}

/// Splits at the commas that stand in no braces.
fn branches(inside: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let split = inside.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    split.filter(|branch| !branch.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches_of(path: &str, content: &str) -> Vec<String> {
        breaches(&File {
            path: path.to_owned(),
            content: content.to_owned(),
        })
    }

    #[test]
    fn use_trees_are_spread_out() {
        let tree = "use std::{\n  collections::HashMap,\n  time::{Duration, Instant},\n  fs,\n};\n";
        let paths: Vec<String> = std_paths(tree).into_iter().map(|(path, _)| path).collect();
        let wanted = [
            "std::collections::HashMap",
            "std::time::Duration",
            "std::time::Instant",
            "std::fs",
        ];
        assert_eq!(paths, wanted);
    }

    #[test]
    fn pure_crates_name_no_clock_or_file() {
        let bad = "use std::{fmt, fs::File};\nfn f() { std::time::Instant::now(); }\n";
        let found = breaches_of("crates/metric/src/lib.rs", bad);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[1].contains("lib.rs:2: std::time::Instant::now"),
            "{found:?}"
        );
    }

    #[test]
    fn other_crates_tests_comments_and_harmless_paths_are_free() {
        let bad = "use std::fs;\n";
        assert!(breaches_of("crates/engine/src/lib.rs", bad).is_empty());
        assert!(breaches_of("crates/metric/tests/a.rs", bad).is_empty());
        let fine = "//! never std::fs\nuse std::time::Duration; // not std::thread\n\
            #[cfg(test)]\nmod tests { use std::fs; }\n";
        assert!(breaches_of("crates/metric/src/lib.rs", fine).is_empty());
    }
}
