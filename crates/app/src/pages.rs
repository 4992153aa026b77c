//! The HTML report as a file.
//!
//! Must not know the content of a page. Invariant: at every instant the file contains either a complete page or
//! what was there before.

use std::path::Path;

use loadline_model::RunResult;
use loadline_output::files;
use loadline_report::html;

/// Writes the report of a result to a file.
///
/// # Errors
/// Why it cannot be written, with the file's name.
pub(crate) fn save(path: &str, result: &RunResult) -> Result<(), String> {
    files::replace(Path::new(path), html::report(result))
        .map_err(|error| format!("cannot write {path}: {error}; name another file"))
}
