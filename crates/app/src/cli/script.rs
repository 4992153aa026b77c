//! The script commands: `run`, `inspect`, `archive`, `new`, and those that control a running test. One
//! declaration serves `loadline run`, `loadline k6 run` and the reference.
//!
//! Must not know what a command does. Invariant: the help and the parser come from the tables in [`flags`].

pub mod flags;

use crate::cli::script::flags::{
    ARCHIVE, BEYOND, DEPS, GLOBAL, INSPECT, NEW, OPTIONS, RUN, RUNTIME, SCALE, VERSION,
};
use crate::dialect::pflag::{Flag, Kind};

/// The script commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptCommand {
    /// Run a test.
    Run,
    /// Show its options.
    Inspect,
    /// Bundle it.
    Archive,
    /// List its imports.
    Deps,
    /// Write a first script.
    New,
    /// Print the version.
    Version,
    /// Pause a running test.
    Pause,
    /// Resume it.
    Resume,
    /// Change its virtual users.
    Scale,
    /// Show its status.
    Status,
    /// Show its metrics.
    Stats,
}

impl ScriptCommand {
    /// All of them, in the order of the help.
    pub const ALL: [ScriptCommand; 11] = [
        ScriptCommand::Run,
        ScriptCommand::Inspect,
        ScriptCommand::Archive,
        ScriptCommand::Deps,
        ScriptCommand::New,
        ScriptCommand::Version,
        ScriptCommand::Pause,
        ScriptCommand::Resume,
        ScriptCommand::Scale,
        ScriptCommand::Status,
        ScriptCommand::Stats,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ScriptCommand::Run => "run",
            ScriptCommand::Inspect => "inspect",
            ScriptCommand::Archive => "archive",
            ScriptCommand::Deps => "deps",
            ScriptCommand::New => "new",
            ScriptCommand::Version => "version",
            ScriptCommand::Pause => "pause",
            ScriptCommand::Resume => "resume",
            ScriptCommand::Scale => "scale",
            ScriptCommand::Status => "status",
            ScriptCommand::Stats => "stats",
        }
    }

    /// What it does, in one line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            ScriptCommand::Run => "Run a k6 script or a JMeter plan",
            ScriptCommand::Inspect => "Show the options of a k6 script or a JMeter plan as JSON",
            ScriptCommand::Archive => "Bundle a k6 script and its dependencies into one file",
            ScriptCommand::Deps => "List what a k6 script imports",
            ScriptCommand::New => "Create a k6 script from a template",
            ScriptCommand::Version => "Print the version",
            ScriptCommand::Pause => "Pause a running test",
            ScriptCommand::Resume => "Resume a paused test",
            ScriptCommand::Scale => "Change the number of VUs of a running test",
            ScriptCommand::Status => "Show the status of a running test",
            ScriptCommand::Stats => "Show the metrics of a running test",
        }
    }

    /// The operand after the flags.
    #[must_use]
    pub fn operand(self) -> &'static str {
        match self {
            ScriptCommand::Run => "SCRIPT | - | ARCHIVE.TAR | PLAN.JMX",
            ScriptCommand::Deps => "SCRIPT | - | ARCHIVE.TAR",
            ScriptCommand::Inspect => "SCRIPT | PLAN.JMX",
            ScriptCommand::Archive => "SCRIPT",
            ScriptCommand::New => "[FILE]",
            _ => "",
        }
    }

    /// Its flags, by heading.
    #[must_use]
    pub fn flags(self) -> Vec<(&'static str, &'static [Flag])> {
        const LOAD: &str = "Load and requests";
        const SCRIPT: &str = "Script";
        let own: Vec<(&str, &'static [Flag])> = match self {
            ScriptCommand::Run => vec![
                (LOAD, OPTIONS),
                (SCRIPT, RUNTIME),
                ("Run", RUN),
                ("Beyond k6", BEYOND),
            ],
            ScriptCommand::Inspect => vec![("Inspect", INSPECT), (SCRIPT, RUNTIME)],
            ScriptCommand::Archive => {
                vec![("Archive", ARCHIVE), (LOAD, OPTIONS), (SCRIPT, RUNTIME)]
            }
            ScriptCommand::Deps => vec![("Deps", DEPS), (SCRIPT, RUNTIME)],
            ScriptCommand::New => vec![("New", NEW)],
            ScriptCommand::Scale => vec![("Scale", SCALE)],
            ScriptCommand::Version => vec![("Version", VERSION)],
            ScriptCommand::Pause
            | ScriptCommand::Resume
            | ScriptCommand::Status
            | ScriptCommand::Stats => Vec::new(),
        };
        own.into_iter().chain([("Global", GLOBAL)]).collect()
    }

    /// The help text.
    #[must_use]
    pub fn help(self, program: &str) -> String {
        let mut out = format!(
            "{}\n\nUsage: {program} {} [FLAGS] {}\n",
            self.about(),
            self.name(),
            self.operand()
        );
        for (heading, flags) in self.flags() {
            out.push_str(&format!("\n{heading}:\n"));
            for flag in flags {
                out.push_str(&help_line(flag));
            }
        }
        out.push_str("\n  -h, --help\n          Print this help\n");
        for (at, (what, words)) in self.examples().iter().enumerate() {
            out.push_str(if at == 0 { "\nExamples:\n" } else { "" });
            let line = format!("{program} {} {words}", self.name());
            out.push_str(&format!("  # {what}\n  {}\n", line.trim_end()));
        }
        out
    }

    /// Examples of command lines, and what each does.
    fn examples(self) -> &'static [(&'static str, &'static str)] {
        match self {
            ScriptCommand::Run => &[
                ("One iteration of one virtual user", "script.js"),
                ("10 virtual users for 30 seconds", "-u 10 -d 30s script.js"),
                (
                    "A ramp to 100 virtual users and down again",
                    "-s 1m:100 -s 5m:100 -s 1m:0 script.js",
                ),
                (
                    "A script from standard input, with a variable",
                    "-e HOST=test.example - < script.js",
                ),
                (
                    "Samples to a file, and a page with charts",
                    "-o json=samples.json.gz --report run.html script.js",
                ),
                (
                    "What one iteration sends, request by request",
                    "--once script.js",
                ),
                (
                    "A test that starts paused, with its REST API on port 6565",
                    "--paused --address localhost:6565 script.js",
                ),
                ("A JMeter plan", "plan.jmx"),
                ("The options for JMeter plans", "plan.jmx --help"),
            ],
            ScriptCommand::Inspect => &[
                ("The options of a script", "script.js"),
                (
                    "Unsupported parts of a JMeter plan, and what it would run",
                    "plan.jmx",
                ),
            ],
            ScriptCommand::Archive => &[(
                "test.tar, for loadline run on another machine",
                "-O test.tar script.js",
            )],
            ScriptCommand::Deps => &[("What script.js imports, as JSON", "--json script.js")],
            ScriptCommand::Version => &[("The version", "")],
            ScriptCommand::Pause => &[("Pause the test on port 6565 of this machine", "")],
            ScriptCommand::Resume => &[(
                "Resume a paused test, or start one that was started with --paused",
                "",
            )],
            ScriptCommand::Scale => &[
                ("50 VUs for an externally-controlled scenario", "--vus 50"),
                ("At most 200 VUs", "--max 200"),
            ],
            ScriptCommand::Status => &[
                ("The test on port 6565 of this machine", ""),
                (
                    "A test that was started with --address 127.0.0.1:7000",
                    "--address 127.0.0.1:7000",
                ),
            ],
            ScriptCommand::Stats => &[("Metrics of the running test so far", "")],
            ScriptCommand::New => &[
                ("script.js, from the default template", ""),
                (
                    "Another file and another template",
                    "--template protocol test.js",
                ),
            ],
        }
    }
}

fn help_line(flag: &Flag) -> String {
    let short = flag
        .short
        .map_or_else(|| "    ".to_owned(), |short| format!("-{short}, "));
    let value = match flag.kind {
        Kind::Switch => String::new(),
        Kind::MaybeText(_) => format!("[={}]", flag.value),
        _ => format!(" {}", flag.value),
    };
    format!("  {short}--{}{value}\n          {}\n", flag.long, flag.help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_command_has_a_flag_twice() {
        for command in ScriptCommand::ALL {
            let flags: Vec<Flag> = command
                .flags()
                .into_iter()
                .flat_map(|(_, flags)| flags.iter().copied())
                .collect();
            for (position, flag) in flags.iter().enumerate() {
                let again = flags[position + 1..].iter().any(|other| {
                    other.long == flag.long || (flag.short.is_some() && other.short == flag.short)
                });
                assert!(!again, "{}: {}", command.name(), flag.long);
            }
        }
    }

    /// The main list and a command's own help have the same text.
    #[test]
    fn a_command_does_the_same_in_the_list_and_in_its_help() {
        let root = <crate::cli::Cli as clap::CommandFactory>::command();
        for command in ScriptCommand::ALL {
            let listed = root.find_subcommand(command.name()).expect("it is listed");
            let about = listed.get_about().expect("it says what it does");
            assert_eq!(about.to_string(), command.about(), "{}", command.name());
        }
    }

    #[test]
    fn help_names_every_flag() {
        insta::assert_snapshot!(ScriptCommand::Run.help("loadline"));
    }

    /// Flags and options named in hints exist.
    #[test]
    fn hints_name_flags_and_options_of_scripts() {
        let of_options = concat!(
            include_str!("../k6/options/mod.rs"),
            include_str!("../k6/options/scenario.rs"),
        );
        for word in loadline_model::hint::words(loadline_model::FrontEnd::Script) {
            let is_there = match word.strip_prefix("--") {
                Some(long) => {
                    let tables = ScriptCommand::Run.flags();
                    let mut flags = tables.iter().flat_map(|(_, flags)| *flags);
                    flags.any(|flag| flag.long == long)
                }
                // Functions of a script, and parameters of a request, are not options of the test.
                None if ["check()", "timeout"].contains(&word) => true,
                None => of_options.contains(&format!("\"{word}\"")),
            };
            assert!(is_there, "{word}");
        }
    }
}
