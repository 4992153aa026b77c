//! An answer as JSON, in a file or on standard output.
//!
//! Must not know what was asked. Invariant: a file is there whole, or what was there before.

use std::path::Path;

use loadline_model::ExitCode;
use loadline_output::files;
use serde::Serialize;

use crate::Ending;
use crate::terminal::print;

/// Writes what `--json` asks for; `-` is standard output.
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
