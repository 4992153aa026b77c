//! The variables of one thread.
//!
//! Must not know functions. Invariant: a removed variable is the same as one that was never set.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// The variables of one thread, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// The value of a variable; `None`: not set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Sets a variable.
    pub fn put(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    /// Sets a variable that is set often: the memory of its value is reused.
    pub fn rewrite(&mut self, name: &str, value: fmt::Arguments<'_>) {
        let Some(text) = self.0.get_mut(name) else {
            return self.put(name, value.to_string());
        };
        text.clear();
        text.write_fmt(value).expect("a text takes what is written");
    }

    /// Removes a variable, and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// Names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
