//! What is wrong in a text, and where.
//!
//! Must not know which file it is. Invariant: what is wrong is told in one line, without its place.

use std::fmt;

use serde::de;

use crate::At;

/// Why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// Where.
    pub at: At,
    /// What is wrong. It may quote the text.
    pub what: String,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.what)
    }
}

impl std::error::Error for YamlError {}

impl YamlError {
    /// What the parser refused.
    pub(crate) fn of_parser(error: &serde_saphyr::Error) -> YamlError {
        let plain = error.without_snippet();
        let told = plain.render_with_formatter(&serde_saphyr::UserMessageFormatter);
        let line = told.lines().next().unwrap_or_default();
        let what = line
            .rsplit_once(" at line ")
            .map_or(line, |(what, _)| what)
            .trim_end_matches([' ', ':', ';', ',']);
        let what = match what.split_once(": ") {
            Some((place, rest)) if place.starts_with("line ") => rest,
            _ => what,
        };
        let place = error.location().filter(|place| place.line() > 0);
        YamlError {
            at: place.map_or(At::START, At::of),
            what: what.to_owned(),
        }
    }
}

/// A refusal on its way out of the tree: the innermost node that it passes gives it its place.
#[derive(Debug)]
pub(crate) struct Refusal {
    at: Option<At>,
    what: String,
}

impl Refusal {
    pub(crate) fn new(what: impl Into<String>) -> Refusal {
        Refusal {
            at: None,
            what: what.into(),
        }
    }

    /// The refusal at this place, unless it has one.
    pub(crate) fn or_at(self, at: At) -> Refusal {
        Refusal {
            at: self.at.or(Some(at)),
            ..self
        }
    }

    pub(crate) fn into_error(self) -> YamlError {
        YamlError {
            at: self.at.unwrap_or(At::START),
            what: in_one_line(&self.what),
        }
    }
}

/// The text with its line ends and other control characters written as escapes: a message that quotes a file stays one
/// line.
#[must_use]
pub fn in_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() {
            line.extend(char.escape_debug());
        } else {
            line.push(char);
        }
    }
    line
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Refusal {}

impl de::Error for Refusal {
    fn custom<T: fmt::Display>(what: T) -> Refusal {
        Refusal::new(what.to_string())
    }
}
