//! `cargo xtask tidy`: the house rules that can be checked in texts. Also run by `cargo test`.
//!
//! Must not know the product, nor what git ignores. Invariant: a rule in CONTRIBUTING.md that says "tidy" is
//! checked here, and each finding names file, line and rule.

mod circles;
pub(crate) mod links;
mod manifests;
mod paths;
mod prose;
mod purity;
mod text;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::workspace::{self, root};
use crate::{Result, layers};

/// A text file of the repository, with its path relative to the root, separated by `/`.
struct File {
    path: String,
    content: String,
}

impl File {
    fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|found| found == extension)
    }

    fn is_rust(&self) -> bool {
        self.has_extension("rs")
    }
}

/// The files that are checked: sources, manifests, documents, scripts.
const EXTENSIONS: &[&str] = &["rs", "toml", "md", "json", "sh", "yml", "html", "css", "js"];
/// Text files that have no extension.
const BARE_NAMES: &[&str] = &["run", "LICENSE", ".editorconfig", ".gitignore"];
/// Files kept as others wrote them, or found by machines.
const LEFT_OUT: &[&str] = &["third_party/", "fuzz/seeds/"];
/// Files that visitors of the repository expect.
const WANTED: &[&str] = &[
    "LICENSE",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "GLOSSARY.md",
];

/// Checks the repository against the rules.
///
/// # Errors
/// A file could not be read, or a rule is broken: one line for each breach.
pub(crate) fn command() -> Result<()> {
    let kept = Kept::of_repository()?;
    let files = files(&kept)?;
    let mut breaches: Vec<String> = files.iter().flat_map(check_file).collect();
    breaches.extend(links::breaches(&files, &kept));
    breaches.extend(missing(&files));
    breaches.extend(circles::breaches(&files));
    breaches.extend(layers::breaches()?);
    breaches.sort();
    if !breaches.is_empty() {
        return Err(breaches.join("\n"));
    }
    println!("tidy: {} files keep the house rules", files.len());
    Ok(())
}

fn check_file(file: &File) -> Vec<String> {
    let mut breaches = text::breaches(file);
    breaches.extend(prose::breaches(file));
    breaches.extend(purity::breaches(file));
    breaches.extend(manifests::breaches(file));
    breaches
}

fn missing(files: &[File]) -> Vec<String> {
    let absent = WANTED
        .iter()
        .filter(|name| files.iter().all(|file| file.path != **name));
    absent.map(|name| format!("{name}: is missing")).collect()
}

fn files(kept: &Kept) -> Result<Vec<File>> {
    let texts = kept.paths.iter().filter(|path| {
        is_text(Path::new(path)) && !LEFT_OUT.iter().any(|folder| path.starts_with(folder))
    });
    let read = |path: &String| {
        let content =
            fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))?;
        Ok(File {
            path: path.clone(),
            content,
        })
    };
    texts.map(read).collect()
}

/// The files in a clone of the repository once everything that git does not ignore is committed.
struct Kept {
    paths: BTreeSet<String>,
}

impl Kept {
    fn of_repository() -> Result<Self> {
        workspace::files().map(|paths| Self { paths })
    }

    /// Whether a file or a folder exists.
    fn holds(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        let next = self.paths.range(path.to_owned()..).next();
        path.is_empty()
            || next.is_some_and(|next| next == path)
            || self
                .paths
                .range(inside.clone()..)
                .next()
                .is_some_and(|next| next.starts_with(&inside))
    }
}

fn is_text(path: &Path) -> bool {
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    let name = path
        .file_name()
        .and_then(|n| n.to_str())
        .unwrap_or_default();
    EXTENSIONS.contains(&extension) || BARE_NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Kept {
        pub(super) fn of(paths: &[&str]) -> Self {
            Self {
                paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            }
        }
    }

    #[test]
    fn the_repository_is_tidy() {
        let kept = Kept::of_repository().expect("git lists the repository");
        let files = files(&kept).expect("the repository can be read");
        let mut breaches: Vec<String> = files.iter().flat_map(check_file).collect();
        breaches.extend(links::breaches(&files, &kept));
        breaches.extend(missing(&files));
        breaches.extend(circles::breaches(&files));
        assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
    }

    #[test]
    fn what_is_kept_are_sources_and_not_what_is_built() {
        let kept = Kept::of_repository().expect("git lists the repository");
        assert!(kept.holds("xtask/src/tidy/mod.rs") && kept.holds("xtask/src"));
        assert!(!kept.holds("target") && !kept.holds("xtask/sr"));
    }

    #[test]
    fn a_missing_document_is_told() {
        let readme = File {
            path: "README.md".to_owned(),
            content: String::new(),
        };
        assert_eq!(missing(&[readme]).len(), WANTED.len() - 1);
    }
}
