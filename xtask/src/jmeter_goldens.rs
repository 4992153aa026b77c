//! `cargo xtask jmeter-goldens`: records the behaviour of the real JMeter, with which the suite of plans is
//! compared.
//!
//! Must not know plans or what is observed: the suite records itself, so that both tools are observed by the
//! same code. Invariant: nothing is recorded without a JMeter of the suite's version.

use crate::workspace::root;
use crate::{Result, exec, k6_goldens};

/// Writes the golden files of all plans, or of those whose name contains a pattern.
///
/// # Errors
/// Bad arguments, or no JMeter.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    let only = k6_goldens::only(arguments)
        .ok_or("jmeter-goldens: usage: cargo xtask jmeter-goldens [--only PATTERN]")?;
    let peer = exec::find("jmeter")
        .ok_or("jmeter-goldens: no jmeter: install it, or name its folder in LOADLINE_PEERS")?;
    let mut command = exec::cargo(root(), &["run", "--package", "loadline-e2e"]);
    command
        .args(["--bin", "jmeter_goldens", "--"])
        .arg(peer)
        .arg(only);
    exec::run(&mut command)
}
