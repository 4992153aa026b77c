//! A result as JSON, in a file or on standard output.
//!
//! Must not know the command. Invariant: the file is either complete or unchanged.

use std::fs;
use std::path::Path;

use loadline_model::ExitCode;
use loadline_output::files;
use serde::Serialize;

use crate::Ending;
use crate::terminal::print;

/// Writes what is known while the command goes on, so that it outlives the process. Standard output, devices and
/// pipes get the end alone. The command goes on without it: the end is written again.
pub(in crate::commands) fn keep_json(path: Option<&str>, answer: &impl Serialize) {
    let Some(path) = path.filter(|path| can_be_replaced(Path::new(path))) else {
        return;
    };
    if let Err(ending) = save_json(path, answer) {
        print::to_stderr(&ending.err);
    }
}

/// Whether what is written to a path later takes the place of what is written now.
pub(in crate::commands) fn can_be_replaced(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(known) => known.is_file(),
        Err(_) => path != Path::new("-"),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_kept_in_files_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("answer.json");
        let text = path.to_str().expect("text");
        for known in [1, 2] {
            keep_json(Some(text), &known);
            let kept = fs::read_to_string(&path).expect("it was written");
            assert_eq!(kept, format!("{known}\n"));
        }
        for stream in ["-", "/dev/null", "/dev/zero"] {
            assert!(!can_be_replaced(Path::new(stream)), "{stream}");
        }
        keep_json(None, &3);
    }
}
