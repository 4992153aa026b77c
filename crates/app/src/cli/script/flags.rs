//! The flags of the commands around a script, one declaration each: `loadline run`, `loadline k6
//! run`, their help and the reference are made from it.
//!
//! Names, short names and defaults are k6's; [`BEYOND`] holds what k6 has not. Must not know what a
//! flag leads to. Invariant: no command has a flag twice.

// tidy: table

use loadline_go::GoDuration;
use loadline_go::integer::parse_int;

use crate::dialect::pflag::{Flag, Kind};

fn whole(text: &str) -> Result<(), String> {
    parse_int(text).map(drop)
}

fn span(text: &str) -> Result<(), String> {
    GoDuration::parse_extended(text).map(drop)
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
        "Skip TLS verification",
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
        "Send results there: json=FILE, csv=FILE, FILE.ndjson.zst, jtl=FILE, junit=FILE, influxdb=URL, influxdb-v2=URL, statsd=HOST:PORT, dogstatsd=HOST:PORT, prometheus-rw=URL, opentelemetry=URL (repeatable)",
    ),
    flag(
        "strict-outputs",
        None,
        Kind::Switch,
        "",
        "Fail at the end when an output lost something [env: LOADLINE_STRICT_OUTPUTS]",
    ),
    flag(
        "audit",
        None,
        Kind::Switch,
        "",
        "Ask Prometheus at the end whether it has what was measured [env: LOADLINE_AUDIT]",
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
        "show-secrets",
        None,
        Kind::Switch,
        "",
        "With --once: show Authorization, Cookie and the like as they are",
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
        "report",
        None,
        Kind::Text,
        "FILE",
        "Write the report as one HTML file, with charts",
    ),
    flag(
        "tui",
        None,
        Kind::Switch,
        "",
        "Show the run on the whole screen: charts, scenarios, errors, checks, thresholds",
    ),
    flag(
        "charts",
        None,
        Kind::Text,
        "DIR",
        "Write each chart there as SVG and as PNG",
    ),
    flag(
        "json",
        None,
        Kind::Text,
        "FILE",
        "Write the JSON result there, for report and compare",
    ),
    flag(
        "journal",
        None,
        Kind::Text,
        "FILE",
        "Keep what was measured there while the run lasts, for report after a crash",
    ),
    flag(
        "observe",
        None,
        Kind::Text,
        "[NAME=]KIND[:VALUE]",
        "Watch a part of the service under test: process:name:nginx, cgroup:PATH, … (repeatable)",
    ),
    flag(
        "observe-baseline",
        None,
        SPAN,
        "DURATION",
        "Watch for this long before the load [default: 2s]",
    ),
    flag(
        "observe-tail",
        None,
        SPAN,
        "DURATION",
        "Watch for this long after the load [default: 2s]",
    ),
    flag(
        "agents",
        None,
        WHOLE,
        "N",
        "Let so many agents make the load, each its share: one test, one result; processes of this machine unless --listen is given",
    ),
    flag(
        "listen",
        None,
        Kind::Text,
        "ADDRESS",
        "With --agents: wait there for agents started elsewhere with loadline agent --join",
    ),
    flag(
        "identity",
        None,
        Kind::Text,
        "FILE",
        "With --listen: PEM file with the coordinator's certificate, its key and the agents' authority [default: a token]",
    ),
    flag(
        "await-agent",
        None,
        SPAN,
        "DURATION",
        "With --agents: how long to wait for a replacement of a lost agent before another agent takes over its share [default: 30s]",
    ),
    flag(
        "web",
        None,
        Kind::MaybeText("127.0.0.1:5665"),
        "HOST:PORT",
        "Serve a live page of the run there [without a value: 127.0.0.1:5665]",
    ),
    flag(
        "control-host",
        None,
        Kind::Text,
        "NAME",
        "A further name that the REST API and the live page may be called by; *: any (repeatable)",
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
        "max-body",
        None,
        WHOLE,
        "BYTES",
        "Most bytes of a body that the script is given, packed or unpacked; a longer one fails the request [default: 67108864]",
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
        "Serve the REST API there [default: off]",
    ),
    flag(
        "control-token",
        None,
        Kind::Text,
        "TOKEN",
        "What the REST API and the live page want to be sent; off: nothing [default: made anew, but nothing on loopback]",
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

/// Flags of `deps`.
pub const DEPS: &[Flag] = &[flag("json", None, Kind::Switch, "", "As JSON")];

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
