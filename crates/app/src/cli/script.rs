//! The flags of the commands around a script: `run`, `inspect`, `archive`, `new`, and those that
//! steer a running test. One declaration serves `loadline run`, `loadline k6 run` and the reference.
//!
//! Names, short names and defaults are k6's; "beyond k6" marks what is not. Must not know what a
//! flag leads to. Invariant: the help and the parser come from these tables.
//!
//! tidy: table

use crate::dialect::pflag::{Flag, Kind};
use crate::k6::duration::GoDuration;
use crate::k6::options::value::int;

fn whole(text: &str) -> Result<(), String> {
    int(text).map(drop)
}

fn span(text: &str) -> Result<(), String> {
    GoDuration::parse(text).map(drop)
}

const fn flag(
    long: &'static str,
    short: Option<char>,
    kind: Kind,
    value: &'static str,
    help: &'static str,
) -> Flag {
    Flag {
        long,
        short,
        kind,
        value,
        help,
    }
}

const WHOLE: Kind = Kind::Checked(whole);
const SPAN: Kind = Kind::Checked(span);

/// How the load is made, and how requests are.
pub const OPTIONS: &[Flag] = &[
    flag("vus", Some('u'), WHOLE, "INT", "Virtual users [default: 1]"),
    flag(
        "duration",
        Some('d'),
        SPAN,
        "DURATION",
        "How long: 30s, 1d2h; a bare number is milliseconds",
    ),
    flag(
        "iterations",
        Some('i'),
        WHOLE,
        "INT",
        "Iterations in all, shared by the virtual users",
    ),
    flag(
        "stage",
        Some('s'),
        Kind::Texts,
        "DURATION:TARGET",
        "A leg of a ramp of virtual users (repeatable)",
    ),
    flag(
        "execution-segment",
        None,
        Kind::Text,
        "SEGMENT",
        "Do only this part of the test: 10%, 1/3, 0.2:2/3",
    ),
    flag(
        "execution-segment-sequence",
        None,
        Kind::Text,
        "POINTS",
        "All parts of the test: 0,1/3,2/3,1",
    ),
    flag(
        "paused",
        Some('p'),
        Kind::Switch,
        "",
        "Wait for a word through the REST API before the start",
    ),
    flag("no-setup", None, Kind::Switch, "", "Leave setup() out"),
    flag(
        "no-teardown",
        None,
        Kind::Switch,
        "",
        "Leave teardown() out",
    ),
    flag(
        "max-redirects",
        None,
        WHOLE,
        "INT",
        "Redirects followed [default: 10]",
    ),
    flag(
        "batch",
        None,
        WHOLE,
        "INT",
        "Requests of one http.batch() at a time [default: 20]",
    ),
    flag(
        "batch-per-host",
        None,
        WHOLE,
        "INT",
        "Requests of one http.batch() at a time to one host [default: 6]",
    ),
    flag(
        "rps",
        None,
        WHOLE,
        "INT",
        "Requests per second over all virtual users [default: no limit]",
    ),
    flag(
        "user-agent",
        None,
        Kind::Text,
        "TEXT",
        "Value of User-Agent [default: loadline/VERSION; under the name k6: Grafana k6/2.2.0]",
    ),
    flag(
        "http-debug",
        None,
        Kind::MaybeText("headers"),
        "WHAT",
        "Log requests and answers: headers, or with =full bodies too",
    ),
    flag(
        "insecure-skip-tls-verify",
        None,
        Kind::Switch,
        "",
        "Believe any certificate",
    ),
    flag(
        "no-connection-reuse",
        None,
        Kind::Switch,
        "",
        "A connection for each request",
    ),
    flag(
        "no-vu-connection-reuse",
        None,
        Kind::Switch,
        "",
        "Close connections after each iteration",
    ),
    flag(
        "min-iteration-duration",
        None,
        SPAN,
        "DURATION",
        "A shorter iteration is followed by a wait up to this length",
    ),
    flag(
        "throw",
        Some('w'),
        Kind::Switch,
        "",
        "Failed requests throw",
    ),
    flag(
        "blacklist-ip",
        None,
        Kind::Texts,
        "CIDR",
        "Network that may not be connected to (repeatable)",
    ),
    flag(
        "block-hostnames",
        None,
        Kind::Texts,
        "PATTERN",
        "Host name that may not be asked, * in front allowed (repeatable)",
    ),
    flag(
        "summary-trend-stats",
        None,
        Kind::Texts,
        "STATS",
        "Statistics of trends in the summary [default: avg,min,med,max,p(90),p(95)]",
    ),
    flag(
        "summary-time-unit",
        None,
        Kind::Text,
        "UNIT",
        "Unit of times in the summary: s, ms or us [default: what fits]",
    ),
    flag(
        "system-tags",
        None,
        Kind::Texts,
        "TAGS",
        "Tags that are set by themselves, replacing the default set",
    ),
    flag(
        "tag",
        None,
        Kind::Texts,
        "NAME=VALUE",
        "Tag of every sample (repeatable)",
    ),
    flag(
        "console-output",
        None,
        Kind::Text,
        "FILE",
        "Write the script's console there",
    ),
    flag(
        "discard-response-bodies",
        None,
        Kind::Switch,
        "",
        "Read bodies and drop them",
    ),
    flag(
        "local-ips",
        None,
        Kind::Text,
        "IPS",
        "Local addresses, ranges and networks between commas; virtual users take turns",
    ),
    flag(
        "dns",
        None,
        Kind::Text,
        "RULE",
        "How names are resolved [default: ttl=5m,select=random,policy=preferIPv4]",
    ),
];

/// How the script is read.
pub const RUNTIME: &[Flag] = &[
    flag(
        "include-system-env-vars",
        None,
        Kind::Switch,
        "",
        "Give the script the process's environment in __ENV [default: true for run, else false]",
    ),
    flag(
        "compatibility-mode",
        None,
        Kind::Text,
        "MODE",
        "base, or extended, which adds `global` [default: extended]",
    ),
    flag(
        "type",
        Some('t'),
        Kind::Text,
        "TYPE",
        "What the file is: js or archive [default: what it looks like]",
    ),
    flag(
        "env",
        Some('e'),
        Kind::Text,
        "NAME=VALUE",
        "Variable in __ENV (repeatable); configures nothing else",
    ),
    flag(
        "no-thresholds",
        None,
        Kind::Switch,
        "",
        "Leave thresholds out",
    ),
    flag(
        "summary-mode",
        None,
        Kind::Text,
        "MODE",
        "compact, full, legacy or disabled [default: compact]",
    ),
    flag(
        "summary-export",
        None,
        Kind::Text,
        "FILE",
        "Write the summary there as JSON",
    ),
    flag(
        "new-machine-readable-summary",
        None,
        Kind::Switch,
        "",
        "The newer layout for --summary-export and handleSummary()",
    ),
    flag(
        "traces-output",
        None,
        Kind::Text,
        "WHERE",
        "Only `none` is there [default: none]",
    ),
];

/// Where results go, and what surrounds a run.
pub const RUN: &[Flag] = &[
    flag(
        "out",
        Some('o'),
        Kind::Text,
        "TYPE[=ARGUMENT]",
        "Send every sample there: json=FILE, csv=FILE (repeatable)",
    ),
    flag(
        "linger",
        Some('l'),
        Kind::Switch,
        "",
        "Keep the REST API open after the end, until a signal",
    ),
    flag(
        "no-usage-report",
        None,
        Kind::Switch,
        "",
        "Nothing is ever reported; taken for k6's sake",
    ),
    flag(
        "features",
        None,
        Kind::Text,
        "NAMES",
        "Feature flags between commas: freeze-env, merge-run-tags, native-histograms",
    ),
    flag(
        "no-summary",
        None,
        Kind::Switch,
        "",
        "As --summary-mode disabled",
    ),
];

/// Beyond k6.
pub const BEYOND: &[Flag] = &[
    flag(
        "once",
        None,
        Kind::Switch,
        "",
        "Run each scenario for one iteration of one virtual user and show each request",
    ),
    flag(
        "scenario",
        None,
        Kind::Text,
        "NAME.KEY=VALUE",
        "Override an option of a scenario, its executor included (repeatable)",
    ),
    flag(
        "summary-by",
        None,
        Kind::Text,
        "TAG",
        "A table of requests per value of this tag, such as name",
    ),
    flag(
        "fail-on-drop",
        None,
        Kind::Switch,
        "",
        "A single dropped iteration fails the test",
    ),
    flag(
        "max-series",
        None,
        WHOLE,
        "INT",
        "Most series of one metric [default: 100000]",
    ),
    flag(
        "vu-memory",
        None,
        WHOLE,
        "BYTES",
        "Most memory of one virtual user's JavaScript [default: no limit]",
    ),
    flag(
        "remote-libs",
        None,
        Kind::Switch,
        "",
        "Fetch the libraries of jslib.k6.io instead of using the built-in ones",
    ),
];

/// What every command around a script takes.
pub const GLOBAL: &[Flag] = &[
    flag(
        "address",
        Some('a'),
        Kind::Text,
        "HOST:PORT",
        "Serve the REST API there [default: off; under the name k6: localhost:6565]",
    ),
    flag(
        "config",
        Some('c'),
        Kind::Text,
        "FILE",
        "JSON file with options [default: k6/config.json in the user's folder of configurations]",
    ),
    flag(
        "log-format",
        None,
        Kind::Text,
        "FORMAT",
        "text, json or raw [default: text]",
    ),
    flag(
        "log-output",
        None,
        Kind::Text,
        "WHERE",
        "stderr, stdout, none, file=PATH or loki=URL [default: stderr]",
    ),
    flag("no-color", None, Kind::Switch, "", "No colours"),
    flag(
        "profiling-enabled",
        None,
        Kind::Switch,
        "",
        "Taken for k6's sake",
    ),
    flag(
        "quiet",
        Some('q'),
        Kind::Switch,
        "",
        "No header and no progress",
    ),
    flag(
        "secret-source",
        None,
        Kind::Text,
        "SOURCE",
        "Where secrets come from (repeatable)",
    ),
    flag("verbose", Some('v'), Kind::Switch, "", "Log more"),
];

/// Flags of `inspect`.
pub const INSPECT: &[Flag] = &[flag(
    "execution-requirements",
    None,
    Kind::Switch,
    "",
    "All tiers together, with the time and the virtual users that the test takes at most",
)];

/// Flags of `archive`.
pub const ARCHIVE: &[Flag] = &[
    flag(
        "archive-out",
        Some('O'),
        Kind::Text,
        "FILE",
        "Where the archive goes; - is standard output [default: archive.tar]",
    ),
    flag(
        "exclude-env-vars",
        None,
        Kind::Switch,
        "",
        "Leave variables out of the archive",
    ),
];

/// Flags of `new`.
pub const NEW: &[Flag] = &[
    flag("force", Some('f'), Kind::Switch, "", "Overwrite the file"),
    flag(
        "template",
        None,
        Kind::Text,
        "NAME",
        "minimal, protocol, or a file [default: minimal]",
    ),
    flag("project-id", None, Kind::Text, "ID", "Taken for k6's sake"),
];

/// Flags of `scale`.
pub const SCALE: &[Flag] = &[
    flag("vus", Some('u'), WHOLE, "INT", "Virtual users from now on"),
    flag(
        "max",
        Some('m'),
        WHOLE,
        "INT",
        "Virtual users at most from now on",
    ),
];

/// Flags of `version`.
pub const VERSION: &[Flag] = &[flag("json", None, Kind::Switch, "", "As JSON")];

/// The commands around a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptCommand {
    /// Run a test.
    Run,
    /// Show its options.
    Inspect,
    /// Pack it.
    Archive,
    /// Write a first script.
    New,
    /// Say the version.
    Version,
    /// Pause a running test.
    Pause,
    /// Let it go on.
    Resume,
    /// Change its virtual users.
    Scale,
    /// Say how it is.
    Status,
}

impl ScriptCommand {
    /// All of them, in the order of the help.
    pub const ALL: [ScriptCommand; 9] = [
        ScriptCommand::Run,
        ScriptCommand::Inspect,
        ScriptCommand::Archive,
        ScriptCommand::New,
        ScriptCommand::Version,
        ScriptCommand::Pause,
        ScriptCommand::Resume,
        ScriptCommand::Scale,
        ScriptCommand::Status,
    ];

    /// The word that names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ScriptCommand::Run => "run",
            ScriptCommand::Inspect => "inspect",
            ScriptCommand::Archive => "archive",
            ScriptCommand::New => "new",
            ScriptCommand::Version => "version",
            ScriptCommand::Pause => "pause",
            ScriptCommand::Resume => "resume",
            ScriptCommand::Scale => "scale",
            ScriptCommand::Status => "status",
        }
    }

    /// What it does, in one line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            ScriptCommand::Run => "Run a k6 script",
            ScriptCommand::Inspect => "Show the options of a k6 script as JSON",
            ScriptCommand::Archive => "Pack a k6 script and all that it reads into one file",
            ScriptCommand::New => "Write a first k6 script",
            ScriptCommand::Version => "Print the version",
            ScriptCommand::Pause => "Pause a running test through its REST API",
            ScriptCommand::Resume => "Let a paused test go on, through its REST API",
            ScriptCommand::Scale => {
                "Change the virtual users of a running test through its REST API"
            }
            ScriptCommand::Status => "Say how a running test is, through its REST API",
        }
    }

    /// What stands behind the flags.
    #[must_use]
    pub fn operand(self) -> &'static str {
        match self {
            ScriptCommand::Run => "SCRIPT | - | ARCHIVE.TAR",
            ScriptCommand::Inspect | ScriptCommand::Archive => "SCRIPT",
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
            ScriptCommand::New => vec![("New", NEW)],
            ScriptCommand::Scale => vec![("Scale", SCALE)],
            ScriptCommand::Version => vec![("Version", VERSION)],
            ScriptCommand::Pause | ScriptCommand::Resume | ScriptCommand::Status => Vec::new(),
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
        out
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

    #[test]
    fn help_names_every_flag() {
        insta::assert_snapshot!(ScriptCommand::Run.help("loadline"));
    }
}
