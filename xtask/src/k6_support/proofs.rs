//! Which scripts of the differential suite use a name.
//!
//! Must not know what is supported. Invariant: the same scripts give the same result, sorted by name.

use std::fs;
use std::path::{Path, PathBuf};

use super::reference::{Ask, Section};
use crate::Result;
use crate::workspace::root;

const SUITE: &str = "crates/e2e/k6";

struct Script {
    /// Path below the suite's folder of scripts.
    name: String,
    text: String,
    /// The recorded behaviour of k6.
    golden: String,
}

/// The suite's scripts.
pub(super) struct Proofs(Vec<Script>);

/// A link to a script, which the page shows by its path below the suite's folder.
pub(super) fn link(script: &str) -> String {
    format!("[{script}](../{SUITE}/scripts/{script})")
}

impl Proofs {
    /// Reads the suite.
    ///
    /// # Errors
    /// A folder or a file could not be read.
    pub(super) fn read() -> Result<Proofs> {
        let folder = root().join(SUITE).join("scripts");
        let mut paths = Vec::new();
        files(&folder, &mut paths)?;
        paths.sort();
        let mut scripts = Vec::new();
        for path in paths {
            let relative = path.strip_prefix(&folder).unwrap_or(&path);
            let name = relative.to_string_lossy().into_owned();
            let golden = root()
                .join(SUITE)
                .join("golden")
                .join(format!("{name}.json"));
            // A file without one is a part of another script.
            let Ok(golden) = fs::read_to_string(golden) else {
                continue;
            };
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            scripts.push(Script { name, text, golden });
        }
        Ok(Proofs(scripts))
    }

    /// The first script that uses a row of a section.
    pub(super) fn first_of(&self, section: &Section, row: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|script| script.text.contains(&section.mention) && uses(script, section, row))
            .map(|script| script.name.as_str())
    }
}

fn uses(script: &Script, section: &Section, row: &str) -> bool {
    let text = &script.text;
    match section.ask {
        Ask::Command if row == "run" => !text.contains("//@ command:"),
        Ask::Command => ["command", "before"]
            .iter()
            .any(|directive| has_word(text, &format!("//@ {directive}: {row}"))),
        Ask::Module | Ask::Executor => {
            text.contains(&format!("'{row}'")) || text.contains(&format!("\"{row}\""))
        }
        Ask::Option | Ask::Scenario => {
            has_word(text, row)
                && (text.contains(&format!("{row}:")) || text.contains(&format!("{row} =")))
        }
        Ask::Metric | Ask::Tag => has_word(&script.golden, row) || has_word(text, row),
        Ask::Output => {
            text.contains(&format!("-o {row}")) || text.contains(&format!("--out {row}"))
        }
        Ask::Member if section.of == "globalThis" => has_word(text, row),
        Ask::Member => has_member(text, row),
        Ask::Flag | Ask::Variable | Ask::Route | Ask::Proof => has_word(text, row),
    }
}

/// Whether a name is read from an object, or taken from a module by its import.
fn has_member(text: &str, name: &str) -> bool {
    has_word(text, &format!(".{name}"))
        || text.lines().any(|line| {
            line.starts_with("import {")
                && line
                    .split_once('}')
                    .is_some_and(|(head, _)| has_word(head, name))
        })
}

/// Whether a text contains a word that is not part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let begins = !word.starts_with(is_part) || !before.is_some_and(is_part);
        begins && !after.is_some_and(|c| is_part(c) || (c == '-' && word.starts_with("--")))
    })
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let fail = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_dir() {
            files(&path, found)?;
        } else if path
            .extension()
            .is_some_and(|kind| kind == "js" || kind == "ts")
        {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        assert!(has_word("http.get(url)", "get") && has_word("a --tag x", "--tag"));
        assert!(!has_word("widget forget_me", "get") && !has_word("--tag-name", "--tag"));
        assert!(has_member("import { sleep, check } from 'k6';", "check"));
        assert!(!has_member("check(1)", "check"));
    }

    #[test]
    fn the_suite_is_found() {
        let proofs = Proofs::read().expect("the suite can be read");
        assert!(proofs.0.len() >= 150, "{}", proofs.0.len());
    }
}
