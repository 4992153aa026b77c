//! The documentation as a book, if mdBook is installed, and the preprocessor that `book.toml` names for it.
//!
//! Must not know the content of pages. Invariants: a link of the built book that leaves `docs/` points to the
//! repository on the web, because the book contains nothing else; one to a folder's README points to its
//! `index.html`, mdBook's name for it.

use std::io::Read;
use std::process::Command;

use serde_json::Value;

use crate::tidy::links::joined;
use crate::workspace::root;
use crate::{Result, exec};

/// The folder of the pages, relative to the root of the repository.
const PAGES: &str = "docs/";
/// The URL of the repository's files.
const FILES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

/// A folder's page, and mdBook's name for it.
const README: &str = "README.md";
const INDEX: &str = "index.md";

/// Builds the book. `None`: mdBook is not installed.
///
/// # Errors
/// mdBook failed.
pub(crate) fn build() -> Result<Option<()>> {
    let Some(program) = exec::find("mdbook") else {
        return Ok(None);
    };
    exec::run(Command::new(program).arg("build").current_dir(root())).map(Some)
}

/// `cargo xtask book-links`: started by mdBook, with a book on standard input that it expects back on standard
/// output.
///
/// # Errors
/// The input is not in mdBook's format.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    // mdBook first asks whether an output format is supported: all are.
    if arguments.first().is_some_and(|word| word == "supports") {
        return Ok(());
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| format!("book: {error}"))?;
    let told: Value = serde_json::from_str(&text).map_err(|error| format!("book: {error}"))?;
    let mut book = told.get(1).cloned().ok_or("book: mdBook sent no book")?;
    lead_out(&mut book);
    println!("{book}");
    Ok(())
}

/// Rewrites the links of all chapters, wherever they are in the book.
fn lead_out(value: &mut Value) {
    let path = value["path"].as_str().map(|path| format!("{PAGES}{path}"));
    if let (Some(path), Some(content)) = (path, value["content"].as_str()) {
        value["content"] = rewritten(content, &path).into();
    }
    match value {
        Value::Array(all) => all.iter_mut().for_each(lead_out),
        Value::Object(fields) => fields.values_mut().for_each(lead_out),
        _ => {}
    }
}

/// The text of a page with links that leave the pages replaced by absolute ones.
fn rewritten(content: &str, page: &str) -> String {
    let mut parts = content.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (target, rest) = part.split_once(')').unwrap_or((part, ""));
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let leads_to = joined(page, path);
        let is_out = path.starts_with("..") && !leads_to.starts_with(PAGES);
        let renamed = match path.strip_suffix(README) {
            _ if is_out => format!("{FILES}{leads_to}"),
            Some(folder) if !path.contains("://") => format!("{folder}{INDEX}"),
            _ => {
                out.push_str(&format!("]({part}"));
                continue;
            }
        };
        let mark = if anchor.is_empty() { "" } else { "#" };
        out.push_str(&format!("]({renamed}{mark}{anchor}){rest}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn links_that_leave_the_pages_lead_to_the_repository() {
        let mut book = json!({ "items": [{ "Chapter": {
            "path": "target/testbed.md",
            "content": "[a](../../examples/README.md#b), [c](../bench.md#d), [r](README.md#s) and [e](https://h/../f) [g",
            "sub_items": [{ "Chapter": { "path": "a.md", "content": "[h](../GLOSSARY.md)", "sub_items": [] } }],
        }}]});
        lead_out(&mut book);
        let chapter = &book["items"][0]["Chapter"];
        assert_eq!(
            chapter["content"],
            format!(
                "[a]({FILES}examples/README.md#b), [c](../bench.md#d), [r](index.md#s) and [e](https://h/../f) [g"
            )
        );
        let below = &chapter["sub_items"][0]["Chapter"]["content"];
        assert_eq!(*below, format!("[h]({FILES}GLOSSARY.md)"));
    }
}
