//! `completion`: a script with which a shell completes the command line.
//!
//! Must not know any option: commands and flags come from their declarations. Invariant: every completion can
//! be parsed.

use clap::ValueEnum;
use clap_complete::Shell;
use loadline_model::ExitCode;

use super::tree;
use crate::Ending;
use crate::k6::{Identity, K6Error};

/// Runs the command under the name `k6`, where the shell is the only argument.
///
/// # Errors
/// No such shell; exit code 255.
pub(super) fn of_words(words: &[String]) -> Result<ExitCode, K6Error> {
    let word = words.first().map_or("", String::as_str);
    let shell = Shell::from_str(word, true).map_err(|_| {
        K6Error::other(format!(
            "completion needs a shell: bash, zsh, fish or powershell, got {word:?}"
        ))
    })?;
    Ok(run(Identity::K6, shell))
}

/// Prints the script for a shell.
pub(super) fn run(identity: Identity, shell: Shell) -> ExitCode {
    Ending::answer(script(identity, shell)).tell()
}

fn script(identity: Identity, shell: Shell) -> String {
    let mut command = tree::of(identity);
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut command, identity.program(), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHELLS: [Shell; 4] = [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell];

    #[test]
    fn every_shell_is_told_of_every_command_and_flag() {
        for shell in SHELLS {
            for identity in [Identity::Loadline, Identity::K6] {
                let script = script(identity, shell);
                for word in ["summary-trend-stats", "inspect", "execution-requirements"] {
                    assert!(script.contains(word), "{shell}: {word}");
                }
            }
            let own = script(Identity::Loadline, shell);
            for word in ["bench", "capacity", "threshold", "bombardier"] {
                assert!(own.contains(word), "{shell}: {word}");
            }
        }
    }

    #[test]
    fn a_shell_that_is_none_is_refused() {
        let refused = of_words(&["tcsh".to_owned()]).expect_err("no such shell");
        assert_eq!(refused.code, ExitCode::Other);
    }
}
