//! A suite as described by its file.
//!
//! Must not know what is done with it. Invariant: every error has line, column and a fix.

mod check;
mod fields;
mod foreign;
mod schema;
#[cfg(test)]
mod schema_tests;
mod substitute;
mod suite;
mod table;
mod tables;
#[cfg(test)]
mod tests;

pub use fields::Fields;
pub use schema::schema;
pub use substitute::{Meaning, names_of, substitute, substitute_text};
pub use suite::{
    Axis, AxisValue, GroupSpec, HookNodes, KubernetesTarget, Order, Policy, RowSpec, SuiteFile,
    Target,
};
pub(crate) use suite::{hooks, words};
pub use table::{KeyType, Keys, Object};
pub(crate) use tables::{
    EXEC, EXECUTOR, GATES, HOOK, HTTP, KUBERNETES, PHASES, SCRIPT, SETTINGS, SMOKE, TESTBED, WAIT,
    WAIT_CPU, WAIT_HTTP, WAIT_LOG, WAIT_PROMETHEUS, WAIT_REPLICAS,
};

use std::fmt;

use loadline_yaml::YamlError;
pub use loadline_yaml::{At, Entry, Node, Value};

/// What is wrong at a position of a file, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub at: At,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub fix: String,
}

impl Problem {
    /// A problem at a position.
    pub fn new(at: At, what: impl Into<String>, fix: impl Into<String>) -> Problem {
        Problem {
            at,
            what: what.into(),
            fix: fix.into(),
        }
    }

    /// The problem as an error of a file.
    #[must_use]
    pub fn of(self, file: &str) -> FileError {
        FileError {
            file: file.to_owned(),
            problem: self,
        }
    }
}

impl Problem {
    /// What the reader of the tree refused.
    pub(crate) fn of_yaml(error: YamlError, fix: &str) -> Problem {
        Problem::new(error.at, error.what, fix)
    }
}

/// An error in a suite file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The file as it was named.
    pub file: String,
    /// What is wrong with it.
    pub problem: Problem,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { at, what, fix } = &self.problem;
        let what = loadline_yaml::in_one_line(what);
        write!(f, "{}:{}:{}: {what}; {fix}", self.file, at.line, at.column)
    }
}

impl std::error::Error for FileError {}
