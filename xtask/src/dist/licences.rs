//! The licence texts of everything linked into the programs, in one file.
//!
//! Must not know which licences are allowed: that is the policy's task. Invariant: no package is omitted; a
//! text shared by several packages occurs once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::shipped::{Package, Shipped};
use crate::Result;
use crate::workspace::root;

/// Prefixes of the names of files with a licence or its required notices.
const NAMES: [&str; 5] = ["license", "licence", "copying", "notice", "unlicense"];

/// Writes the file.
///
/// # Errors
/// A package's folder cannot be read.
pub(super) fn write(shipped: &Shipped) -> Result<String> {
    let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut bare = Vec::new();
    let foreign = shipped.packages.iter().filter(|package| package.is_foreign);
    for package in foreign {
        let texts = texts(&package.folder)?;
        if texts.is_empty() {
            bare.push(told(package));
        }
        for text in texts {
            by_text.entry(text).or_default().push(title(package));
        }
    }
    for folder in copies()? {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for text in texts(&folder)? {
            by_text.entry(text).or_default().push(name.clone());
        }
    }
    let mut out = "Software of others that is part of loadline, and its licences.\n".to_owned();
    for (text, packages) in by_text {
        out.push_str(&format!(
            "\n{}\n{}\n\n{}\n",
            "=".repeat(80),
            packages.join(", "),
            text.trim_end()
        ));
    }
    if !bare.is_empty() {
        let rule = "=".repeat(80);
        out.push_str(&format!(
            "\n{rule}\nPackages that come without a text, and the licence they name:\n\n"
        ));
        bare.iter()
            .for_each(|line| out.push_str(&format!("{line}\n")));
    }
    Ok(out)
}

fn title(package: &Package) -> String {
    format!("{} {}", package.name, package.version)
}

fn told(package: &Package) -> String {
    let by = match package.authors.as_slice() {
        [] => String::new(),
        authors => format!(", by {}", authors.join(", ")),
    };
    format!("{}: {}{by}", title(package), package.licence)
}

/// The texts in a folder, by file name.
fn texts(folder: &Path) -> Result<Vec<String>> {
    let unread = |error| format!("{}: {error}", folder.display());
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        if path.is_file() && NAMES.iter().any(|known| name.starts_with(known)) {
            files.push(path);
        }
    }
    files.sort();
    // A file that is not text contains no licence.
    Ok(files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok())
        .collect())
}

/// Folders with the repository's copies of other projects' code.
fn copies() -> Result<Vec<PathBuf>> {
    let folder = root().join("third_party");
    let unread = |error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(&folder).map_err(unread)?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::super::shipped::tests::example;
    use super::*;

    #[test]
    fn a_shared_text_is_there_once_and_a_bare_package_is_named() {
        let folder = tempfile::tempdir().expect("there is room");
        let mut shipped = example();
        fs::write(folder.path().join("LICENSE-MIT"), "the text").expect("there is room");
        let empty = tempfile::tempdir().expect("there is room");
        let folders = [folder.path(), folder.path(), empty.path(), empty.path()];
        for (package, folder) in shipped.packages.iter_mut().zip(folders) {
            package.folder = folder.to_owned();
        }
        let text = write(&shipped).expect("the folders are there");
        assert!(text.contains("a 1.0.0, b 1.0.0\n\nthe text\n"), "{text}");
        assert_eq!(text.matches("the text").count(), 1);
        shipped.packages[1].folder = empty.path().to_owned();
        let text = write(&shipped).expect("the folders are there");
        assert!(text.contains("b 1.0.0: MIT, by Ann\n"), "{text}");
    }
}
