//! YAML, and so JSON, as one tree whose nodes know where they stand; every type is read from that tree.
//!
//! Must not know what keys mean, nor where a text comes from. Invariant: the YAML parser is instantiated for the tree
//! alone, and every error has the place that is to blame.

mod de;
mod error;
mod node;
mod parse;
mod placed;
#[cfg(test)]
mod tests;

pub use error::{YamlError, in_one_line};
pub use node::{At, Entry, Node, Value};
pub use placed::Placed;

use serde::de::DeserializeOwned;

/// Reads a value from a text of one document.
///
/// # Errors
/// The text is no YAML, or says something that the type has no room for.
pub fn from_str<T: DeserializeOwned>(source: &str) -> Result<T, YamlError> {
    Node::parse(source)?.read()
}
