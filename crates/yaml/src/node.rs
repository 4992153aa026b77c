//! The tree: values in which every node knows its place.
//!
//! Must not know how it was read. Invariant: scalars keep the words of the file.

use std::fmt;

/// A place in a file, from one on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// Line.
    pub line: u64,
    /// Column, in characters.
    pub column: u64,
}

impl At {
    /// Where a text begins.
    pub const START: At = At { line: 1, column: 1 };
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
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
    /// `true` or `false`, and the word of the file for it.
    Flag(bool, String),
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
    /// A scalar as text; `None` for lists, maps and nothing.
    #[must_use]
    pub fn scalar(&self) -> Option<String> {
        self.word().map(str::to_owned)
    }

    /// The same, borrowed.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        match &self.value {
            Value::Flag(_, text) | Value::Number(text) | Value::Text(text) => Some(text),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// A flag; a text that says it is one, as where it was filled in.
    #[must_use]
    pub fn flag(&self) -> Option<bool> {
        match &self.value {
            Value::Flag(flag, _) => Some(*flag),
            Value::Text(text) => text.parse().ok(),
            _ => None,
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
            Value::Flag(flag, _) => Json::Bool(*flag),
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
            Value::Flag(_, text) | Value::Number(text) => text.clone(),
            Value::Text(text) => format!("{text:?}"),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a map".to_owned(),
        }
    }
}

fn number_json(text: &str) -> serde_json::Value {
    text.parse::<i64>()
        .map(serde_json::Value::from)
        .or_else(|_| text.parse::<u64>().map(serde_json::Value::from))
        .or_else(|_| text.parse::<f64>().map(serde_json::Value::from))
        .unwrap_or_else(|_| serde_json::Value::from(text))
}
