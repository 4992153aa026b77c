//! JSONPath in the dialect of Jayway, which JMeter's JSON extractor and assertion use.
//!
//! Source: Jayway JsonPath 2.8.0, observed; `tests/json_path/` holds its results for 400 paths. Must not know
//! elements. Invariant: evaluating a compiled path on any document does not panic.
//!
//! Known differences: patterns (`=~`) are Perl's as in ORO, not Java's; `append()` returns the original array.

mod compile;
mod filter;
mod functions;
mod walk;

use std::ops::Deref;

use crate::json::Json;
use filter::Filter;

/// A compiled path.
#[derive(Clone, Debug)]
pub struct JsonPath {
    /// Whether it starts at the document (`$`) instead of a filter's current value (`@`).
    from_root: bool,
    steps: Vec<Step>,
}

/// One step of a path.
#[derive(Clone, Debug)]
enum Step {
    /// `.name`, `['name']`, `['a','b']`; with the quote used in messages.
    Names(Vec<String>, char),
    /// `[0]`, `[0,-1]`.
    Indices(Vec<i64>),
    /// `[1:3]`.
    Slice(Option<i64>, Option<i64>),
    /// `*`.
    Wildcard,
    /// `..`.
    Scan,
    /// `[?(…)]`.
    Filter(Box<Filter>),
    /// `.name(…)`.
    Function(String, Vec<Argument>),
}

/// An argument of a function.
#[derive(Clone, Debug)]
enum Argument {
    Path(JsonPath),
    Value(Json),
}

/// Why a path has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathFault {
    /// It does not exist in the document.
    NotFound(String),
    /// The path cannot be evaluated.
    Failed(String),
}

/// A value found by a path.
#[derive(Clone, Debug)]
pub(crate) enum Found<'j> {
    /// It is part of the document.
    Within(&'j Json),
    /// It was made by a function or by selecting members.
    Made(Json),
}

impl Found<'_> {
    pub(crate) fn into_owned(self) -> Json {
        match self {
            Found::Within(value) => value.clone(),
            Found::Made(value) => value,
        }
    }
}

impl Deref for Found<'_> {
    type Target = Json;

    fn deref(&self) -> &Json {
        match self {
            Found::Within(value) => value,
            Found::Made(value) => value,
        }
    }
}

impl PathFault {
    pub(crate) fn into_message(self) -> String {
        match self {
            PathFault::NotFound(message) | PathFault::Failed(message) => message,
        }
    }
}

impl JsonPath {
    /// Compiles a path.
    ///
    /// # Errors
    /// It is invalid; in Jayway's words.
    pub fn compile(text: &str) -> Result<JsonPath, String> {
        compile::compile(text, 0)
    }

    /// Whether it has at most one result.
    pub(crate) fn is_definite(&self) -> bool {
        self.steps_are_definite(self.steps.len())
    }

    /// Whether the whole path up to this step has at most one result.
    fn steps_are_definite(&self, count: usize) -> bool {
        (0..count).all(|index| self.step_is_definite(index))
    }

    fn step_is_definite(&self, index: usize) -> bool {
        match &self.steps[index] {
            Step::Names(names, _) => names.len() == 1 || index + 1 == self.steps.len(),
            Step::Indices(indices) => indices.len() == 1,
            Step::Function(..) => true,
            Step::Slice(..) | Step::Wildcard | Step::Scan | Step::Filter(_) => false,
        }
    }

    fn is_function(&self) -> bool {
        matches!(self.steps.last(), Some(Step::Function(..)))
    }

    /// All results as a list, which is empty if nothing is found.
    ///
    /// # Errors
    /// The path cannot be evaluated; one that ends in a function never can, since a list is requested.
    pub(crate) fn find_all<'j>(&self, document: &'j Json) -> Result<Vec<Found<'j>>, String> {
        if self.is_function() {
            return Err(
                "Options AS_PATH_LIST and ALWAYS_RETURN_LIST are not allowed when using path functions!".to_owned(),
            );
        }
        match self.walk(document, document, false) {
            Ok(found) => Ok(found),
            Err(PathFault::NotFound(_)) => Ok(Vec::new()),
            Err(PathFault::Failed(message)) => Err(message),
        }
    }

    /// The result: a value for a definite path, otherwise a list.
    ///
    /// # Errors
    /// There is no result, or the path cannot be evaluated.
    pub(crate) fn find<'j>(&self, document: &'j Json) -> Result<Found<'j>, PathFault> {
        self.value(document, document, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares results of paths with those of Jayway, one per line.
    fn replay(golden: &str, say: impl Fn(&JsonPath, &Json) -> String) {
        let mut document = Json::Null;
        let mut different = Vec::new();
        for line in golden.lines() {
            let (path, expected) = line.split_once('\t').expect("path and outcome");
            if path == "doc" {
                document = Json::read(expected).expect("a document");
                continue;
            }
            let said = match JsonPath::compile(path) {
                Ok(compiled) => say(&compiled, &document),
                Err(message) => format!("bad\t{message}"),
            };
            let said = said.replace('\n', "␤").replace('\t', "␉");
            if said != expected.replace('\t', "␉") {
                different.push(format!("{path}\n  {said}\n  not {expected}"));
            }
        }
        let count = different.len();
        assert!(
            different.is_empty(),
            "{count} differ:\n{}",
            different.join("\n")
        );
    }

    #[test]
    fn lists_are_those_of_jayway() {
        replay(
            include_str!("../tests/json_path/lists.tsv"),
            |path, document| match path.find_all(document) {
                Ok(found) => {
                    let texts = found
                        .iter()
                        .map(|one| one.extracted().unwrap_or_else(|| "∅".to_owned()));
                    format!("{}\t{}", found.len(), texts.collect::<Vec<_>>().join(" ; "))
                }
                Err(_) => "fails".to_owned(),
            },
        );
    }

    #[test]
    fn values_and_messages_are_those_of_jayway() {
        replay(
            include_str!("../tests/json_path/values.tsv"),
            |path, document| match path.find(document) {
                Ok(found) => format!("value\t{}", found.asserted()),
                Err(fault) => format!("fails\t{}", fault.into_message()),
            },
        );
    }
}
