//! The tree of a plan's file: elements with their properties and children.
//!
//! Must not know what elements do. Invariant: a tree is no deeper than [`DEPTH_MAX`], so code may process it
//! recursively.

use roxmltree::{Document, Node, ParsingOptions};

use crate::controls;
use crate::references;
use crate::refusals::{self, is_hash_tree};

/// Maximum depth of elements, and of properties within one: real plans have fewer than twenty levels.
pub const DEPTH_MAX: usize = 200;

/// An element of a plan.
#[derive(Clone, Debug, Default)]
pub struct Element {
    /// The name of its class, without the package.
    pub class: String,
    /// The class of its window, which distinguishes kinds with the same class.
    pub window: String,
    /// Its name.
    pub name: String,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Its line in the file, from 1.
    pub line: u32,
    /// Its properties.
    pub properties: Vec<Property>,
    /// Its child elements.
    pub children: Vec<Element>,
}

/// A property: a name and a value.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name; empty in lists.
    pub name: String,
    /// Its value.
    pub value: Value,
}

/// The property with the name of an element inside a property.
pub const NAME: &str = "TestElement.name";

/// The value of a property.
#[derive(Clone, Debug)]
pub enum Value {
    /// A text, a number or a boolean, as written.
    Text(String),
    /// Properties, in a list or in an element.
    Group(Vec<Property>),
}

/// Why a file is not a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFault {
    /// Line, from 1; 0: the file as a whole.
    pub line: u32,
    /// Column, from 1; 0: the line as a whole.
    pub column: u32,
    /// The fault.
    pub what: String,
}

/// Access to properties by name.
pub trait Properties {
    /// The properties.
    fn properties(&self) -> &[Property];

    /// The text of a property; `None`: it is missing, or not a text.
    fn find_text(&self, name: &str) -> Option<&str> {
        let found = self.properties().iter().rfind(|one| one.name == name)?;
        match &found.value {
            Value::Text(text) => Some(text),
            Value::Group(_) => None,
        }
    }

    /// The text of a property; empty if missing.
    fn text(&self, name: &str) -> &str {
        self.find_text(name).unwrap_or_default()
    }

    /// Whether a property is `true`.
    fn is_true(&self, name: &str) -> bool {
        self.find_text(name).is_some_and(says_true)
    }

    /// Whether a property is `true` or missing.
    fn is_true_or_missing(&self, name: &str) -> bool {
        self.find_text(name).is_none_or(says_true)
    }

    /// The properties inside a property; empty if missing.
    fn group(&self, name: &str) -> &[Property] {
        let found = self.properties().iter().rfind(|one| one.name == name);
        match found.map(|one| &one.value) {
            Some(Value::Group(inner)) => inner,
            _ => &[],
        }
    }
}

fn says_true(text: &str) -> bool {
    text.trim().eq_ignore_ascii_case("true")
}

impl Properties for Element {
    fn properties(&self) -> &[Property] {
        &self.properties
    }
}

impl Properties for [Property] {
    fn properties(&self) -> &[Property] {
        self
    }
}

impl Property {
    /// The properties inside it; empty if it is a text.
    #[must_use]
    pub fn inner(&self) -> &[Property] {
        match &self.value {
            Value::Group(inner) => inner,
            Value::Text(_) => &[],
        }
    }

    /// Its text; empty if it is a group.
    #[must_use]
    pub fn as_text(&self) -> &str {
        match &self.value {
            Value::Text(text) => text,
            Value::Group(_) => "",
        }
    }
}

/// Parses the tree of a plan.
///
/// # Errors
/// The text is not XML, too deep, or not a plan.
pub fn read(text: &str) -> Result<Vec<Element>, TreeFault> {
    let end = end_of_root(text)?;
    let text = controls::hidden(without_declaration(&text[..end]));
    let options = ParsingOptions {
        // Entities are not expanded: JMeter does not support them either.
        allow_dtd: !text.contains("<!ENTITY"),
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(&text, options).map_err(|error| {
        let at = error.pos();
        TreeFault {
            line: at.row,
            column: at.col,
            what: error.to_string(),
        }
    })?;
    let tree = refusals::checked_tree(document.root_element()).map_err(|refused| {
        let at = document.text_pos_at(refused.at.range().start);
        TreeFault {
            line: at.row,
            column: at.col,
            what: refused.what,
        }
    })?;
    let mut elements = elements(&Lines::of(&text), tree);
    controls::give_back(&mut elements);
    Ok(elements)
}

/// Checks that there is an enabled plan among the elements: a fragment, which other plans include, has none.
///
/// # Errors
/// There is none.
pub fn check_plan(tree: &[Element]) -> Result<(), TreeFault> {
    fn is_there(tree: &[Element]) -> bool {
        let mut enabled = tree.iter().filter(|one| one.enabled);
        enabled.any(|one| one.class == "TestPlan" || is_there(&one.children))
    }
    match is_there(tree) {
        true => Ok(()),
        false => Err(TreeFault {
            line: 0,
            column: 0,
            what: "there is no enabled <TestPlan> in the file, which JMeter asks for: run a plan that includes this file, \
                   or put its elements below one"
                .to_owned(),
        }),
    }
}

/// Java's parser accepts XML 1.1, whose few differences no plan uses, and blanks before the declaration: the
/// declaration is replaced by blanks, so that positions do not change.
fn without_declaration(text: &str) -> String {
    let start = text.len()
        - text
            .trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n'])
            .len();
    let end = match text[start..].starts_with("<?xml ") {
        true => text.find("?>").map_or(start, |end| end + 2),
        false => start,
    };
    let blank = |byte: u8| if byte == b'\n' { '\n' } else { ' ' };
    let blanks: String = text.bytes().take(end).map(blank).collect();
    blanks + &text[end..]
}

/// The offsets of a text's line ends.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        Lines(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line of a byte offset, from 1.
    fn at(&self, byte: usize) -> u32 {
        let before = self.0.partition_point(|end| *end < byte);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }
}

/// The end of the root element, after which JMeter reads nothing; the end of the text if it is not closed.
/// Checks the nesting depth of tags before anything recurses.
fn end_of_root(text: &str) -> Result<usize, TreeFault> {
    let mut depth = 0_usize;
    let mut rest = text;
    let mut at = 0;
    while let Some(open) = rest.find('<') {
        let tag = &rest[open..];
        let skipped = ["<!--", "<![CDATA["].iter().zip(["-->", "]]>"]);
        let mut skipped = skipped
            .filter(|(start, _)| tag.starts_with(**start))
            .map(|(_, end)| end);
        let is_end = tag.starts_with("</");
        let end = match skipped.next() {
            Some(end) => tag.find(end).map(|found| found + end.len()),
            None => {
                let end = tag_end(tag);
                let tag = &tag[..end.unwrap_or(tag.len())];
                if is_end {
                    depth = depth.saturating_sub(1);
                } else if !tag.starts_with("<?") && !tag.starts_with("<!") && !tag.ends_with("/>") {
                    depth += 1;
                }
                end
            }
        };
        // An element takes two levels: its own, and that of its tree.
        if depth > 2 * DEPTH_MAX {
            let line = text[..at + open].matches('\n').count() + 1;
            return Err(TreeFault {
                line: u32::try_from(line).unwrap_or(u32::MAX),
                column: 0,
                what: format!("elements are nested deeper than {DEPTH_MAX} levels"),
            });
        }
        let step = open + end.unwrap_or(rest.len() - open);
        at += step;
        rest = &rest[step..];
        if depth == 0 && is_end {
            return Ok(at);
        }
    }
    Ok(text.len())
}

/// The length of the tag at the start of a text; a `>` within an attribute's quotes does not end it.
fn tag_end(text: &str) -> Option<usize> {
    if text.starts_with("<?") || text.starts_with("<!") {
        return text.find('>').map(|found| found + 1);
    }
    let mut quote = None;
    let end = text.bytes().position(|byte| {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
        quote.is_none() && byte == b'>'
    });
    end.map(|found| found + 1)
}

/// The elements of a `<hashTree>`, each followed by its own.
fn elements(lines: &Lines, hash_tree: Node<'_, '_>) -> Vec<Element> {
    let mut elements: Vec<Element> = Vec::new();
    for node in hash_tree.children().filter(Node::is_element) {
        if is_hash_tree(node) {
            if let Some(last) = elements.last_mut() {
                last.children = self::elements(lines, node);
            }
            continue;
        }
        elements.push(element(lines, node));
    }
    elements
}

fn element(lines: &Lines, node: Node<'_, '_>) -> Element {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    Element {
        class: last(node.tag_name().name()),
        window: last(node.attribute("guiclass").unwrap_or_default()),
        name: node.attribute("testname").unwrap_or_default().to_owned(),
        enabled: is_enabled(node),
        line: lines.at(node.range().start),
        properties: properties(node),
        children: Vec::new(),
    }
}

/// Whether an element is enabled, or does not say: any value other than `true` disables it.
pub(crate) fn is_enabled(node: Node<'_, '_>) -> bool {
    let said = node.attribute("enabled");
    said.is_none_or(|said| said.eq_ignore_ascii_case("true"))
}

fn properties(node: Node<'_, '_>) -> Vec<Property> {
    let inner = node.children().filter(Node::is_element);
    inner.map(property).collect()
}

fn property(node: Node<'_, '_>) -> Property {
    let node = references::resolved(node).unwrap_or(node);
    let name = node.attribute("name").unwrap_or_default().to_owned();
    let value = match node.tag_name().name() {
        "elementProp" | "collectionProp" | "mapProp" | "objProp" => {
            let mut inner = properties(node);
            inner.extend(node.attribute("testname").map(|name| Property {
                name: NAME.to_owned(),
                value: Value::Text(name.to_owned()),
            }));
            Value::Group(inner)
        }
        // These may contain their name and value as elements.
        _ => match node
            .children()
            .find(|child| child.tag_name().name() == "value")
        {
            Some(value) => {
                let name = node
                    .children()
                    .find(|child| child.tag_name().name() == "name");
                return Property {
                    name: name
                        .map(text_of)
                        .filter(|name| !name.is_empty())
                        .unwrap_or(name_of(node)),
                    value: Value::Text(text_of(value)),
                };
            }
            None if node.has_children() && node.children().any(|child| child.is_element()) => {
                Value::Group(properties(node))
            }
            None => Value::Text(text_of(node)),
        },
    };
    let name = if name.is_empty() && !is_property_tag(node) {
        name_of(node)
    } else {
        name
    };
    Property { name, value }
}

/// Whether a tag is the type of a property; otherwise it is its name (in `<saveConfig>`).
fn is_property_tag(node: Node<'_, '_>) -> bool {
    let tag = node.tag_name().name();
    tag.ends_with("Prop") || tag == "FloatProperty"
}

fn name_of(node: Node<'_, '_>) -> String {
    match node.attribute("name") {
        Some(name) => name.to_owned(),
        None => node.tag_name().name().to_owned(),
    }
}

fn text_of(node: Node<'_, '_>) -> String {
    let texts = node.children().filter(Node::is_text);
    texts.filter_map(|text| text.text()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(inner: &str) -> String {
        format!("<jmeterTestPlan version=\"1.2\"><hashTree>{inner}</hashTree></jmeterTestPlan>")
    }

    #[test]
    fn elements_hold_their_properties_and_what_is_below() {
        let text = plan(
            "<TestPlan testname=\"P\"><stringProp name=\"a\">x</stringProp>\
             <collectionProp name=\"c\"><stringProp name=\"1\">y</stringProp></collectionProp></TestPlan>\
             <hashTree><kg.apc.Thing guiclass=\"a.b.Gui\" enabled=\"false\"/></hashTree>",
        );
        let tree = read(&text).expect("a plan");
        let [element] = tree.as_slice() else {
            panic!("one element, not {tree:?}");
        };
        assert_eq!(
            (element.class.as_str(), element.name.as_str()),
            ("TestPlan", "P")
        );
        assert_eq!(element.text("a"), "x");
        assert_eq!(element.group("c")[0].as_text(), "y");
        let below = &element.children[0];
        assert_eq!(
            (below.class.as_str(), below.window.as_str()),
            ("Thing", "Gui")
        );
        assert!(!below.enabled, "it says so");
    }

    #[test]
    fn values_may_stand_in_elements() {
        let text = plan(
            "<T><doubleProp><name>d</name><value>2.5</value><savedValue>0.0</savedValue></doubleProp></T>",
        );
        assert_eq!(read(&text).expect("a plan")[0].text("d"), "2.5");
    }

    #[test]
    fn what_is_no_plan_is_refused_with_its_place() {
        let fault = read("<a>\n<b></a>").expect_err("malformed");
        assert_eq!(fault.line, 2);
        assert!(read("<html/>").is_err(), "another root");
        let bomb = "<!DOCTYPE a [<!ENTITY x \"y\">]><jmeterTestPlan><hashTree/></jmeterTestPlan>";
        assert!(read(bomb).is_err(), "entities are refused");
        let deep = plan(&("<A><elementProp>".repeat(10_000)));
        assert!(
            read(&deep).expect_err("too deep").what.contains("deeper"),
            "it says why"
        );
    }

    #[test]
    fn a_name_may_hold_what_ends_a_tag() {
        let text = "<jmeterTestPlan><hashTree><TestPlan testname=\"a/>b\"/><hashTree/><X testname='-\">'/></hashTree>\
                    </jmeterTestPlan>junk>";
        let tree = read(text).expect("it is XML");
        let names: Vec<&str> = tree.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["a/>b", "-\">"]);
    }

    #[test]
    fn xml_1_1_is_read() {
        let text = format!("<?xml version=\"1.1\"?>{}", plan("<T/>"));
        assert_eq!(read(&text).expect("a plan").len(), 1);
    }
}
