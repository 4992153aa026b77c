//! A metric selector: a metric's name and the tags of a sub-metric, in k6's form `name{tag:value}`.
//!
//! Must not know which metrics exist. Invariant: the name is not empty and no tag occurs twice.

use super::parse::Cursor;
use super::problem::{ParseError, Problem};
use crate::TagSet;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Selects a metric or, with tags, its samples that carry all of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MetricSelector {
    /// The metric's name.
    pub metric: Arc<str>,
    /// Tags that a sample must carry; empty for the whole metric.
    pub tags: TagSet,
}

impl MetricSelector {
    /// The whole metric of this name.
    pub fn whole(metric: impl Into<Arc<str>>) -> Self {
        Self {
            metric: metric.into(),
            tags: TagSet::new(),
        }
    }
}

impl FromStr for MetricSelector {
    type Err = ParseError;

    /// Parses `name` or `name{tag:value,…}`; values may be quoted, spaces around names and values are ignored.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut cursor = Cursor::new(text);
        cursor.skip_spaces();
        let name = cursor.name();
        if name.is_empty() {
            return Err(cursor.error(Problem::NoMetricName));
        }
        let selector = Self {
            metric: name.into(),
            tags: tags(&mut cursor)?,
        };
        cursor.expect_end()?;
        Ok(selector)
    }
}

impl TryFrom<String> for MetricSelector {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Self, ParseError> {
        text.parse()
    }
}

impl From<MetricSelector> for String {
    fn from(selector: MetricSelector) -> Self {
        selector.to_string()
    }
}

/// `name{tag:value}`; values are quoted if they would not parse otherwise.
impl fmt::Display for MetricSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.metric)?;
        let mut open = '{';
        for (name, value) in self.tags.iter() {
            write!(f, "{open}{name}:")?;
            match quote_for(value) {
                Some(quote) => write!(f, "{quote}{value}{quote}")?,
                None => f.write_str(value)?,
            }
            open = ',';
        }
        if self.tags.is_empty() {
            Ok(())
        } else {
            f.write_str("}")
        }
    }
}

fn quote_for(value: &str) -> Option<char> {
    let plain =
        value.trim() == value && !value.starts_with(['"', '\'']) && !value.contains([',', '}']);
    if plain {
        None
    } else {
        Some(if value.contains('"') { '\'' } else { '"' })
    }
}

/// Parses `{tag:value,…}` at the cursor; no tags if there is none.
pub(super) fn tags(cursor: &mut Cursor<'_>) -> Result<TagSet, ParseError> {
    let mut tags = TagSet::new();
    if !cursor.eat("{") {
        return Ok(tags);
    }
    cursor.skip_spaces();
    while !cursor.eat("}") {
        let at = cursor.position();
        let name = cursor.take_while(|c| !matches!(c, ':' | ',' | '}')).trim();
        if name.is_empty() {
            return Err(cursor.error_at(at, Problem::NoTagName));
        }
        if tags.get(name).is_some() {
            return Err(cursor.error_at(at, Problem::TagTwice(name.into())));
        }
        cursor.expect(':')?;
        tags.set(name, tag_value(cursor)?);
        cursor.skip_spaces();
        if !cursor.eat(",") && !cursor.rest().starts_with('}') {
            return Err(cursor.error(Problem::Missing('}')));
        }
        cursor.skip_spaces();
    }
    Ok(tags)
}

fn tag_value<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, ParseError> {
    cursor.skip_spaces();
    for quote in ['"', '\''] {
        if cursor.rest().starts_with(quote) {
            cursor.expect(quote)?;
            let value = cursor.take_while(|c| c != quote);
            cursor.expect(quote)?;
            return Ok(value);
        }
    }
    Ok(cursor.take_while(|c| !matches!(c, ',' | '}')).trim())
}
