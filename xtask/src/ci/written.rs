//! Steps for texts besides the code: the documentation as a book, workflows, and the installation script.
//!
//! Must not know their content. Invariant: a check that was not made is reported with the reason.

use std::path::PathBuf;
use std::process::Command;

use super::Outcome;
use crate::workspace::root;
use crate::{Result, book, exec};

/// Scripts for any POSIX shell.
const SCRIPTS: [&str; 2] = ["install.sh", "xtask/documented.sh"];

/// Builds the book.
pub(super) fn book() -> Result<Outcome> {
    let why = "no mdbook: cargo install mdbook --locked";
    Ok(match book::build()? {
        Some(()) => Outcome::Passed,
        None => Outcome::Skipped(why.to_owned()),
    })
}

/// Checks scripts and workflows.
pub(super) fn scripts() -> Result<Outcome> {
    for script in SCRIPTS {
        exec::run(here("sh".into()).args(["-n", script]))?;
    }
    let mut notes = Vec::new();
    match exec::find("shellcheck") {
        Some(program) => exec::run(here(program).args(SCRIPTS))?,
        None => notes.push("no shellcheck: apt-get install shellcheck"),
    }
    match exec::find("actionlint") {
        Some(program) => exec::run(&mut here(program))?,
        None => notes
            .push("no actionlint: go install github.com/rhysd/actionlint/cmd/actionlint@latest"),
    }
    Ok(match notes.is_empty() {
        true => Outcome::Passed,
        false => Outcome::Skipped(notes.join("; ")),
    })
}

fn here(program: PathBuf) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}
