//! `cargo xtask dialect-goldens`: records from the real hey and bombardier what their dialects are held
//! against.
//!
//! Must not know command lines. Invariant: nothing is recorded unless both tools are there.

use crate::workspace::root;
use crate::{Result, exec};

const USAGE: &str = "dialect-goldens: usage: cargo xtask dialect-goldens";

/// Writes the golden files of both tools.
///
/// # Errors
/// Bad arguments, a tool that is missing, or a line that is not seen twice alike.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    if !arguments.is_empty() {
        return Err(USAGE.to_owned());
    }
    let peer = |name: &str| {
        exec::find(name).ok_or_else(|| {
            format!("dialect-goldens: no {name}: install it, or name its folder in LOADLINE_PEERS")
        })
    };
    let mut command = exec::cargo(root(), &["run", "--package", "loadline-e2e"]);
    command
        .args(["--bin", "dialect_goldens", "--"])
        .arg(peer("hey")?)
        .arg(peer("bombardier")?);
    exec::run(&mut command)
}
