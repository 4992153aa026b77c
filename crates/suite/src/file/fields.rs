//! Reads values of a checked tree by the names in a table.
//!
//! Must not know what values are for. Invariant: only names in the table are read.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_model::duration;

use super::Problem;
use super::check::{check, parse_share};
use super::table::{KeyType, Object};
use super::{At, Node, Value};

/// A map with the table that it was checked against.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    node: &'a Node,
    object: &'static Object,
}

impl<'a> Fields<'a> {
    /// Checks a map against its table; nothing counts as an empty map.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of(node: &'a Node, object: &'static Object) -> Result<Fields<'a>, Problem> {
        if node.value != Value::Null {
            check(node, &KeyType::Object(object))?;
        }
        Ok(Fields { node, object })
    }

    /// The position of the map.
    #[must_use]
    pub fn at(&self) -> At {
        self.node.at
    }

    /// The value of a key; `None` if it is missing or empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a Node> {
        debug_assert!(
            self.object.key(name).is_some(),
            "{} of {} stands in the table",
            name,
            self.object.name
        );
        #[cfg(test)]
        asked::note(self.object.name, name);
        let found = self.node.get(name)?;
        (found.value != Value::Null).then_some(found)
    }

    /// A scalar as text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.scalar()
    }

    /// A boolean.
    ///
    /// # Errors
    /// The value is not a boolean.
    pub fn flag(&self, name: &str) -> Result<Option<bool>, Problem> {
        self.read(name, "write true or false", Node::flag)
    }

    /// An integer.
    ///
    /// # Errors
    /// The value is something else.
    pub fn count(&self, name: &str) -> Result<Option<u64>, Problem> {
        self.parsed(name, "write a whole number", |text| text.parse().ok())
    }

    /// A number.
    ///
    /// # Errors
    /// The value is not a number.
    pub fn number(&self, name: &str) -> Result<Option<f64>, Problem> {
        self.parsed(name, "write a number", |text| text.parse().ok())
    }

    /// A share, from 0 to 1.
    ///
    /// # Errors
    /// The value is not a share.
    pub fn share(&self, name: &str) -> Result<Option<f64>, Problem> {
        self.parsed(name, "write a share such as 99%", parse_share)
    }

    /// A duration.
    ///
    /// # Errors
    /// The value is not a duration.
    pub fn duration(&self, name: &str) -> Result<Option<Duration>, Problem> {
        self.parsed(
            name,
            "write a length of time such as 30s, a year at most",
            |text| duration::parse_with_units(text).ok(),
        )
    }

    /// A list of texts; one text is a list of one.
    #[must_use]
    pub fn texts(&self, name: &str) -> Vec<String> {
        let items = self.get(name).map_or(&[][..], Node::items);
        items.iter().filter_map(Node::scalar).collect()
    }

    /// A map of names to texts.
    #[must_use]
    pub fn text_map(&self, name: &str) -> BTreeMap<String, String> {
        let entries = self.get(name).map_or(&[][..], Node::entries);
        let pairs = entries
            .iter()
            .map(|entry| (entry.key.clone(), entry.node.scalar().unwrap_or_default()));
        pairs.collect()
    }

    /// The nodes of a list.
    #[must_use]
    pub fn list(&self, name: &str) -> &'a [Node] {
        self.get(name).map_or(&[][..], Node::items)
    }

    /// A nested map, checked against its own table.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn object(
        &self,
        name: &str,
        object: &'static Object,
    ) -> Result<Option<Fields<'a>>, Problem> {
        self.get(name)
            .map(|node| Fields::of(node, object))
            .transpose()
    }

    fn parsed<T>(
        &self,
        name: &str,
        fix: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        self.read(name, fix, |node| parse(node.word()?))
    }

    fn read<T>(
        &self,
        name: &str,
        fix: &str,
        read: impl Fn(&Node) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let Some(node) = self.get(name) else {
            return Ok(None);
        };
        let value = read(node);
        let wrong = || {
            let what = format!("`{name}` got {}", node.described());
            Problem::new(node.at, what, fix)
        };
        value.map(Some).ok_or_else(wrong)
    }
}

/// Which keys were read, so that a test finds those that nobody reads.
#[cfg(test)]
pub(crate) mod asked {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    thread_local! {
        static ASKED: RefCell<BTreeSet<(String, String)>> = RefCell::default();
    }

    pub(super) fn note(object: &str, key: &str) {
        ASKED.with_borrow_mut(|asked| asked.insert((object.to_owned(), key.to_owned())));
    }

    pub(crate) fn was(object: &str, key: &str) -> bool {
        ASKED.with_borrow(|asked| asked.contains(&(object.to_owned(), key.to_owned())))
    }
}
