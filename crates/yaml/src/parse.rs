//! From text to the tree.
//!
//! Must not know what keys mean. Invariant: a scalar keeps the word of the file, so that `1.10` stays `1.10` and the
//! country `no` stays `no`.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Options, Span, Spanned};

use crate::{At, Entry, Node, Value, YamlError};

/// The most lists and maps within one another: each takes 40 kB of the stack of a build that is not optimised, of which
/// a thread has 2 MB.
pub(crate) const DEPTH_MAX: usize = 40;

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: DEPTH_MAX },
    }
}

impl Node {
    /// Reads one document; an empty text is a document of nothing.
    ///
    /// # Errors
    /// It is no YAML, has a key twice, or is too deep or too large.
    pub fn parse(source: &str) -> Result<Node, YamlError> {
        let raw = serde_saphyr::from_str_with_options(source, options())
            .map_err(|error| YamlError::of_parser(&error))?;
        Ok(finish(raw, source))
    }

    /// Reads all documents of a text that are not empty.
    ///
    /// # Errors
    /// As [`Node::parse`].
    pub fn parse_all(source: &str) -> Result<Vec<Node>, YamlError> {
        let raw: Vec<_> = serde_saphyr::from_multiple_with_options(source, options())
            .map_err(|error| YamlError::of_parser(&error))?;
        Ok(raw.into_iter().map(|raw| finish(raw, source)).collect())
    }
}

impl At {
    pub(crate) fn of(location: Location) -> At {
        At {
            line: location.line(),
            column: location.column(),
        }
    }
}

/// A value as the parser hands it over.
enum Raw {
    Null,
    Flag(bool),
    Number(String),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<String>, Spanned<Raw>)>),
}

/// Gives every node its place, and scalars their words.
fn finish(raw: Spanned<Raw>, source: &str) -> Node {
    let span = raw.defined.span();
    let value = match raw.value {
        Raw::Null => Value::Null,
        Raw::Flag(flag) => {
            let word = word(source, span).filter(|word| word.chars().all(char::is_alphabetic));
            Value::Flag(flag, word.map_or_else(|| flag.to_string(), str::to_owned))
        }
        Raw::Number(text) => {
            let word = word(source, span);
            let word = word.filter(|word| word.parse::<f64>().is_ok_and(f64::is_finite));
            Value::Number(word.map_or(text, str::to_owned))
        }
        Raw::Text(text) => Value::Text(text),
        Raw::List(items) => {
            Value::List(items.into_iter().map(|item| finish(item, source)).collect())
        }
        Raw::Map(entries) => {
            let entries = entries.into_iter().map(|(key, node)| Entry {
                at: At::of(key.referenced),
                key: key.value,
                node: finish(node, source),
            });
            Value::Map(entries.collect())
        }
    };
    Node {
        at: At::of(raw.referenced),
        value,
    }
}

/// What the file writes in a place.
fn word(source: &str, span: Span) -> Option<&str> {
    let from = usize::try_from(span.byte_offset()?).ok()?;
    let length = usize::try_from(span.byte_len()?).ok()?;
    Some(source.get(from..from.checked_add(length)?)?.trim())
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
