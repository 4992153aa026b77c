//! What went wrong with a cluster, who is at fault, and what to do about it.
//!
//! Must not know secrets: whoever makes an error keeps them out of its text. Invariant: the text alone tells the user
//! what was wanted, what was found, and the next step.

use std::fmt;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error, told in one sentence or two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    text: String,
}

/// What kind of error: whom to tell, and whether to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The user asked for something that cannot be: a wrong name, a change without a named context.
    User,
    /// A configuration file, certificate or credential program cannot be used.
    Config,
    /// The cluster does not answer.
    Unreachable,
    /// The cluster does not know who asks (401).
    Unauthorized,
    /// Who asks may not (403).
    Forbidden,
    /// There is no such thing (404).
    NotFound,
    /// Somebody else changed it, or owns it (409).
    Conflict,
    /// The history that was asked for is no longer kept (410): list anew.
    Gone,
    /// The cluster refuses what it was sent (other 4xx).
    Refused,
    /// The cluster has too much to do or is broken (429, 5xx).
    Unavailable,
    /// The answer is not what the API promises, or too large.
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

    /// Whether there is no such thing.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.kind == ErrorKind::NotFound
    }

    /// Whether the same call may succeed later without anybody doing something about it.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self.kind, ErrorKind::Unreachable | ErrorKind::Unavailable)
    }

    /// The same error with words before it.
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

/// What came from outside, in quotes, escaped and cut to a length that a line can hold.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN_MAX: usize = 200;
    let cut: String = text.chars().take(SHOWN_MAX).collect();
    match cut.len() == text.len() {
        true => format!("{cut:?}"),
        false => format!("{cut:?}…"),
    }
}
