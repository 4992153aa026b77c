//! `completion`: a script that makes a shell complete the command line.
//!
//! Must not know an option: commands and flags come from their declarations. Invariant: what is completed can be
//! parsed.

use clap::{Arg, ArgAction, Command, CommandFactory, ValueEnum, ValueHint};
use clap_complete::Shell;
use loadline_model::ExitCode;

use crate::cli::Cli;
use crate::cli::script::ScriptCommand;
use crate::dialect::pflag::{Flag, Kind};
use crate::k6::{Identity, K6Error};
use crate::terminal::print;

/// Runs the command under the name `k6`, where the shell is the only word.
///
/// # Errors
/// No such shell; exit code 255.
pub(super) fn of_words(words: &[String]) -> Result<ExitCode, K6Error> {
    let word = words.first().map_or("", String::as_str);
    let shell = Shell::from_str(word, true).map_err(|_| {
        K6Error::other(format!(
            "completion wants a shell: bash, zsh, fish or powershell, got {word:?}"
        ))
    })?;
    Ok(run(Identity::K6, shell))
}

/// Prints the script for a shell.
pub(super) fn run(identity: Identity, shell: Shell) -> ExitCode {
    // A reader that went away has seen all that it wanted.
    let _ = print::to_stdout(&script(identity, shell));
    ExitCode::Ok
}

fn script(identity: Identity, shell: Shell) -> String {
    let mut command = tree(identity);
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut command, identity.program(), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// All commands with their flags; those around a script have theirs from k6's tables.
fn tree(identity: Identity) -> Command {
    match identity {
        Identity::K6 => k6(),
        Identity::Loadline => {
            let known = ScriptCommand::ALL.into_iter().map(around_script);
            let commands = known.chain([k6()]);
            commands.fold(Cli::command(), |tree, command| {
                let name = command.get_name().to_owned();
                tree.mut_subcommand(name, |_| command)
            })
        }
    }
}

fn k6() -> Command {
    let shell = Arg::new("shell").value_parser(clap::value_parser!(Shell));
    Command::new("k6")
        .about("The command line of k6 2.2 (and of 1.x)")
        .subcommands(ScriptCommand::ALL.map(around_script))
        .subcommand(Command::new("completion").arg(shell))
}

fn around_script(command: ScriptCommand) -> Command {
    let flags = command.flags().into_iter().flat_map(|(_, flags)| flags);
    let built = Command::new(command.name())
        .about(command.about())
        .args(flags.map(argument));
    match command.operand() {
        "" => built,
        operand => built.arg(
            Arg::new("operand")
                .value_name(operand)
                .value_hint(ValueHint::FilePath),
        ),
    }
}

fn argument(flag: &Flag) -> Arg {
    let argument = Arg::new(flag.long).long(flag.long).help(flag.help);
    let argument = match flag.short {
        Some(short) => argument.short(short),
        None => argument,
    };
    match flag.kind {
        Kind::Switch => argument.action(ArgAction::SetTrue),
        Kind::MaybeText(_) => argument.num_args(0..=1).value_name(flag.value),
        _ => argument
            .action(ArgAction::Append)
            .value_name(flag.value)
            .value_hint(match flag.value {
                "FILE" => ValueHint::FilePath,
                "DIR" => ValueHint::DirPath,
                _ => ValueHint::Unknown,
            }),
    }
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
    fn the_trees_are_sound() {
        tree(Identity::Loadline).debug_assert();
        tree(Identity::K6).debug_assert();
    }

    #[test]
    fn a_shell_that_is_none_is_refused() {
        let refused = of_words(&["tcsh".to_owned()]).expect_err("no such shell");
        assert_eq!(refused.code, ExitCode::Other);
    }
}
