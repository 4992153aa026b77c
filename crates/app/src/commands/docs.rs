//! The generated references.
//!
//! Must not know where they are stored. Invariant: everything comes from the declarations that the program
//! itself uses.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};
use loadline_model::ExitCode;
use loadline_suite::expression::figures::FIGURES;

use crate::cli::script::ScriptCommand;
use crate::cli::{Cli, InternalDocs};
use crate::dialect::pflag::Kind;

/// The text of a reference.
pub(super) fn print(reference: InternalDocs) -> String {
    match reference {
        InternalDocs::Cli => command_line(),
        InternalDocs::ExitCodes => exit_codes(),
        InternalDocs::Figures => figures(),
        InternalDocs::ResultSchema => include_str!("../../result.schema.json").to_owned(),
    }
}

fn exit_codes() -> String {
    let mut out = String::from("# Exit codes\n\n| code | meaning |\n|---|---|\n");
    for code in ExitCode::ALL {
        writeln!(out, "| {} | {} |", code.code(), code.meaning())
            .expect("writing to a string cannot fail");
    }
    out
}

fn figures() -> String {
    let mut out = String::from(
        "# Figures of a run\n\nNames for [expressions of documents](../document.md#expressions).\n\n\
         | figure | meaning |\n|---|---|\n",
    );
    for figure in FIGURES {
        writeln!(out, "| `run.{}` | {} |", figure.name, figure.what)
            .expect("writing to a string cannot fail");
    }
    out
}

fn command_line() -> String {
    let mut out = String::from("# Commands and options\n");
    let mut root = Cli::command();
    root.build();
    describe_below(&root, "loadline", &mut out).expect("writing to a string cannot fail");
    out
}

/// The subcommands of a command called `name`, each before its own subcommands.
fn describe_below(command: &Command, name: &str, out: &mut String) -> std::fmt::Result {
    let visible = |command: &&Command| !command.is_hide_set();
    for below in command.get_subcommands().filter(visible) {
        let name = format!("{name} {}", below.get_name());
        describe(below, &name, out)?;
        describe_below(below, &name, out)?;
    }
    Ok(())
}

fn describe(command: &Command, name: &str, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n## {name}\n")?;
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        writeln!(out, "{about}\n")?;
    }
    if let Some(script) = script_command(name) {
        describe_flags(script, out)?;
        return Ok(());
    }
    let mut heading = None;
    for argument in command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set() && argument.get_id() != "help")
    {
        let its = argument.get_help_heading().unwrap_or("Options");
        if heading != Some(its) {
            let gap = if heading.is_some() { "\n" } else { "" };
            writeln!(out, "{gap}### {its}\n\n| option | meaning |\n|---|---|")?;
            heading = Some(its);
        }
        writeln!(out, "| {} | {} |", spelling(argument), meaning(argument))?;
    }
    if let Some(examples) = command.get_after_help() {
        writeln!(out, "\n```text\n{examples}\n```")?;
    }
    Ok(())
}

/// The script command with this full name.
fn script_command(name: &str) -> Option<ScriptCommand> {
    let name = name.strip_prefix("loadline ")?;
    let mut all = ScriptCommand::ALL.into_iter();
    all.find(|command| command.name() == name)
}

/// The flags of a script command, from the tables of its parser.
fn describe_flags(command: ScriptCommand, out: &mut String) -> std::fmt::Result {
    if !command.operand().is_empty() {
        writeln!(
            out,
            "`loadline {} [FLAGS] {}`\n",
            command.name(),
            command.operand()
        )?;
    }
    for (number, (heading, flags)) in command.flags().into_iter().enumerate() {
        let gap = if number > 0 { "\n" } else { "" };
        if heading == "Global" && command != ScriptCommand::Run {
            writeln!(out, "{gap}And the global flags of `loadline run`.")?;
            continue;
        }
        writeln!(out, "{gap}### {heading}\n\n| option | meaning |\n|---|---|")?;
        for flag in flags {
            let short = flag
                .short
                .map_or_else(String::new, |short| format!("`-{short}`, "));
            let value = match flag.kind {
                Kind::Switch => String::new(),
                Kind::MaybeText(_) => format!("[={}]", flag.value),
                _ => format!(" {}", flag.value),
            };
            let help = flag.help.replace('|', "\\|");
            writeln!(out, "| {short}`--{}{value}` | {help} |", flag.long)?;
        }
    }
    Ok(())
}

fn spelling(argument: &Arg) -> String {
    let value = match argument.get_value_names() {
        Some([name, ..]) if argument.get_action().takes_values() => format!("{name}"),
        _ => String::new(),
    };
    let mut names: Vec<String> = Vec::new();
    let shorts = argument.get_short_and_visible_aliases().unwrap_or_default();
    names.extend(shorts.iter().map(|short| format!("-{short}")));
    let longs = argument.get_long_and_visible_aliases().unwrap_or_default();
    names.extend(longs.iter().map(|long| format!("--{long}")));
    if names.is_empty() {
        return format!("`{value}`");
    }
    let suffix = if value.is_empty() {
        String::new()
    } else {
        format!(" {value}")
    };
    format!("`{}{suffix}`", names.join("`, `"))
}

fn meaning(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help());
    let mut text = help.map(ToString::to_string).unwrap_or_default();
    let defaults = argument.get_default_values();
    let is_told = !argument.is_hide_default_value_set() && argument.get_action().takes_values();
    if !defaults.is_empty() && is_told {
        let values: Vec<_> = defaults
            .iter()
            .map(|value| value.to_string_lossy())
            .collect();
        text.push_str(&format!(" [default: {}]", values.join(", ")));
    }
    text.replace('|', "\\|")
        .replace("\n\n", "<br>")
        .replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_code_is_listed() {
        let text = exit_codes();
        for code in ExitCode::ALL {
            assert!(text.contains(&format!("| {} | {} |", code.code(), code.meaning())));
        }
    }

    #[test]
    fn every_option_is_listed_below_its_command() {
        fn look(command: &Command, name: &str, text: &str) {
            for below in command.get_subcommands().filter(|one| !one.is_hide_set()) {
                let name = format!("{name} {}", below.get_name());
                let heading = format!("\n## {name}\n");
                let Some((_, of_it)) = text.split_once(&heading) else {
                    panic!("no heading {name}");
                };
                let of_it = of_it.split("\n## ").next().unwrap_or_default();
                let visible = below.get_arguments().filter(|one| !one.is_hide_set());
                for long in visible.filter_map(Arg::get_long) {
                    assert!(of_it.contains(&format!("--{long}")), "{name} --{long}");
                }
                look(below, &name, text);
            }
        }
        look(&Cli::command(), "loadline", &command_line());
    }
}
