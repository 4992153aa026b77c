//! The tree of commands with all their flags, as clap has it: the base of completions and man pages.
//!
//! Must not know what is made from it. Invariant: every flag in it can be parsed.

use clap::{Arg, ArgAction, Command, CommandFactory, ValueHint};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::cli::script::ScriptCommand;
use crate::dialect::pflag::{Flag, Kind};
use crate::k6::Identity;

/// All commands with their flags; the flags of script commands come from k6's tables.
pub(super) fn of(identity: Identity) -> Command {
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
        .about("Run a k6 command line (k6 2.2 and 1.x)")
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

    #[test]
    fn the_trees_are_sound() {
        of(Identity::Loadline).debug_assert();
        of(Identity::K6).debug_assert();
    }
}
