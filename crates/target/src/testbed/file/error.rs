//! Errors in a testbed file, with their position.
//!
//! It must not know what a testbed is. Invariant: the text has the form `FILE:LINE:COLUMN: what is wrong; what
//! to do`.

use loadline_yaml::{At, Placed};
use std::fmt;
use std::path::PathBuf;

/// A mistake in a testbed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestbedFileError {
    /// The file.
    pub path: PathBuf,
    /// Line and column, each from 1; `None` when the mistake has no single place.
    pub place: Option<(u64, u64)>,
    /// What is wrong and what to write instead.
    pub problem: String,
}

impl fmt::Display for TestbedFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some((line, column)) = self.place {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.problem)
    }
}

impl std::error::Error for TestbedFileError {}

/// A mistake before it is known in which file.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) at: Option<At>,
    pub(super) text: String,
}

/// A mistake in a value.
pub(super) fn problem<T>(value: &Placed<T>, text: impl Into<String>) -> Problem {
    Problem {
        at: value.at,
        text: text.into(),
    }
}
