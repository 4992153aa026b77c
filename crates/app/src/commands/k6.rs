//! The script commands, under loadline's own name and under k6's.
//!
//! Must not know how any of them works. Invariant: a refusal is printed as a log line, in the log's own format
//! if that is known.

use loadline_model::ExitCode;
use loadline_model::nearest::nearest;

use super::notices::{self, Told};
use super::{archive, completion, control, deps, inspect, new, run, version};
use crate::cli::script::ScriptCommand;
use crate::cli::script::flags::GLOBAL;
use crate::dialect::pflag::Kind;
use crate::k6::{Identity, K6Error, K6Invocation, LogSettings, Reading};
use crate::{Ending, Env, Files};

/// Runs the command named by the words; flags may precede its name.
///
/// # Errors
/// Errors that end a command before or instead of a run.
pub(super) fn dispatch(
    identity: Identity,
    words: &[String],
    env: &Env,
    files: &Files,
) -> Result<ExitCode, Ending> {
    let Some((at, name)) = command_word(words) else {
        if words.iter().any(|word| word == "--version") {
            return Ok(version::print(identity, false).tell());
        }
        return Ok(Ending::answer(overview(identity)).tell());
    };
    if name == "help" {
        return Ok(Ending::answer(overview(identity)).tell());
    }
    if name == "completion" {
        return completion::of_words(&words[at + 1..])
            .map_err(|error| refused(&error, &LogSettings::default()));
    }
    let Some(command) = ScriptCommand::ALL
        .into_iter()
        .find(|known| known.name() == name)
    else {
        return Err(refused(
            &K6Error::other(unknown(name)),
            &LogSettings::default(),
        ));
    };
    let rest = [&words[..at], &words[at + 1..]].concat();
    let read = K6Invocation::parse(identity, command, &rest, env);
    let invocation = match read.map_err(|error| refused(&error, &LogSettings::default()))? {
        Reading::Help(text) => return Ok(Ending::answer(text).tell()),
        Reading::Invocation(invocation) => invocation,
    };
    let done = match command {
        ScriptCommand::Run => run::run(&invocation, env, files),
        ScriptCommand::Inspect => inspect::run(&invocation, env, files),
        ScriptCommand::Archive => archive::run(&invocation, env, files),
        ScriptCommand::Deps => deps::run(&invocation, env, files),
        ScriptCommand::New => new::run(&invocation),
        ScriptCommand::Version => return Ok(version::print(identity, invocation.as_json).tell()),
        ScriptCommand::Pause
        | ScriptCommand::Resume
        | ScriptCommand::Scale
        | ScriptCommand::Status
        | ScriptCommand::Stats => control::run(&invocation),
    };
    done.map_err(|error| refused(&error, &invocation.log))
}

/// The index and the text of the command's name: the first word that is neither a flag nor a flag's value.
fn command_word(words: &[String]) -> Option<(usize, &str)> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if !word.starts_with('-') {
            return Some((at, word));
        }
        let takes_value = GLOBAL.iter().any(|flag| {
            let named = match word.strip_prefix("--") {
                Some(long) => flag.long == long,
                None => flag
                    .short
                    .is_some_and(|short| word[1..] == *short.to_string()),
            };
            named && !matches!(flag.kind, Kind::Switch | Kind::MaybeText(_))
        });
        at += 1 + usize::from(takes_value);
    }
    None
}

fn unknown(name: &str) -> String {
    match name {
        "cloud" | "login" => format!("the command {name} is not supported: there is no cloud here"),
        _ => {
            let known = ScriptCommand::ALL.into_iter().map(ScriptCommand::name);
            let meant = nearest(name, known).map_or_else(String::new, |near| {
                format!("\n\nDid you mean this?\n\t{near}\n")
            });
            format!("unknown command \"{name}\" for \"k6\"{meant}")
        }
    }
}

/// The commands, and a hint to their help.
pub(super) fn overview(identity: Identity) -> String {
    let program = identity.program();
    let mut out = format!(
        "{}\nUsage: {program} COMMAND [FLAGS]\n\nCommands:\n",
        version::line(identity)
    );
    for command in ScriptCommand::ALL {
        out.push_str(&format!("  {:<8} {}\n", command.name(), command.about()));
    }
    out.push_str(&format!(
        "\nEach command has its own help: {program} run --help\n\nExamples:\n  \
         {program} run script.js\n  {program} run --vus 10 --duration 30s script.js\n"
    ));
    out
}

/// An error as a log line, with the exit code.
pub(super) fn refused(error: &K6Error, log: &LogSettings) -> Ending {
    let Told { out, err } = notices::told(error.before.iter().chain([&error.notice]), log);
    Ending {
        code: error.code,
        out,
        err,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_may_stand_before_the_command() {
        let of = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            command_word(&words).map(|(at, name)| (at, name.to_owned()))
        };
        for (line, at, name) in [
            ("run x.js", 0, "run"),
            ("-q -v run x.js", 2, "run"),
            ("-a :6565 --log-format raw run", 4, "run"),
            ("--address=:6565 run", 1, "run"),
            ("--no-color inspect x", 1, "inspect"),
        ] {
            assert_eq!(of(line), Some((at, name.to_owned())), "{line}");
        }
        assert_eq!(of("--version"), None);
        assert_eq!(of("-a"), None);
    }

    #[test]
    fn a_slip_of_the_pen_is_told_the_command_that_was_meant() {
        for (name, end) in [
            ("rnu", "for \"k6\"\n\nDid you mean this?\n\trun\n"),
            ("inspct", "for \"k6\"\n\nDid you mean this?\n\tinspect\n"),
            ("frobnicate", "for \"k6\""),
        ] {
            let told = unknown(name);
            assert!(told.ends_with(end), "{told}");
        }
    }

    #[test]
    fn refusals_are_lines_of_the_log() {
        for (flag, end) in [
            ("--foo", "Z\" level=error msg=\"unknown flag: --foo\"\n"),
            (
                "--durtion",
                " msg=\"unknown flag: --durtion\" hint=\"did you mean --duration?\"\n",
            ),
        ] {
            let told = dispatch(
                Identity::K6,
                &["run".to_owned(), flag.to_owned()],
                &Env::default(),
                &Files::Memory([].into()),
            )
            .expect_err("there is no such flag");
            assert_eq!(told.code, ExitCode::Other);
            assert!(told.err.ends_with(end), "{told}");
        }
    }
}
