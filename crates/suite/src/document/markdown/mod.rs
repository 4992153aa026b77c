//! Markdown: tables within blocks between markers, everything around them kept to the byte.
//!
//! ```text
//! <!-- loadline:begin NAME -->
//! …
//! <!-- loadline:end NAME -->
//! ```
//!
//! A new document is written with its blocks; from then on only they are replaced. Must not know results. Invariants:
//! bytes outside of blocks never change; a block rendered twice is the same; what people wrote stays (see `kept`).

pub mod blocks;
mod escape;
mod kept;
mod table;

use std::borrow::Cow;

use super::compile::Table;
use super::source::DocumentRows;
use super::{Content, DocumentError, METHODOLOGY, methodology, notes};
use blocks::MarkdownBlock;
use escape::{TextPlace, escaped};

pub(super) fn write<R: DocumentRows>(
    content: &Content<'_, R>,
    existing: Option<&str>,
    remarks: &mut Vec<String>,
) -> Result<String, DocumentError> {
    let existing = existing.filter(|text| !text.trim().is_empty());
    let document = existing.map_or_else(|| Cow::Owned(skeleton(content)), Cow::Borrowed);
    let found = blocks::find(&document)?;
    let mut bodies = Vec::new();
    for (table, behind) in content.tables.iter().zip(&content.behind) {
        let name = table.table.name.as_str();
        let mut body = table::write(table, block(&found, name)?.body, remarks);
        write_behind(behind, &mut body);
        bodies.push((name, body));
    }
    // A document that people arranged has the methodology where they want it, or not at all.
    if !content.methodology.is_empty() {
        bodies.push((METHODOLOGY, methodology_text(&content.methodology)));
    }
    Ok(blocks::replace(&document, &found, &bodies))
}

/// Makes sure that a document which is there has a block for each of the tables.
pub(super) fn check(tables: &[Table], existing: &str) -> Result<(), DocumentError> {
    if existing.trim().is_empty() {
        return Ok(());
    }
    let found = blocks::find(existing)?;
    let mut names = tables.iter().map(|table| table.name.as_str());
    names.try_for_each(|name| block(&found, name).map(|_| ()))
}

fn block<'b, 'a>(
    found: &'b [MarkdownBlock<'a>],
    name: &str,
) -> Result<&'b MarkdownBlock<'a>, DocumentError> {
    let mut found = found.iter();
    found.find(|block| block.name == name).ok_or_else(|| {
        DocumentError::in_document(
            0,
            format!("the document has no block `{name}`"),
            format!(
                "put the lines `<!-- loadline:begin {name} -->` and `<!-- loadline:end {name} -->` where the table should be"
            ),
        )
    })
}

fn skeleton<R: DocumentRows>(content: &Content<'_, R>) -> String {
    let mut out = format!("# {}\n", one_line(content.title));
    let mut block = |title: Option<&str>, name: &str| {
        if let Some(title) = title {
            out.push_str(&format!("\n## {}\n", one_line(title)));
        }
        out.push_str(&format!(
            "\n<!-- loadline:begin {name} -->\n<!-- loadline:end {name} -->\n"
        ));
    };
    for table in content.tables {
        block(table.table.title.as_deref(), &table.table.name);
    }
    if !content.methodology.is_empty() {
        block(Some("Methodology"), METHODOLOGY);
    }
    out
}

fn write_behind(behind: &notes::Behind, out: &mut String) {
    if !behind.notes.is_empty() {
        out.push('\n');
    }
    for note in &behind.notes {
        out.push_str(&format!("- {}\n", one_line(note)));
    }
    for shown in &behind.charts {
        out.push_str(&format!("\n{}\n", one_line(&shown.intro)));
        for (title, address) in &shown.list {
            let title = one_line(title);
            out.push_str(&format!(
                "\n{title},\n\n![{title}]({})\n",
                link_address(address)
            ));
        }
    }
    if !behind.links.is_empty() {
        let links = behind.links.iter();
        let links =
            links.map(|(text, address)| format!("[{}]({})", one_line(text), link_address(address)));
        out.push_str(&format!(
            "\nResults: {}\n",
            links.collect::<Vec<_>>().join(", ")
        ));
    }
}

fn methodology_text(entries: &[methodology::MethodologyFact]) -> String {
    let mut out = String::new();
    for entry in entries.iter().filter(|entry| !entry.is_code) {
        let values: Vec<String> = entry.values.iter().map(|value| one_line(value)).collect();
        out.push_str(&format!("- {}: {}\n", entry.name, values.join("; ")));
    }
    for entry in entries.iter().filter(|entry| entry.is_code) {
        // A command that holds a fence must not end it.
        let fence = if entry.values.iter().any(|value| value.contains("```")) {
            "~~~~"
        } else {
            "```"
        };
        out.push_str(&format!("- {}:\n\n  {fence}sh\n", entry.name));
        for value in &entry.values {
            out.push_str(&format!("  {}\n", code_line(value)));
        }
        out.push_str(&format!("  {fence}\n"));
    }
    out
}

/// A text of anybody's as words of one line.
fn one_line(text: &str) -> String {
    escaped(text, TextPlace::Line)
}

/// A command as a line of code, where nothing is markup: only a line end and a marker are more than text there.
fn code_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ").replace("<!--", "<\\!--")
}

fn link_address(address: &str) -> String {
    let mut out = String::new();
    for c in address.chars() {
        match c {
            ' ' | '(' | ')' | '<' | '>' | '\n' | '\r' => {
                out.push_str(&format!("%{:02X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}
