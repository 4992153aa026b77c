//! Pure crates name no clock, socket, file, thread, process or environment of the standard library.
//!
//! Must not know Rust's grammar. Invariant: what it reports is outside comments and tests.

use super::File;
use super::paths::{is_test, paths_from};
use crate::layers::{LAYERS, Level};

/// Paths that a pure crate must not name, including everything below them.
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
    for (path, line) in paths_from("std::", &file.content) {
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
