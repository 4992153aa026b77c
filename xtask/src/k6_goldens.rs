//! `cargo xtask k6-goldens`: records the behaviour of the real k6, with which the differential suite is
//! compared.
//!
//! Must not know scripts or what is observed: the suite records itself, so that both tools are observed by the
//! same code. Invariant: nothing is recorded without a k6 of the suite's version.

use crate::workspace::{self, root};
use crate::{Result, exec};

const USAGE: &str = "k6-goldens: usage: cargo xtask k6-goldens [--only PATTERN]";

/// Writes the golden files of all scripts, or of those whose `topic/name` contains a pattern.
///
/// # Errors
/// Bad arguments, no k6, or a script whose two runs under k6 differ.
pub(crate) fn command(arguments: &[String]) -> Result<()> {
    let only = only(arguments).ok_or(USAGE)?;
    let peer = exec::find("k6")
        .ok_or("k6-goldens: no k6: install it, or name its folder in LOADLINE_PEERS")?;
    let binary = workspace::release_binary()?;
    let mut command = exec::cargo(root(), &["run", "--package", "loadline-e2e"]);
    command
        .args(["--bin", "k6_goldens", "--"])
        .arg(peer)
        .arg(only)
        .env("LOADLINE_BIN", binary);
    exec::run(&mut command)
}

/// The pattern of what is to be recorded, empty for all; `None`: invalid arguments.
pub(crate) fn only(arguments: &[String]) -> Option<&str> {
    match arguments {
        [] => Some(""),
        [flag, pattern] if flag == "--only" => Some(pattern),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn one_pattern_or_none() {
        assert_eq!(only(&[]), Some(""));
        assert_eq!(only(&words("--only http/get")), Some("http/get"));
        for line in ["--only", "http", "--only a b"] {
            assert!(only(&words(line)).is_none(), "{line} was accepted");
        }
    }
}
