//! `cargo xtask tidy`: the house rules that a text can be held against. Also run by `cargo test`.
//!
//! Must not know the product. Invariant: a rule in CONTRIBUTING.md that says "tidy" is checked here,
//! and each finding names file, line and rule.

mod manifests;
mod purity;
mod text;

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::root;
use crate::{Result, layers};

/// A text file of the repository, its path relative to the root with `/` between the parts.
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

/// What tidy reads: sources, manifests, documents, scripts.
const EXTENSIONS: &[&str] = &["rs", "toml", "md", "json", "sh", "yml", "html", "css", "js"];
/// Text files that have no extension.
const BARE_NAMES: &[&str] = &["run", "LICENSE", ".editorconfig", ".gitignore"];
/// Built, fetched or found by machines, or kept as others wrote it.
const LEFT_OUT: &[&str] = &[
    "target",
    ".git",
    "third_party",
    "fuzz/corpus",
    "fuzz/artifacts",
    "fuzz/seeds",
];
/// What a visitor of the repository looks for.
const WANTED: &[&str] = &[
    "LICENSE",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "GLOSSARY.md",
];

/// Holds the repository against the rules.
///
/// # Errors
/// A file could not be read, or a rule is broken: one line for each breach.
pub(crate) fn command() -> Result<()> {
    let files = files()?;
    let mut breaches: Vec<String> = files.iter().flat_map(check_file).collect();
    breaches.extend(missing(&files));
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

fn files() -> Result<Vec<File>> {
    let mut found = Vec::new();
    collect(root(), &mut found)?;
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<File>) -> Result<()> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let relative = relative(&path);
        if LEFT_OUT.contains(&relative.as_str()) || relative.ends_with("/target") {
            continue;
        }
        if path.is_dir() {
            collect(&path, found)?;
        } else if is_text(&path) {
            let content =
                fs::read_to_string(&path).map_err(|error| format!("{relative}: {error}"))?;
            found.push(File {
                path: relative,
                content,
            });
        }
    }
    Ok(())
}

fn relative(path: &Path) -> String {
    let inside: PathBuf = path.strip_prefix(root()).unwrap_or(path).to_path_buf();
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
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

    #[test]
    fn the_repository_is_tidy() {
        let files = files().expect("the repository can be read");
        let mut breaches: Vec<String> = files.iter().flat_map(check_file).collect();
        breaches.extend(missing(&files));
        assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
    }

    #[test]
    fn the_walk_finds_sources_and_leaves_out_what_is_built() {
        let files = files().expect("the repository can be read");
        assert!(
            files
                .iter()
                .any(|file| file.path == "xtask/src/tidy/mod.rs")
        );
        assert!(files.iter().all(|file| !file.path.starts_with("target/")));
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
