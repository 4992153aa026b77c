//! `XmlSlurper` and `XmlParser`: documents that scripts navigate by element names.
//!
//! Must not know disks. Invariants: a document does not change; no operation on it recurses.
// tidy: table

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use super::super::number;
use super::super::order;
use super::super::print;
use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Machine, Object, Outcome, Value};
use super::{Class, files, linked, readers, text_of, text_wanted};

/// The class of the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// `XmlSlurper`: elements have names without prefix, and their text as value.
    Slurper,
    /// `XmlParser`: elements have names with prefix.
    Parser,
}

/// A parser of documents.
struct Reader {
    style: Style,
    /// Whether it is namespace-aware, so that prefixes are not part of names.
    is_aware: bool,
}

/// A document: elements and texts in document order.
struct Document {
    style: Style,
    parts: Vec<Part>,
}

/// An element, or a text.
struct Part {
    parent: Option<usize>,
    /// The number of the first part after it and its contents.
    end: usize,
    what: What,
}

enum What {
    Element(Element),
    Text(String),
}

struct Element {
    /// The name that it returns.
    name: String,
    /// The name for lookups.
    key: String,
    attributes: Vec<(String, String)>,
}

/// The result of a path through a document.
struct Found {
    document: Rc<Document>,
    items: Items,
}

enum Items {
    /// One element.
    Element(usize),
    /// Elements, possibly none.
    Elements(Vec<usize>),
    /// The values of attributes, possibly none.
    Attributes(Vec<String>),
}

/// Methods of lists only.
const OF_LISTS: &[&str] = &[
    "any",
    "collect",
    "collectEntries",
    "collectMany",
    "count",
    "countBy",
    "drop",
    "eachWithIndex",
    "every",
    "findIndexOf",
    "first",
    "groupBy",
    "head",
    "indexed",
    "inject",
    "iterator",
    "join",
    "last",
    "max",
    "min",
    "reverse",
    "sort",
    "sum",
    "tail",
    "take",
    "toList",
    "unique",
    "withIndex",
];

impl Document {
    fn element(&self, number: usize) -> Option<&Element> {
        match &self.parts.get(number)?.what {
            What::Element(element) => Some(element),
            What::Text(_) => None,
        }
    }

    /// The child elements and texts of an element.
    fn below(&self, number: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut at = number + 1;
        while at < self.parts[number].end {
            found.push(at);
            at = self.parts[at].end;
        }
        found
    }

    fn elements_below(&self, number: usize) -> Vec<usize> {
        let mut below = self.below(number);
        below.retain(|one| self.element(*one).is_some());
        below
    }

    /// The text of an element and its descendants.
    fn text(&self, number: usize) -> String {
        let parts = &self.parts[number..self.parts[number].end];
        let texts = parts.iter().filter_map(|part| match &part.what {
            What::Text(text) => Some(text.as_str()),
            What::Element(_) => None,
        });
        texts.collect()
    }

    fn attribute(&self, number: usize, name: &str) -> Option<&str> {
        let attributes = &self.element(number)?.attributes;
        let found = attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// The name of an element or attribute as written.
fn written(node: roxmltree::Node<'_, '_>, uri: Option<&str>, name: &str) -> String {
    let prefix = uri.and_then(|uri| node.lookup_prefix(uri));
    match prefix.filter(|prefix| !prefix.is_empty()) {
        Some(prefix) => format!("{prefix}:{name}"),
        None => name.to_owned(),
    }
}

fn qualified(uri: Option<&str>, name: &str) -> String {
    match uri {
        Some(uri) => format!("{{{uri}}}{name}"),
        None => name.to_owned(),
    }
}

fn element_of(node: roxmltree::Node<'_, '_>, reader: &Reader) -> Element {
    let (uri, local) = (node.tag_name().namespace(), node.tag_name().name());
    let as_written = written(node, uri, local);
    let (name, key) = match (reader.is_aware, reader.style) {
        (false, _) => (as_written.clone(), as_written),
        (true, Style::Slurper) => (local.to_owned(), local.to_owned()),
        (true, Style::Parser) => (qualified(uri, local), as_written),
    };
    let attributes = node.attributes().map(|one| {
        let name = match reader.is_aware {
            true => qualified(one.namespace(), one.name()),
            false => written(node, one.namespace(), one.name()),
        };
        (name, one.value().to_owned())
    });
    Element {
        name,
        key,
        attributes: attributes.collect(),
    }
}

fn read(machine: &mut dyn Machine, reader: &Reader, text: &str) -> Outcome {
    machine.take(text.len().saturating_mul(8))?;
    let text = text.trim_start_matches('\u{feff}');
    let tree = roxmltree::Document::parse(text)
        .map_err(|fault| Thrown::of("org.xml.sax.SAXParseException", fault.to_string()))?;
    let mut parts: Vec<Part> = Vec::new();
    let mut numbers = HashMap::new();
    for node in tree.root_element().descendants() {
        let what = match node.text() {
            _ if node.is_element() => What::Element(element_of(node, reader)),
            Some(text) if node.is_text() && !text.trim().is_empty() => What::Text(text.to_owned()),
            _ => continue,
        };
        let number = parts.len();
        numbers.insert(node.id(), number);
        let parent = node.parent().and_then(|above| numbers.get(&above.id()));
        parts.push(Part {
            parent: parent.copied(),
            end: number + 1,
            what,
        });
    }
    for number in (1..parts.len()).rev() {
        if let Some(parent) = parts[number].parent {
            parts[parent].end = parts[parent].end.max(parts[number].end);
        }
    }
    let document = Rc::new(Document {
        style: reader.style,
        parts,
    });
    Ok(found(&document, Items::Element(0)))
}

fn found(document: &Rc<Document>, items: Items) -> Value {
    Value::object(Found {
        document: Rc::clone(document),
        items,
    })
}

impl Found {
    fn is_slurped(&self) -> bool {
        self.document.style == Style::Slurper
    }

    fn numbers(&self) -> Vec<usize> {
        match &self.items {
            Items::Element(number) => vec![*number],
            Items::Elements(numbers) => numbers.clone(),
            Items::Attributes(_) => Vec::new(),
        }
    }

    fn elements(&self, numbers: Vec<usize>) -> Value {
        found(&self.document, Items::Elements(numbers))
    }

    fn element(&self, number: usize) -> Value {
        found(&self.document, Items::Element(number))
    }

    /// Each of the results separately.
    fn values(&self) -> Vec<Value> {
        match &self.items {
            Items::Attributes(values) => {
                let alone = |value: &String| Items::Attributes(vec![value.clone()]);
                let values = values.iter();
                values
                    .map(|value| found(&self.document, alone(value)))
                    .collect()
            }
            _ => self.listed(&self.numbers()),
        }
    }

    /// Elements and texts as a list.
    fn listed(&self, numbers: &[usize]) -> Vec<Value> {
        let value = |number: &usize| match &self.document.parts[*number].what {
            What::Element(_) => self.element(*number),
            What::Text(text) => Value::text(text.as_str()),
        };
        numbers.iter().map(value).collect()
    }

    fn told(&self) -> String {
        match &self.items {
            Items::Attributes(values) => values.concat(),
            _ => {
                let texts = self.numbers().into_iter();
                texts.map(|one| self.document.text(one)).collect()
            }
        }
    }

    /// The value if nothing was found.
    fn nothing(&self) -> Value {
        match self.is_slurped() {
            true => self.elements(Vec::new()),
            false => Value::Null,
        }
    }

    fn attributes_called(&self, name: &str) -> Value {
        let numbers = self.numbers();
        let values = numbers
            .iter()
            .filter_map(|one| self.document.attribute(*one, name));
        match (&self.items, self.is_slurped()) {
            (_, true) => {
                let values = values.map(str::to_owned).collect();
                found(&self.document, Items::Attributes(values))
            }
            (Items::Element(_), false) => {
                let mut values = values;
                Value::optional(values.next())
            }
            (_, false) => Value::list(values.map(Value::text).collect()),
        }
    }

    fn children_called(&self, name: &str) -> Value {
        let is_meant = |one: &usize| {
            name == "*"
                || self
                    .document
                    .element(*one)
                    .is_some_and(|element| element.key == name)
        };
        let below = self
            .numbers()
            .into_iter()
            .flat_map(|one| self.document.elements_below(one));
        self.elements(below.filter(is_meant).collect())
    }

    /// Elements with their descendants, depth first.
    fn in_depth(&self) -> Vec<usize> {
        let all = self
            .numbers()
            .into_iter()
            .flat_map(|one| one..self.document.parts[one].end);
        all.filter(|one| self.document.element(*one).is_some())
            .collect()
    }

    /// Elements with their descendants, breadth first.
    fn in_breadth(&self) -> Vec<usize> {
        let mut waiting = VecDeque::from(self.numbers());
        let mut all = Vec::new();
        while let Some(one) = waiting.pop_front() {
            all.push(one);
            waiting.extend(self.document.elements_below(one));
        }
        all
    }

    fn parents(&self) -> Value {
        let above = self
            .numbers()
            .into_iter()
            .filter_map(|one| self.document.parts[one].parent);
        let above: Vec<_> = above.collect();
        match (&self.items, above.as_slice()) {
            (Items::Element(_), [one]) => self.element(*one),
            (Items::Element(_), []) => self.nothing(),
            _ => self.elements(above),
        }
    }

    fn name(&self) -> Option<&str> {
        let first = self.numbers().into_iter().next()?;
        let element = self.document.element(first)?;
        Some(&element.name)
    }

    fn at(&self, place: i64) -> Value {
        let values = self.values();
        let count = i64::try_from(values.len()).unwrap_or(i64::MAX);
        let place = if place < 0 { place + count } else { place };
        let place = usize::try_from(place).ok();
        let value = place.and_then(|place| values.get(place).cloned());
        value.unwrap_or_else(|| self.nothing())
    }

    /// An element as printed by `XmlParser`.
    fn shown(&self, number: usize) -> String {
        let Some(element) = self.document.element(number) else {
            return String::new();
        };
        let attributes = element.attributes.iter();
        let attributes: Vec<_> = attributes
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let below = self.listed(&self.document.below(number));
        format!(
            "{}[attributes={{{}}}; value={}]",
            element.name,
            attributes.join(", "),
            print::text(&Value::list(below))
        )
    }
}

fn of(this: &Value) -> Outcome<&Found> {
    let found = this.of::<Found>();
    found.ok_or_else(|| Thrown::bare("java.lang.NullPointerException"))
}

/// The results that a closure selects.
fn wanted(machine: &mut dyn Machine, this: &Value, given: &[Value]) -> Outcome<Vec<Value>> {
    let mut all = of(this)?.values();
    let mut kept = Vec::new();
    for value in all.drain(..) {
        if order::truth(&machine.call(&given[0], vec![value.clone()])?) {
            kept.push(value);
        }
    }
    Ok(kept)
}

fn number_of(machine: &mut dyn Machine, this: &Value, method: &str) -> Outcome {
    let text = Value::text(of(this)?.told());
    machine.invoke(&text, method, &[])
}

pub(super) static FOUND: Table = Table::new(&[
    row("text", 0, 0, |_, this, _| Ok(Value::text(of(this)?.told()))),
    row("size", 0, 0, |_, this, _| {
        Ok(Value::count(of(this)?.values().len()))
    }),
    row("name", 0, 0, |_, this, _| {
        Ok(Value::optional(of(this)?.name()))
    }),
    row("isEmpty", 0, 0, |_, this, _| {
        Ok(Value::Truth(of(this)?.values().is_empty()))
    }),
    row("children", 0, 0, |_, this, _| {
        let found = of(this)?;
        if found.is_slurped() {
            return Ok(found.children_called("*"));
        }
        let below = found.numbers().into_iter();
        let below: Vec<_> = below.flat_map(|one| found.document.below(one)).collect();
        Ok(Value::list(found.listed(&below)))
    }),
    row("value", 0, 0, |machine, this, _| {
        machine.invoke(this, "children", &[])
    }),
    row("parent", 0, 0, |_, this, _| Ok(of(this)?.parents())),
    row("attributes", 0, 0, |_, this, _| {
        let found = of(this)?;
        let first = found.numbers().into_iter().next();
        let element = first.and_then(|one| found.document.element(one));
        let map = linked();
        for (name, value) in element.iter().flat_map(|element| &element.attributes) {
            map.put(&Value::text(name.as_str()), Value::text(value.as_str()));
        }
        Ok(Value::Map(map))
    }),
    row("attribute", 1, 1, |_, this, given| {
        Ok(of(this)?.attributes_called(&text_of(given, 0)))
    }),
    row("depthFirst", 0, 0, |_, this, _| {
        let found = of(this)?;
        Ok(Value::list(found.listed(&found.in_depth())))
    }),
    row("breadthFirst", 0, 0, |_, this, _| {
        let found = of(this)?;
        Ok(Value::list(found.listed(&found.in_breadth())))
    }),
    row("list", 0, 0, |_, this, _| {
        Ok(Value::list(of(this)?.values()))
    }),
    row(
        "getAt",
        1,
        1,
        |machine, this, given| match number::long_of(&given[0]).filter(|_| given[0].is_number()) {
            Some(place) => Ok(of(this)?.at(place)),
            None => machine.property(this, &text_of(given, 0)),
        },
    ),
    row("each", 1, 1, |machine, this, given| {
        for value in of(this)?.values() {
            machine.call(&given[0], vec![value])?;
        }
        Ok(this.clone())
    }),
    row("find", 1, 1, |machine, this, given| {
        let first = wanted(machine, this, given)?.into_iter().next();
        Ok(match first {
            Some(first) => first,
            None => of(this)?.nothing(),
        })
    }),
    row("findAll", 1, 1, |machine, this, given| {
        let kept = wanted(machine, this, given)?;
        let numbers = kept.iter().filter_map(|one| one.of::<Found>());
        let numbers = numbers.flat_map(Found::numbers).collect();
        Ok(of(this)?.elements(numbers))
    }),
    row("toInteger", 0, 0, |machine, this, _| {
        number_of(machine, this, "toInteger")
    }),
    row("toLong", 0, 0, |machine, this, _| {
        number_of(machine, this, "toLong")
    }),
    row("toFloat", 0, 0, |machine, this, _| {
        number_of(machine, this, "toFloat")
    }),
    row("toDouble", 0, 0, |machine, this, _| {
        number_of(machine, this, "toDouble")
    }),
    row("toBigDecimal", 0, 0, |machine, this, _| {
        number_of(machine, this, "toBigDecimal")
    }),
    row("toBigInteger", 0, 0, |machine, this, _| {
        number_of(machine, this, "toBigInteger")
    }),
]);

impl Object for Found {
    fn class(&self) -> &'static str {
        match (self.document.style, &self.items) {
            (Style::Slurper, Items::Element(_)) => "groovy.util.slurpersupport.NodeChild",
            (Style::Slurper, Items::Elements(_)) => "groovy.util.slurpersupport.NodeChildren",
            (_, Items::Attributes(_)) => "groovy.util.slurpersupport.Attributes",
            (Style::Parser, Items::Element(_)) => "groovy.util.Node",
            (Style::Parser, Items::Elements(_)) => "groovy.util.NodeList",
        }
    }

    fn methods(&self) -> &'static Table {
        &FOUND
    }

    fn text(&self) -> String {
        match &self.items {
            _ if self.is_slurped() => self.told(),
            Items::Element(number) => self.shown(*number),
            _ => {
                let shown = self.numbers().into_iter().map(|one| self.shown(one));
                format!("[{}]", shown.collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn is_like_text(&self) -> bool {
        self.is_slurped()
    }

    fn equals(&self, other: &dyn Object) -> bool {
        let Some(other) = other.any().downcast_ref::<Found>() else {
            return false;
        };
        match self.is_slurped() {
            true => self.told() == other.told(),
            false => {
                Rc::ptr_eq(&self.document, &other.document) && self.numbers() == other.numbers()
            }
        }
    }

    fn truth(&self) -> bool {
        self.is_slurped() || !self.numbers().is_empty()
    }

    fn call(
        &self,
        machine: &mut dyn Machine,
        name: &str,
        given: &[Value],
    ) -> Outcome<Option<Value>> {
        if !OF_LISTS.contains(&name) {
            return Ok(None);
        }
        machine
            .invoke(&Value::list(self.values()), name, given)
            .map(Some)
    }

    fn property(&self, _: &mut dyn Machine, name: &str) -> Outcome<Option<Value>> {
        Ok(Some(match name.strip_prefix('@') {
            Some(attribute) => self.attributes_called(attribute),
            None if name == "**" => Value::list(self.listed(&self.in_depth())),
            None if name == ".." => self.parents(),
            None => self.children_called(name),
        }))
    }

    fn iterate(&self, _: &mut dyn Machine) -> Outcome<Option<Vec<Value>>> {
        Ok(Some(self.values()))
    }

    fn is_a(&self, name: &str) -> bool {
        matches!(name, "GPathResult" | "Iterable") && self.is_slurped()
    }
}

fn reader_of(this: &Value) -> Outcome<&Reader> {
    let reader = this.of::<Reader>();
    reader.ok_or_else(|| Thrown::bare("java.lang.NullPointerException"))
}

pub(super) static READER: Table = Table::new(&[
    row("parseText", 1, 1, |machine, this, given| {
        let text = text_wanted(given, 0)?;
        read(machine, reader_of(this)?, &text)
    }),
    row("parse", 1, 1, |machine, this, given| {
        let text = match readers::rest_in_full(&given[0]) {
            Some(text) => text,
            None => files::text(machine, &files::path_of(&given[0]), None)?,
        };
        read(machine, reader_of(this)?, &text)
    }),
]);

impl Object for Reader {
    fn class(&self) -> &'static str {
        match self.style {
            Style::Slurper => "groovy.util.XmlSlurper",
            Style::Parser => "groovy.util.XmlParser",
        }
    }

    fn methods(&self) -> &'static Table {
        &READER
    }
}

/// `new XmlSlurper(validating, namespaceAware)`: there is no validation here.
fn made(style: Style, given: &[Value]) -> Outcome {
    let is_aware = given.get(1).is_none_or(order::truth);
    Ok(Value::object(Reader { style, is_aware }))
}

static SLURPERS: Table = Table::new(&[row("new", 0, 3, |_, _, given| made(Style::Slurper, given))]);
static PARSERS: Table = Table::new(&[row("new", 0, 3, |_, _, given| made(Style::Parser, given))]);

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "groovy.util.XmlSlurper",
        statics: &SLURPERS,
    },
    Class {
        name: "groovy.xml.XmlSlurper",
        statics: &SLURPERS,
    },
    Class {
        name: "groovy.util.XmlParser",
        statics: &PARSERS,
    },
    Class {
        name: "groovy.xml.XmlParser",
        statics: &PARSERS,
    },
];
