//! JSONPath in the dialect of Jayway, which JMeter's JSON extractor and assertion speak.
//!
//! Source: Jayway JsonPath 2.8.0, observed; `tests/json_path/` holds what it does with 400 paths. Must not know
//! elements. Invariant: a path that was read is walked without a panic over any document.
//!
//! Known differences: patterns (`=~`) are Perl's as ORO reads them, not Java's; `append()` gives the array as it was.

mod compile;
mod filter;
mod functions;
mod walk;

use std::ops::Deref;

use crate::json::Json;
use filter::Filter;

/// A path that was read.
#[derive(Clone, Debug)]
pub struct JsonPath {
    /// Whether it starts at the document (`$`), not at the value that a filter looks at (`@`).
    from_root: bool,
    steps: Vec<Step>,
}

/// One step of a path.
#[derive(Clone, Debug)]
enum Step {
    /// `.name`, `['name']`, `['a','b']`; with the quote that messages show.
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

/// What a function is given.
#[derive(Clone, Debug)]
enum Argument {
    Path(JsonPath),
    Value(Json),
}

/// Why a path gives nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathFault {
    /// The document has nothing there.
    NotFound(String),
    /// The path cannot be walked.
    Failed(String),
}

/// A value that a path leads to.
#[derive(Clone, Debug)]
pub(crate) enum Found<'j> {
    /// It stands in the document.
    Within(&'j Json),
    /// A function or a choice of members made it.
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
    /// Reads a path.
    ///
    /// # Errors
    /// Why it is none, in Jayway's words.
    pub fn compile(text: &str) -> Result<JsonPath, String> {
        compile::compile(text, 0)
    }

    /// Whether it leads to one place at most.
    pub(crate) fn is_definite(&self) -> bool {
        self.steps_are_definite(self.steps.len())
    }

    /// Whether the steps before this one, of the whole path, lead to one place at most.
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

    /// All that is found, as a list; what is not found is an empty one.
    ///
    /// # Errors
    /// The path cannot be walked; one that ends in a function never can, as a list was asked for.
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

    /// What is found: a value where the path is definite, a list of them where it is not.
    ///
    /// # Errors
    /// There is nothing, or the path cannot be walked.
    pub(crate) fn find<'j>(&self, document: &'j Json) -> Result<Found<'j>, PathFault> {
        self.value(document, document, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares what a path makes of a document with what Jayway made of it, a line each.
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
