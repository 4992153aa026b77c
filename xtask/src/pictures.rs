//! `cargo xtask pictures`: retakes the pictures of pages, those with which tests compare pages and that of the
//! README.
//!
//! Must not know pages: the end-to-end tests take the pictures, so that the same code makes and compares them.
//! Invariant: the shown results are stored ones.

use std::path::PathBuf;

use crate::workspace::{self, root};
use crate::{Result, exec};

/// Takes the pictures with the release binary, or with the one that `LOADLINE_BIN` names.
///
/// # Errors
/// Bad arguments, a failed build, or no browser.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    if !arguments.is_empty() {
        return Err("pictures: usage: cargo xtask pictures".to_owned());
    }
    let binary = match std::env::var_os("LOADLINE_BIN") {
        Some(binary) => PathBuf::from(binary),
        None => workspace::release_binary()?,
    };
    let words = ["run", "--package", "loadline-e2e", "--bin", "pictures"];
    exec::run(exec::cargo(root(), &words).env("LOADLINE_BIN", binary))
}
