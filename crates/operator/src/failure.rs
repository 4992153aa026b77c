//! Why something failed, and for which test.
//!
//! Must not know the reaction. Invariant: the API's message is passed on in its own words.

use std::fmt;

use crate::test::Refusal;
use loadline_model::test_kind::TestKind;

/// Identifies a test by namespace and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) kind: TestKind,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// Why something could not be done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The API refuses it.
    Refused(Refusal),
    /// It may work later.
    Passing(String),
}

impl Failure {
    pub(crate) fn of(what: &str, error: &kube::Error) -> Failure {
        Failure::Passing(format!("{what}: {}", in_words(error)))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused(refusal) => write!(f, "{refusal}"),
            Failure::Passing(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Failure {}

/// An error of the API, without Rust's formatting.
pub(crate) fn in_words(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message.clone(),
        other => other.to_string(),
    }
}
