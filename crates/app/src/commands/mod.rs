//! The commands: each combines plan, run, sinks and reports.
//!
//! Must not know how any of these work. Invariant: every path ends in one exit code.

mod agent;
mod archive;
mod bench;
mod bombardier;
mod capacity;
mod compare;
mod completion;
mod control;
mod demo;
mod deps;
mod docs;
mod help;
mod hey;
mod inspect;
mod inspect_plan;
mod jmeter;
mod k6;
mod k8s;
mod man;
mod new;
mod notices;
mod own_run;
mod probing;
mod report;
mod run;
mod run_plan;
mod running;
mod samples;
mod script;
mod seed;
mod sinks;
mod stored;
mod suite;
mod sweep;
mod target;
mod tree;
mod version;

use loadline_model::ExitCode;
use loadline_model::front_end::is_plan;

use crate::cli::plan_run::{PlanInspectArgs, PlanRunArgs};
use crate::cli::script::ScriptCommand;
use crate::cli::{self, Command};
use crate::k6::Identity;
use crate::{Ending, Env, Files};

/// Runs the command of a command line, which starts with the program's own name.
///
/// # Errors
/// Errors that end a command before or instead of a run.
pub(crate) fn dispatch(arguments: &[String], env: &Env) -> Result<ExitCode, Ending> {
    let files = &Files::Disk;
    match dialect_of(arguments) {
        Some((Dialect::Hey, rest)) => return hey::run(rest, arguments, env, files),
        Some((Dialect::Bombardier, rest)) => return bombardier::run(rest, arguments, env, files),
        Some((Dialect::JMeter, rest)) => return jmeter::run(rest, arguments, env),
        Some((Dialect::K6, rest)) => return k6::dispatch(Identity::K6, rest, env, files),
        Some((Dialect::Plan, rest)) => return plan(rest, arguments, env),
        Some((Dialect::Script, rest)) => return k6::dispatch(Identity::Loadline, rest, env, files),
        None => {}
    }
    match cli::parse(arguments)?.command {
        Command::Bench(args) => bench::run(&args, arguments, env, files),
        Command::Capacity(args) => capacity::run(*args, arguments, env, files),
        Command::Suite(args) => suite::run(&args, env),
        Command::Sweep(args) => sweep::run(*args, arguments, env, files),
        Command::Hey(dialect) => hey::run(&dialect.arguments, arguments, env, files),
        Command::Bombardier(dialect) => bombardier::run(&dialect.arguments, arguments, env, files),
        Command::Jmeter(dialect) => jmeter::run(&dialect.arguments, arguments, env),
        Command::Agent(args) => agent::run(args, env, files),
        Command::K8s(args) => k8s::run(&args, env, files),
        Command::Target(args) => target::run(args),
        Command::Demo(args) => demo::run(&args, env),
        Command::Report(args) => report::run(&args, env),
        Command::Compare(args) => compare::run(&args, env),
        Command::K6(words) => k6::dispatch(Identity::K6, &words.arguments, env, files),
        Command::Run(_)
        | Command::Inspect(_)
        | Command::Archive(_)
        | Command::Deps(_)
        | Command::New(_)
        | Command::Pause(_)
        | Command::Resume(_)
        | Command::Scale(_)
        | Command::Status(_)
        | Command::Stats(_)
        | Command::Version => k6::dispatch(Identity::Loadline, &arguments[1..], env, files),
        Command::Completion { shell } => Ok(completion::run(Identity::Loadline, shell)),
        Command::Help { topic } => help::run(&topic, env),
        Command::InternalMan { folder } => man::write(&folder),
        Command::InternalDocs { reference } => Ok(Ending::answer(docs::print(reference)).tell()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Hey,
    Bombardier,
    JMeter,
    /// k6's complete command line.
    K6,
    /// One of the script commands; its name is the first argument.
    Script,
    /// The same for a JMeter plan.
    Plan,
}

/// The dialect of a command line, determined by the name of the link or the first argument, with its own
/// arguments. Neither is parsed by clap, so that clap's rules change nothing.
fn dialect_of(arguments: &[String]) -> Option<(Dialect, &[String])> {
    let named = |name: &str| match name {
        "hey" => Some(Dialect::Hey),
        "bombardier" => Some(Dialect::Bombardier),
        "jmeter" => Some(Dialect::JMeter),
        "k6" => Some(Dialect::K6),
        _ => None,
    };
    let program = arguments.first()?.rsplit(['/', '\\']).next()?;
    let program = program.strip_suffix(".exe").unwrap_or(program);
    if let Some(dialect) = named(program) {
        return Some((dialect, &arguments[1..]));
    }
    let word = arguments.get(1)?;
    if ScriptCommand::ALL
        .iter()
        .any(|command| command.name() == word)
    {
        let dialect = match names_plan(&arguments[2..]) {
            true => Dialect::Plan,
            false => Dialect::Script,
        };
        return Some((dialect, &arguments[1..]));
    }
    Some((named(word)?, &arguments[2..]))
}

/// Whether one of the words is the name of a JMeter plan.
fn names_plan(words: &[String]) -> bool {
    words.iter().any(|word| is_plan(word))
}

/// Runs a command on a JMeter plan; its name is the first argument.
fn plan(words: &[String], command_line: &[String], env: &Env) -> Result<ExitCode, Ending> {
    let (name, rest) = words
        .split_first()
        .expect("the command was found by its name");
    match name.as_str() {
        "run" => run_plan::run(&PlanRunArgs::parse_words(rest)?, rest, command_line, env),
        "inspect" => inspect_plan::run(&PlanInspectArgs::parse_words(rest)?, env),
        _ => Err(Ending::usage(&format!(
            "loadline {name} takes k6 scripts; JMeter plans have run and inspect"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_by_link_and_by_name() {
        let of = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            dialect_of(&words).map(|(dialect, rest)| (dialect, rest.join(" ")))
        };
        assert_eq!(
            of("/usr/bin/k6 run -u 5 s.js"),
            Some((Dialect::K6, "run -u 5 s.js".to_owned()))
        );
        assert_eq!(
            of("loadline k6 inspect s.js"),
            Some((Dialect::K6, "inspect s.js".to_owned()))
        );
        assert_eq!(
            of("loadline run s.js"),
            Some((Dialect::Script, "run s.js".to_owned()))
        );
        assert_eq!(
            of("loadline run -Ja=1 a/P.JMX"),
            Some((Dialect::Plan, "run -Ja=1 a/P.JMX".to_owned()))
        );
        assert_eq!(
            of("/usr/bin/hey -n 5 u"),
            Some((Dialect::Hey, "-n 5 u".to_owned()))
        );
        assert_eq!(
            of("loadline hey -n 5"),
            Some((Dialect::Hey, "-n 5".to_owned()))
        );
        assert_eq!(
            of("bombardier u"),
            Some((Dialect::Bombardier, "u".to_owned()))
        );
        assert_eq!(of("loadline bench hey"), None);
        assert_eq!(of("loadline"), None);
    }
}
