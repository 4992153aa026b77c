//! `cargo xtask situations`: runs the staged situations and scores the verdict on each.
//!
//! Must not know the situations or the statements about them: the suite judges itself. Invariant: it ends with
//! an error unless the score is good enough.

use crate::workspace::{self, root};
use crate::{Result, exec};

/// Runs them with the binary named by `LOADLINE_BIN`, otherwise with the release binary.
///
/// # Errors
/// Bad arguments, no binary, or a score that is too low.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    let binary = match std::env::var_os("LOADLINE_BIN") {
        Some(named) => named.into(),
        None => workspace::release_binary()?,
    };
    let mut command = exec::cargo(root(), &["run", "--package", "loadline-e2e"]);
    command
        .args(["--bin", "situations", "--"])
        .args(arguments)
        .env("LOADLINE_BIN", binary);
    exec::run(&mut command)
}
