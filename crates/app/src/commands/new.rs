//! `new`: writes a first script.
//!
//! Must not know how scripts run. Invariant: an existing file is only overwritten on request.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};

use loadline_model::ExitCode;

use crate::dialect::go_text;
use crate::k6::{K6Error, K6Invocation};
use crate::terminal::print;

/// One scenario of requests, with a check.
const MINIMAL: &str = include_str!("../k6/templates/minimal.js");
/// Several scenarios, groups, thresholds and data.
const PROTOCOL: &str = include_str!("../k6/templates/protocol.js");

/// Runs the command.
///
/// # Errors
/// There is no such template, or the file exists or cannot be written; exit code 255.
pub(super) fn run(invocation: &K6Invocation) -> Result<ExitCode, K6Error> {
    let path = &invocation.script;
    let (template, text) = template(&invocation.template)?;
    let mut how = OpenOptions::new();
    how.write(true);
    match invocation.force {
        true => how.create(true).truncate(true),
        false => how.create_new(true),
    };
    let written = how
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => K6Error::other(format!(
            "{path} already exists. Use the `--force` flag to overwrite it"
        )),
        _ => K6Error::other(go_text::open_error(path, &error)),
    })?;
    let told = format!("New script created: {path} ({template} template).\n");
    // A reader that closed the stream has seen what it wanted.
    let _ = print::to_stdout(&told);
    Ok(ExitCode::Ok)
}

/// The name of a template and its text; a name with a slash or a dot is a file.
fn template(name: &str) -> Result<(String, String), K6Error> {
    let builtin = match name {
        "" | "minimal" => Some(("minimal", MINIMAL)),
        "protocol" => Some(("protocol", PROTOCOL)),
        "browser" => {
            return Err(K6Error::other(
                "the template browser needs k6/browser, which is not supported here",
            ));
        }
        _ => None,
    };
    if let Some((name, text)) = builtin {
        return Ok((name.to_owned(), text.to_owned()));
    }
    if !name.contains(['/', '.']) {
        let message = format!("error retrieving template: invalid template type {name:?}");
        return Err(K6Error::other(message));
    }
    match fs::read_to_string(name) {
        Ok(text) => Ok((name.to_owned(), text)),
        Err(error) => Err(K6Error::other(format!(
            "error retrieving template: failed to read template file {name}: {error}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_by_name_and_by_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("own.js");
        fs::write(&file, "// own").expect("writable");
        let named = file.to_str().expect("plain text");
        assert_eq!(template(named).expect("a file").1, "// own");
        assert_eq!(template("").expect("the default").0, "minimal");
        for name in ["browser", "foo", "./nowhere.js"] {
            assert_eq!(template(name).expect_err(name).code, ExitCode::Other);
        }
    }
}
