//! `cargo xtask dialect-goldens`: records the behaviour of the real hey and bombardier, with which their
//! dialects are compared.
//!
//! Must not know command lines. Invariant: nothing is recorded unless both tools are installed.

use crate::workspace::root;
use crate::{Result, exec};

const USAGE: &str = "dialect-goldens: usage: cargo xtask dialect-goldens";

/// Writes the golden files of both tools.
///
/// # Errors
/// Bad arguments, a missing tool, or a line whose two observations differ.
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
