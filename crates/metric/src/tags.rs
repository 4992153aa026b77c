//! Tag sets: sorted labels that distinguish the series of one metric.
//!
//! Must not know which tags exist. Invariant: sorted by name, one value per name; so equal sets compare equal,
//! whatever the order in which they were built.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The name of the tag that marks an overflow series.
pub const OVERFLOW_TAG: &str = "overflow";

/// A sorted set of tags. Names and values are shared: a clone copies pointers, and a caller that interns its
/// strings stores each text once.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct TagSet {
    tags: Vec<(Arc<str>, Arc<str>)>,
}

impl From<BTreeMap<String, String>> for TagSet {
    fn from(tags: BTreeMap<String, String>) -> TagSet {
        tags.into_iter().collect()
    }
}

impl From<TagSet> for BTreeMap<String, String> {
    fn from(tags: TagSet) -> BTreeMap<String, String> {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        tags.iter().map(owned).collect()
    }
}

/// Anything that has tags: a set, or the parts of a request from which a set could be built. A sample that
/// nobody needs in full never has to become a set.
pub trait Tagged {
    /// The value of a tag; `None` without it.
    fn tag(&self, name: &str) -> Option<&str>;
    /// Calls `each` with every tag, in any order; each name occurs once.
    fn each_tag(&self, each: &mut dyn FnMut(&str, &str));

    /// Whether every tag of `wanted` is present with the same value: how a sample matches a sub-metric.
    fn has_all(&self, wanted: &TagSet) -> bool {
        wanted
            .iter()
            .all(|(name, value)| self.tag(name) == Some(value))
    }
}

impl Tagged for TagSet {
    fn tag(&self, name: &str) -> Option<&str> {
        self.get(name)
    }

    fn each_tag(&self, each: &mut dyn FnMut(&str, &str)) {
        self.iter().for_each(|(name, value)| each(name, value));
    }
}

impl TagSet {
    /// The set without tags; allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { tags: Vec::new() }
    }

    /// Sets a tag, replacing an earlier value of the same name.
    pub fn set(&mut self, name: impl Into<Arc<str>>, value: impl Into<Arc<str>>) {
        let (name, value) = (name.into(), value.into());
        match self.place(&name) {
            Ok(at) => self.tags[at].1 = value,
            Err(at) => self.tags.insert(at, (name, value)),
        }
    }

    /// The same set with one more (or replaced) tag.
    #[must_use]
    pub fn with(mut self, name: impl Into<Arc<str>>, value: impl Into<Arc<str>>) -> Self {
        self.set(name, value);
        self
    }

    /// The value of a tag; `None` when the set has no such tag.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.place(name).ok().map(|at| &*self.tags[at].1)
    }

    /// The tags in order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.tags.iter().map(|(name, value)| (&**name, &**value))
    }

    /// The tags as stored, for callers that share the strings.
    #[must_use]
    pub fn as_slice(&self) -> &[(Arc<str>, Arc<str>)] {
        &self.tags
    }

    /// How many tags there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tags.len()
    }

    /// Whether there are no tags.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.tags.binary_search_by(|(other, _)| (**other).cmp(name))
    }
}

/// If a name occurs twice, the later tag wins.
impl<N: Into<Arc<str>>, V: Into<Arc<str>>> FromIterator<(N, V)> for TagSet {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(tags: I) -> Self {
        tags.into_iter()
            .fold(Self::new(), |set, (name, value)| set.with(name, value))
    }
}

/// `{name:value,other:value}`, or nothing for the empty set: the form in which k6 names sub-metrics.
impl fmt::Display for TagSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut open = '{';
        for (name, value) in self.iter() {
            write!(f, "{open}{name}:{value}")?;
            open = ',';
        }
        if self.is_empty() {
            Ok(())
        } else {
            f.write_str("}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter_and_the_later_value_stays() {
        let set: TagSet = [("b", "1"), ("a", "2"), ("b", "3")].into_iter().collect();
        assert_eq!(set, TagSet::new().with("a", "2").with("b", "3"));
        assert_eq!(set.to_string(), "{a:2,b:3}");
        assert_eq!(TagSet::new().to_string(), "");
        assert_eq!((set.get("b"), set.get("c")), (Some("3"), None));
    }

    #[test]
    fn a_sub_metric_matches_when_all_its_tags_do() {
        let sample = TagSet::new().with("status", "200").with("method", "GET");
        assert!(sample.has_all(&TagSet::new().with("status", "200")));
        assert!(sample.has_all(&TagSet::new()));
        assert!(!sample.has_all(&TagSet::new().with("status", "404")));
        assert!(!sample.has_all(&TagSet::new().with("name", "x")));
    }
}
