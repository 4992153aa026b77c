//! Parses the XML of a response, and HTML if allowed, and formats parts of it.
//!
//! Must not know expressions. Invariant: nothing outside the text is read: only internal entities and document
//! types are used.

use std::fmt::Write as _;

use super::Dialect;
use super::evaluate::Node;
use super::fault;
use super::lines::Lines;

/// The fault of a text that is not XML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct XmlFault {
    /// The reason, in the words of Xerces if known.
    pub(crate) message: String,
    /// Line and column, from 1; `None`: the text is empty.
    pub(crate) place: Option<(u32, u32)>,
}

impl XmlFault {
    /// Of a text without an element.
    pub(super) fn premature() -> XmlFault {
        XmlFault {
            message: "Premature end of file.".to_owned(),
            place: None,
        }
    }

    /// What a parser tells that Xerces has no words for, or none that are known.
    fn of(fault: &roxmltree::Error) -> XmlFault {
        let place = fault.pos();
        XmlFault {
            message: fault.to_string(),
            place: Some((place.row, place.col)),
        }
    }

    /// As formatted by Saxon.
    pub(crate) fn with_place(&self) -> String {
        match self.place {
            Some((line, column)) => format!(
                "org.xml.sax.SAXParseException; lineNumber: {line}; columnNumber: {column}; {}",
                self.message
            ),
            None => format!("org.xml.sax.SAXParseException; {}", self.message),
        }
    }
}

/// The text of a document, prepared for parsing.
pub(crate) struct Document(String);

impl Document {
    /// XML unchanged.
    pub(crate) fn xml(text: &str) -> Document {
        Document(text.to_owned())
    }

    /// HTML, or anything else, converted to XML.
    pub(crate) fn tidied(text: &str) -> Document {
        if text.starts_with("<?xml") {
            return Document::xml(text);
        }
        Document(as_xml(&dom_query::Document::from(text)))
    }

    /// Why it is not well-formed; prefixes that are not bound do not count.
    pub(crate) fn fault(&self) -> Option<XmlFault> {
        match self.parse() {
            Err(roxmltree::Error::UnknownNamespace(..)) => fault::first(&self.0),
            _ => self.tree().err(),
        }
    }

    fn parse(&self) -> Result<roxmltree::Document<'_>, roxmltree::Error> {
        let options = roxmltree::ParsingOptions {
            allow_dtd: true,
            ..roxmltree::ParsingOptions::default()
        };
        roxmltree::Document::parse_with_options(&self.0, options)
    }

    /// The tree.
    pub(crate) fn tree(&self) -> Result<roxmltree::Document<'_>, XmlFault> {
        if self.0.trim().is_empty() {
            return Err(XmlFault::premature());
        }
        self.parse()
            .map_err(|fault| fault::first(&self.0).unwrap_or_else(|| XmlFault::of(&fault)))
    }
}

/// The prefixes available to an expression of a dialect: those given, or those of the root element.
pub(crate) fn prefixes(
    document: &roxmltree::Document<'_>,
    dialect: Dialect,
    given: &str,
) -> Vec<(String, String)> {
    if dialect == Dialect::Later {
        return declared(given);
    }
    let root = document.root_element();
    let named = root.namespaces();
    let mut named: Vec<_> = named
        .filter_map(|one| Some((one.name()?.to_owned(), one.uri().to_owned())))
        .collect();
    if dialect == Dialect::Plain {
        // Xalan looks up the namespace of an element's own prefix, which it only has with namespace support.
        let own = Node::Tree(root).written_name();
        let own = own.split_once(':').map(|(prefix, _)| prefix);
        named.retain(|(prefix, _)| Some(prefix.as_str()) != own);
    }
    named
}

/// The prefixes that lines of `prefix=namespace` declare, with their namespaces.
pub(super) fn declared(lines: &str) -> Vec<(String, String)> {
    let pairs = lines.lines().filter_map(|line| line.split_once('='));
    pairs
        .map(|(prefix, uri)| (prefix.to_owned(), uri.to_owned()))
        .collect()
}

/// The value of a node in the first processor: for an element that of its first child, if it is text.
pub(crate) fn first_value(node: Node<'_, '_>) -> Option<String> {
    match node {
        Node::Tree(tree) if tree.is_element() => {
            let child = tree.first_child().filter(|child| !child.is_element())?;
            Some(Node::Tree(child).text())
        }
        Node::Tree(tree) if tree.is_root() => None,
        node => Some(node.text()),
    }
}

/// A node as XML, as the first processor writes it.
pub(crate) fn write(node: Node<'_, '_>) -> String {
    written(node, &mut Lines::default())
}

/// A node as XML, as the second processor writes it: indented.
pub(crate) fn write_indented(node: Node<'_, '_>) -> String {
    written(node, &mut Lines::indented()).replace("&quot;", "&#34;")
}

fn written(node: Node<'_, '_>, lines: &mut Lines) -> String {
    let mut out = String::new();
    let top = match node {
        Node::Tree(top) => top,
        Node::Attribute(..) => {
            write_attribute(node.written_name(), &node.text(), &mut out);
            return out;
        }
    };
    // Depth first without recursion: documents may be nested deeply.
    let mut current = top;
    loop {
        if lines.begin(current, current == top, &mut out) {
            open(current, current == top, &mut out);
        }
        if let Some(child) = current.first_child() {
            current = child;
            continue;
        }
        loop {
            if current.is_element() {
                lines.end(&mut out);
                if current.has_children() {
                    close(current, &mut out);
                }
            }
            if current == top {
                return out;
            }
            if let Some(next) = current.next_sibling() {
                current = next;
                break;
            }
            let Some(parent) = current.parent() else {
                return out;
            };
            current = parent;
        }
    }
}

fn open(node: roxmltree::Node<'_, '_>, is_top: bool, out: &mut String) {
    if node.is_text() {
        escape(node.text().unwrap_or_default(), false, out);
    } else if node.is_comment() {
        let _ = write!(out, "<!--{}-->", node.text().unwrap_or_default());
    } else if node.is_element() {
        let _ = write!(out, "<{}", Node::Tree(node).written_name());
        let above = node.parent().filter(|_| !is_top);
        for declared in node.namespaces() {
            if declared.name() == Some("xml")
                || above.is_some_and(|above| above.namespaces().any(|one| one == declared))
            {
                continue;
            }
            let name = declared
                .name()
                .map_or_else(|| "xmlns".to_owned(), |name| format!("xmlns:{name}"));
            out.push(' ');
            write_attribute(&name, declared.uri(), out);
        }
        for index in 0..node.attributes().len() {
            let attribute = Node::Attribute(node, index);
            out.push(' ');
            write_attribute(attribute.written_name(), &attribute.text(), out);
        }
        out.push_str(if node.has_children() { ">" } else { "/>" });
    }
}

fn close(node: roxmltree::Node<'_, '_>, out: &mut String) {
    let _ = write!(out, "</{}>", Node::Tree(node).written_name());
}

fn write_attribute(name: &str, value: &str, out: &mut String) {
    let _ = write!(out, "{name}=\"");
    escape(value, true, out);
    out.push('"');
}

fn escape(text: &str, in_attribute: bool, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if in_attribute => out.push_str("&quot;"),
            plain => out.push(plain),
        }
    }
}

/// An HTML document as XML.
fn as_xml(document: &dom_query::Document) -> String {
    let mut out = String::new();
    let root = document.html_root();
    let mut current = root;
    loop {
        let is_element = current.is_element();
        if is_element {
            open_html(&current, &mut out);
        } else if current.is_text() {
            let text: String = current
                .text()
                .chars()
                .filter(|one| fault::is_valid(*one))
                .collect();
            escape(&text, false, &mut out);
        }
        if let Some(child) = current.first_child() {
            current = child;
            continue;
        }
        loop {
            if current.is_element() {
                let _ = write!(out, "</{}>", html_name(&current));
            }
            if current.id == root.id {
                return out;
            }
            if let Some(next) = current.next_sibling() {
                current = next;
                break;
            }
            let Some(parent) = current.parent() else {
                return out;
            };
            current = parent;
        }
    }
}

fn open_html(node: &dom_query::NodeRef<'_>, out: &mut String) {
    let _ = write!(out, "<{}", html_name(node));
    let mut names: Vec<String> = Vec::new();
    // JTidy lists them from the last to the first.
    for attribute in node.attrs().into_iter().rev() {
        let name = xml_name(&attribute.name.local);
        if name.starts_with("xmlns") || names.contains(&name) {
            continue;
        }
        out.push(' ');
        let value: String = attribute
            .value
            .chars()
            .filter(|one| fault::is_valid(*one))
            .collect();
        write_attribute(&name, &value, out);
        names.push(name);
    }
    out.push('>');
}

fn html_name(node: &dom_query::NodeRef<'_>) -> String {
    node.node_name()
        .map_or_else(|| "div".to_owned(), |name| xml_name(&name))
}

/// A name that XML allows.
fn xml_name(name: &str) -> String {
    let part = |one: char| {
        if one.is_alphanumeric() || matches!(one, '-' | '_' | '.') {
            one
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(part).collect();
    if name.starts_with(|one: char| one.is_alphabetic() || one == '_') {
        name
    } else {
        format!("_{name}")
    }
}
