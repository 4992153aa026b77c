//! Errors with a cluster: what went wrong, who has to act, and the next step.
//!
//! Must not know secrets: callers keep them out of the text. Invariant: the text alone tells what was expected,
//! what was found, and the next step.

use std::fmt;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error, described in one or two sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    text: String,
}

/// The kind of error: who has to act, and whether a retry makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// An invalid request of the user: a wrong name, a change without a named context.
    User,
    /// An invalid configuration file, certificate or credential program.
    Config,
    /// The cluster does not respond.
    Unreachable,
    /// The cluster does not accept the credentials (401).
    Unauthorized,
    /// The user lacks the permission (403).
    Forbidden,
    /// It does not exist (404).
    NotFound,
    /// It was changed or is owned by someone else (409).
    Conflict,
    /// The requested history is no longer available (410): list again.
    Gone,
    /// The cluster refuses the request (other 4xx).
    Refused,
    /// The cluster is overloaded or broken (429, 5xx).
    Unavailable,
    /// The response violates the API, or is too large.
    Answer,
}

impl Error {
    /// An error of a kind with its text.
    #[must_use]
    pub fn new(kind: ErrorKind, text: impl Into<String>) -> Error {
        Error {
            kind,
            text: text.into(),
        }
    }

    pub(crate) fn user(text: impl Into<String>) -> Error {
        Error::new(ErrorKind::User, text)
    }

    pub(crate) fn config(text: impl Into<String>) -> Error {
        Error::new(ErrorKind::Config, text)
    }

    pub(crate) fn answer(text: impl Into<String>) -> Error {
        Error::new(ErrorKind::Answer, text)
    }

    /// What kind of error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether it does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.kind == ErrorKind::NotFound
    }

    /// Whether the same call may succeed later without any action.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self.kind, ErrorKind::Unreachable | ErrorKind::Unavailable)
    }

    /// The same error with a prefix.
    #[must_use]
    pub fn while_doing(self, what: &str) -> Error {
        Error {
            text: format!("{what}: {}", self.text),
            ..self
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

/// Foreign text: quoted, escaped and truncated for a line.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN_MAX: usize = 200;
    let cut: String = text.chars().take(SHOWN_MAX).collect();
    match cut.len() == text.len() {
        true => format!("{cut:?}"),
        false => format!("{cut:?}…"),
    }
}
