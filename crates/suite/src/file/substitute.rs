//! `${env.X}`, `${axis.NAME}`, `${label.X}`, `${target.url}` and `${secret.NAME}` in texts.
//!
//! Must not know where values come from. Invariant: what is not substituted stays as written; `$${` means `${`.

use super::Problem;
use super::{At, Entry, Node, Value};

/// The value of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// This text.
    Text(String),
    /// Not known yet: it stays as it is.
    Later,
    /// Nothing; the text says what to do.
    Unknown(String),
}

/// Substitutes in every text of a tree.
///
/// # Errors
/// A name is unknown, or a brace is not closed.
pub fn substitute(node: &Node, meaning: &dyn Fn(&str) -> Meaning) -> Result<Node, Problem> {
    let value = match &node.value {
        Value::Text(text) => Value::Text(substitute_text(text, node.at, meaning)?),
        Value::List(items) => {
            let filled: Result<Vec<Node>, Problem> =
                items.iter().map(|item| substitute(item, meaning)).collect();
            Value::List(filled?)
        }
        Value::Map(entries) => {
            let filled: Result<Vec<Entry>, Problem> = entries
                .iter()
                .map(|entry| {
                    Ok(Entry {
                        node: substitute(&entry.node, meaning)?,
                        ..entry.clone()
                    })
                })
                .collect();
            Value::Map(filled?)
        }
        same => same.clone(),
    };
    Ok(Node { at: node.at, value })
}

/// Substitutes in one text at a position.
///
/// # Errors
/// As [`substitute`].
pub fn substitute_text(
    text: &str,
    at: At,
    meaning: &dyn Fn(&str) -> Meaning,
) -> Result<String, Problem> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, tail) = rest.split_at(start);
        filled.push_str(before);
        if before.ends_with('$') {
            // Both dollars stay until the last filling, which takes one away; what follows is no name.
            filled.push_str("${");
            rest = &tail[2..];
            continue;
        }
        let Some(end) = tail.find('}') else {
            let fix = "close it with }, or write $${ for the signs themselves";
            return Err(Problem::new(
                at,
                format!("{text:?} has ${{ without }}"),
                fix,
            ));
        };
        let (hole, behind) = tail.split_at(end + 1);
        match meaning(&hole[2..end]) {
            Meaning::Text(value) => filled.push_str(&value),
            Meaning::Later => filled.push_str(hole),
            Meaning::Unknown(fix) => {
                return Err(Problem::new(at, format!("{hole} means nothing here"), fix));
            }
        }
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// The names between `${` and `}` of a text, such as `env.TOKEN`.
pub fn names_of(text: &str) -> impl Iterator<Item = &str> {
    text.split("${")
        .skip(1)
        .filter_map(|tail| tail.split('}').next())
}
