//! A result as JSON, in a file or on standard output.
//!
//! Must not know the command. Invariant: the file is either complete or unchanged.

use std::path::Path;

use loadline_model::ExitCode;
use loadline_output::files;
use serde::Serialize;

use crate::Ending;
use crate::terminal::print;

/// Writes the output of `--json`; `-` is standard output.
///
/// # Errors
/// It cannot be written; the message names option and path.
pub(in crate::commands) fn save_json(path: &str, answer: &impl Serialize) -> Result<(), Ending> {
    let failed = |why: String| {
        let text = format!("--json: cannot write {path}: {why}");
        Ending::refusal(ExitCode::Other, &text)
    };
    let mut text =
        serde_json::to_string_pretty(answer).map_err(|error| failed(error.to_string()))?;
    text.push('\n');
    let written = match path {
        "-" => print::to_stdout(&text),
        path => files::replace(Path::new(path), text),
    };
    written.map_err(|error| failed(error.to_string()))
}
