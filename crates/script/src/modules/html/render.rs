//! Renders trees: HTML as Go's `html.Render` writes it, and plain text.
//!
//! Must not know scripts. Invariant: no recursion, since a virtual user has little stack.

use super::tree::{Kind, Tree};

/// Elements that have no end tag (HTML, section 13.1.2).
const VOID: [&str; 15] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "meta", "param",
    "source", "track", "wbr",
];
/// Elements whose text is written without escaping.
const RAW: [&str; 8] = [
    "iframe",
    "noembed",
    "noframes",
    "noscript",
    "plaintext",
    "script",
    "style",
    "xmp",
];

/// The text of some nodes, concatenated.
pub(super) fn text(tree: &Tree, nodes: &[u32]) -> String {
    let mut out = String::new();
    for outer in nodes {
        let own = std::iter::once(*outer);
        for at in own
            .chain(tree.within(*outer))
            .filter(|at| tree.kind(*at) == Kind::Text)
        {
            out.push_str(&tree.own_text(at).unwrap_or_default());
        }
    }
    out
}

/// The inner HTML of a node.
pub(super) fn inner(tree: &Tree, outer: u32) -> String {
    let mut out = String::new();
    // Open elements: number and name.
    let mut open: Vec<(u32, String)> = Vec::new();
    for at in tree.within(outer) {
        close_until(tree, &mut open, at, &mut out);
        match tree.kind(at) {
            Kind::Element => begin(tree, at, &mut open, &mut out),
            Kind::Text => {
                let text = tree.own_text(at).unwrap_or_default();
                match open.last() {
                    Some((_, name)) if RAW.contains(&name.as_str()) => out.push_str(&text),
                    _ => escape(&text, &mut out),
                }
            }
            Kind::Comment => {
                out.push_str("<!--");
                out.push_str(&tree.own_text(at).unwrap_or_default());
                out.push_str("-->");
            }
            Kind::Doctype => doctype(tree, at, &mut out),
            Kind::Document => {}
        }
    }
    close_until(tree, &mut open, u32::MAX, &mut out);
    out
}

/// Closes the elements that do not contain a node.
fn close_until(tree: &Tree, open: &mut Vec<(u32, String)>, at: u32, out: &mut String) {
    while let Some((begun, name)) = open.last() {
        if tree.is_within(at, *begun) {
            break;
        }
        out.push_str("</");
        out.push_str(name);
        out.push('>');
        open.pop();
    }
}

fn begin(tree: &Tree, at: u32, open: &mut Vec<(u32, String)>, out: &mut String) {
    let name = tree.name(at);
    out.push('<');
    out.push_str(&name);
    for (name, value) in tree.attributes(at) {
        out.push(' ');
        out.push_str(&name);
        out.push_str("=\"");
        escape(&value, out);
        out.push('"');
    }
    if VOID.contains(&name.as_str()) {
        out.push_str("/>");
        return;
    }
    out.push('>');
    let is_first_line_lost = matches!(name.as_str(), "pre" | "listing" | "textarea");
    let first = tree
        .children(at)
        .next()
        .and_then(|first| tree.own_text(first));
    if is_first_line_lost && first.is_some_and(|text| text.starts_with('\n')) {
        out.push('\n');
    }
    open.push((at, name));
}

fn doctype(tree: &Tree, at: u32, out: &mut String) {
    let (public, system) = tree.doctype_ids(at);
    out.push_str("<!DOCTYPE ");
    out.push_str(&tree.name(at));
    if !public.is_empty() {
        out.push_str(&format!(" PUBLIC \"{public}\""));
        if !system.is_empty() {
            out.push_str(&format!(" \"{system}\""));
        }
    } else if !system.is_empty() {
        out.push_str(&format!(" SYSTEM \"{system}\""));
    }
    out.push('>');
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&#39;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\r' => out.push_str("&#13;"),
            _ => out.push(c),
        }
    }
}
