//! The files of a script, found by the names in its text.
//!
//! Each quoted text that names a file beside the script, or beside the file that it stands in, counts: imports, `open`,
//! `require`. One too many causes an unnecessary repetition; one too few would keep figures of another test. Must not
//! parse scripts. Invariant: each file is read once, and the same files give the same hash.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde_json::json;

use super::identity;

/// Maximum files that are read: no test has more.
const FILES_MAX: usize = 2_000;
/// Bytes of a name; longer texts are none.
const NAME_MAX: usize = 500;
/// What may name further files.
const CODE: [&str; 8] = ["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"];

/// The scripts of a plan: many rows have the same one, which is read once.
pub(super) struct Scripts<'a> {
    read: &'a dyn Fn(&str) -> io::Result<Vec<u8>>,
    read_so_far: BTreeMap<String, Script>,
}

/// What is known of a script.
struct Script {
    hash: String,
    names_scenarios: bool,
}

impl<'a> Scripts<'a> {
    pub(super) fn new(read: &'a dyn Fn(&str) -> io::Result<Vec<u8>>) -> Scripts<'a> {
        Scripts {
            read,
            read_so_far: BTreeMap::new(),
        }
    }

    /// A hash of a script and of all files that it names.
    ///
    /// # Errors
    /// The script itself cannot be read.
    pub(super) fn hash(&mut self, script: &str) -> io::Result<String> {
        if let Some(known) = self.read_so_far.get(script) {
            return Ok(known.hash.clone());
        }
        let read = look(script, self.read)?;
        let hash = read.hash.clone();
        self.read_so_far.insert(script.to_owned(), read);
        Ok(hash)
    }

    /// Whether a script that was hashed, or a file that it names, seems to set scenarios.
    pub(super) fn names_scenarios(&self, script: &str) -> bool {
        let known = self.read_so_far.get(script);
        known.is_some_and(|known| known.names_scenarios)
    }
}

fn look(script: &str, read: &dyn Fn(&str) -> io::Result<Vec<u8>>) -> io::Result<Script> {
    let main = joined("", script);
    let mut asked = BTreeSet::from([main.clone()]);
    let mut open = vec![(main.clone(), read(script)?)];
    let mut hashes = BTreeMap::new();
    let mut names_scenarios = false;
    while let Some((path, bytes)) = open.pop() {
        hashes.insert(path.clone(), identity::hash_bytes(&bytes));
        if path != main && !is_code(&path) {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        names_scenarios |= text.lines().any(sets_scenarios);
        for name in quoted(&text) {
            for beside in [&path, &main] {
                let other = joined(folder_of(beside), name);
                if hashes.len() + open.len() >= FILES_MAX || !asked.insert(other.clone()) {
                    continue;
                }
                if let Ok(bytes) = read(&other) {
                    open.push((other, bytes));
                }
            }
        }
    }
    Ok(Script {
        hash: identity::hash(&json!(hashes)),
        names_scenarios,
    })
}

/// Whether a line of a script sets options' scenarios, as far as a line tells: `scenarios: {`, `options.scenarios = `.
fn sets_scenarios(line: &str) -> bool {
    let line = line.trim_start();
    let is_comment = ["//", "/*", "*"]
        .iter()
        .any(|begin| line.starts_with(begin));
    let parts = line.split_once("scenarios");
    let is_set = parts.is_some_and(|(before, behind)| {
        let is_word = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let behind = behind.trim_start_matches(['\'', '"']).trim_start();
        is_word && behind.starts_with([':', '=']) && !behind.starts_with("==")
    });
    is_set && !is_comment
}

fn is_code(path: &str) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| CODE.contains(&extension))
}

/// Texts between two quotes of a kind that may be names of files.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let quotes = line.char_indices().filter(|(_, c)| "'\"`".contains(*c));
        quotes.filter_map(move |(at, quote)| {
            let rest = &line[at + 1..];
            let name = &rest[..rest.find(quote)?];
            let name = name.strip_prefix("file://").unwrap_or(name);
            let is_name = !name.is_empty()
                && name.len() <= NAME_MAX
                && name.contains(['.', '/'])
                && !name.contains("://");
            is_name.then_some(name)
        })
    })
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A name as seen from a folder, without `.` and, as far as they can be, `..`.
fn joined(folder: &str, name: &str) -> String {
    let whole = if name.starts_with('/') {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let root = if name.starts_with('/') || folder.starts_with('/') {
        "/"
    } else {
        ""
    };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn hash_of(files: &[(&str, &str)]) -> (String, Vec<String>) {
        let asked = RefCell::new(Vec::new());
        let read = |name: &str| {
            let file = files.iter().find(|(known, _)| *known == name);
            let (_, text) = file.ok_or(io::ErrorKind::NotFound)?;
            asked.borrow_mut().push(name.to_owned());
            Ok(text.as_bytes().to_vec())
        };
        let hash = look("tests/a.js", &read).expect("it is there").hash;
        (hash, asked.into_inner())
    }

    #[test]
    fn what_a_script_names_is_part_of_it_and_what_that_names_too() {
        let files = [
            (
                "tests/a.js",
                "import { b } from './lib/b.js';\nopen(\"users.csv\"); http.get('http://h/x.js');",
            ),
            (
                "tests/lib/b.js",
                "import a from '../a.js'; require(`./c`); open('../users.csv')",
            ),
            ("tests/lib/c", "'./d.js'"),
            ("tests/lib/d.js", "never named by code"),
            ("tests/users.csv", "1"),
        ];
        let (first, asked) = hash_of(&files);
        let mut sorted = asked;
        sorted.sort();
        assert_eq!(
            sorted,
            [
                "tests/a.js",
                "tests/lib/b.js",
                "tests/lib/c",
                "tests/users.csv"
            ]
        );
        assert_eq!(hash_of(&files).0, first);
        for changed in [1, 2, 4] {
            let mut files = files;
            files[changed].1 = "'changed'";
            assert_ne!(hash_of(&files).0, first, "{changed}");
        }
        let mut files = files;
        files[3].1 = "changed";
        assert_eq!(hash_of(&files).0, first);
    }

    #[test]
    fn names_are_seen_from_where_they_stand() {
        for (folder, name, whole) in [
            ("", "a.js", "a.js"),
            ("x/y", "./a.js", "x/y/a.js"),
            ("x", "../../a.js", "../a.js"),
            ("../x", "../a.js", "../a.js"),
            ("/x", "b/../a.js", "/x/a.js"),
            ("x", "/a.js", "/a.js"),
        ] {
            assert_eq!(joined(folder, name), whole, "{folder} {name}");
        }
    }

    #[test]
    fn a_script_that_is_not_there_is_told_and_odd_texts_are_no_names() {
        assert!(look("a.js", &|_| Err(io::ErrorKind::NotFound.into())).is_err());
        let found: Vec<&str> = quoted("a 'it''s' \"x.y 'z.w' `q/é`\n'line.end").collect();
        assert!(
            found.contains(&"q/é") && found.contains(&"z.w"),
            "{found:?}"
        );
    }

    #[test]
    fn lines_that_set_scenarios_are_told_from_words_about_them() {
        for (line, expected) in [
            ("  scenarios: {", true),
            ("\"scenarios\" : {", true),
            ("options.scenarios = plan();", true),
            ("// scenarios: none", false),
            ("if (options.scenarios == null) {", false),
            ("const my_scenarios = 5;", false),
            ("the scenarios of this script", false),
        ] {
            assert_eq!(sets_scenarios(line), expected, "{line}");
        }
    }
}
