//! File system errors in Go's words.
//!
//! Must not know which tool is imitated. Invariant: the texts are those for which users search.

use std::io::{self, ErrorKind};

use crate::FileError;

/// A failure to read a file, in Go's words.
pub(crate) fn file_error(failure: &FileError) -> String {
    let FileError { path, error } = failure;
    match error.kind() {
        ErrorKind::NotFound => format!("open {path}: no such file or directory"),
        ErrorKind::PermissionDenied => format!("open {path}: permission denied"),
        ErrorKind::IsADirectory => format!("read {path}: is a directory"),
        _ => format!("read {path}: {error}"),
    }
}

/// A failure to open a file for writing, in Go's words.
pub(crate) fn open_error(path: &str, error: &io::Error) -> String {
    let why = match error.kind() {
        ErrorKind::NotFound => "no such file or directory",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::IsADirectory => "is a directory",
        ErrorKind::NotADirectory => "not a directory",
        _ => return format!("open {path}: {error}"),
    };
    format!("open {path}: {why}")
}
