//! Why a document cannot be made.
//!
//! Must not know how it is made. Invariant: every error says what to do.

use std::fmt;

use loadline_yaml::{At, Placed, in_one_line};

/// Why a document cannot be made, with the position in the suite file or in the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentError {
    /// The line, from one on; zero: unknown.
    pub line: u64,
    /// The column, from one on; zero: unknown.
    pub column: u64,
    /// Whether line and column are of the document itself rather than of the suite file.
    pub in_document: bool,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub fix: String,
}

impl DocumentError {
    pub(super) fn at<T>(place: &Placed<T>, what: String, fix: String) -> DocumentError {
        DocumentError::placed(place.at, what, fix)
    }

    pub(super) fn placed(place: Option<At>, what: String, fix: String) -> DocumentError {
        let place = place.unwrap_or_default();
        DocumentError {
            line: place.line,
            column: place.column,
            in_document: false,
            what,
            fix,
        }
    }

    pub(super) fn in_document(line: usize, what: String, fix: String) -> DocumentError {
        DocumentError {
            line: line as u64,
            column: u64::from(line > 0),
            in_document: true,
            what,
            fix,
        }
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}: ", self.line, self.column)?;
        }
        write!(f, "{}; {}", in_one_line(&self.what), self.fix)
    }
}

impl std::error::Error for DocumentError {}
