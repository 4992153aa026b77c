//! YAML as a tree in which every node knows its place.
//!
//! Must not know what keys mean. Invariant: numbers keep the digits of the file, so that `1.10` stays `1.10`.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use super::Problem;

/// A place in a file, from one on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// Line.
    pub line: u64,
    /// Column, in characters.
    pub column: u64,
}

/// A value at its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it stands.
    pub at: At,
    /// What it is.
    pub value: Value,
}

/// One key of a map with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Where the key stands.
    pub at: At,
    /// The key.
    pub key: String,
    /// Its value.
    pub node: Node,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing: `~` or an empty value.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A number, as the file writes it.
    Number(String),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A map in the order of the file.
    Map(Vec<Entry>),
}

impl Node {
    /// Reads one YAML document.
    ///
    /// # Errors
    /// It is no YAML, has a key twice, or is too deep or too large.
    pub fn parse(source: &str) -> Result<Node, Problem> {
        let raw: Spanned<Raw> =
            serde_saphyr::from_str(source).map_err(|error| problem_of(&error))?;
        Ok(finish(raw, source))
    }

    /// A scalar as text; `None` for lists, maps and nothing.
    #[must_use]
    pub fn scalar(&self) -> Option<String> {
        match &self.value {
            Value::Flag(flag) => Some(flag.to_string()),
            Value::Number(text) | Value::Text(text) => Some(text.clone()),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// The entries of a map; empty for everything else.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The value of a key of a map.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        let entry = self.entries().iter().find(|entry| entry.key == key)?;
        Some(&entry.node)
    }

    /// The nodes of a list; a value that is no list is a list of one, nothing is an empty one.
    #[must_use]
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            Value::Null => &[],
            _ => std::slice::from_ref(self),
        }
    }

    /// The same as JSON, places left out.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Flag(flag) => Json::Bool(*flag),
            Value::Number(text) => number_json(text),
            Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Map(entries) => {
                let pairs = entries.iter().map(|e| (e.key.clone(), e.node.to_json()));
                Json::Object(pairs.collect())
            }
        }
    }

    /// What it is, for messages.
    #[must_use]
    pub fn described(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Flag(flag) => flag.to_string(),
            Value::Number(text) => text.clone(),
            Value::Text(text) => format!("{text:?}"),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a map".to_owned(),
        }
    }
}

fn number_json(text: &str) -> serde_json::Value {
    text.parse::<i64>()
        .map(serde_json::Value::from)
        .or_else(|_| text.parse::<f64>().map(serde_json::Value::from))
        .unwrap_or_else(|_| serde_json::Value::from(text))
}

/// What the YAML reader refused, at its place.
pub(super) fn problem_of(error: &serde_saphyr::Error) -> Problem {
    let at = error.location().map_or(At { line: 1, column: 1 }, at_of);
    let told = error.without_snippet().to_string();
    let first = told.lines().next().unwrap_or_default();
    let what = first
        .split(" at line ")
        .next()
        .unwrap_or(first)
        .trim_end_matches([' ', ':', ';', ',']);
    let what = match what.split_once(": ") {
        Some((place, rest)) if place.starts_with("line ") => rest,
        _ => what,
    };
    Problem::new(at, what, "mend the YAML at this place")
}

fn at_of(location: serde_saphyr::Location) -> At {
    At {
        line: location.line(),
        column: location.column(),
    }
}

/// A value as the YAML reader hands it over.
enum Raw {
    Null,
    Flag(bool),
    Number(String),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

/// Gives every node its place, and numbers their digits.
fn finish(raw: Spanned<Raw>, source: &str) -> Node {
    let at = at_of(raw.referenced);
    let span = raw.defined.span();
    let value = match raw.value {
        Raw::Null => Value::Null,
        Raw::Flag(flag) => Value::Flag(flag),
        Raw::Number(text) => Value::Number(digits(source, span).unwrap_or(text)),
        Raw::Text(text) => Value::Text(text),
        Raw::List(items) => {
            Value::List(items.into_iter().map(|item| finish(item, source)).collect())
        }
        Raw::Map(entries) => {
            let entries = entries.into_iter().map(|(key, node)| Entry {
                at: at_of(key.referenced),
                key: key.value,
                node: finish(node, source),
            });
            Value::Map(entries.collect())
        }
    };
    Node { at, value }
}

/// A number as the file writes it; `None` where its place does not hold a plain one.
fn digits(source: &str, span: serde_saphyr::Span) -> Option<String> {
    let from = usize::try_from(span.byte_offset()?).ok()?;
    let length = usize::try_from(span.byte_len()?).ok()?;
    let text = source.get(from..from.checked_add(length)?)?.trim();
    let plain = text.parse::<f64>().is_ok_and(f64::is_finite);
    plain.then(|| text.to_owned())
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Raw, D::Error> {
        from.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Raw, E> {
        Ok(Raw::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }

    fn visit_u128<E>(self, number: u128) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Raw, E> {
        Ok(Raw::Number(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Raw, D::Error> {
        Raw::deserialize(from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = from.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}
