//! Errors of the file system in Go's words.
//!
//! Must not know which tool speaks. Invariant: the texts are those that people grep for.

use std::io::ErrorKind;

use crate::FileError;

/// A failure to read a file, as Go tells it.
pub(crate) fn file_error(failure: &FileError) -> String {
    let FileError { path, error } = failure;
    match error.kind() {
        ErrorKind::NotFound => format!("open {path}: no such file or directory"),
        ErrorKind::PermissionDenied => format!("open {path}: permission denied"),
        ErrorKind::IsADirectory => format!("read {path}: is a directory"),
        _ => format!("read {path}: {error}"),
    }
}
