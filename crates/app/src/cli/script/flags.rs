//! The flags of the script commands, one declaration each: `loadline run`, `loadline k6 run`, their help and
//! the reference are made from it.
//!
//! Names, short names and defaults are k6's; [`BEYOND`] has those that k6 lacks. Must not know the effect of a
//! flag. Invariant: no command has a flag twice.

// tidy: table

use loadline_go::duration::parse as parse_duration;
use loadline_go::integer::parse_int_literal;

use crate::cli::values;
use crate::dialect::pflag::{Flag, Kind};

fn whole(text: &str) -> Result<(), String> {
    parse_int_literal(text).map(drop)
}

fn go_span(text: &str) -> Result<(), String> {
    parse_duration(text).map(drop)
}

fn own_span(text: &str) -> Result<(), String> {
    values::duration(text).map(drop)
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
/// A duration with units, as k6's own flags require it.
const GO_SPAN: Kind = Kind::Checked(go_span);
/// A duration as loadline's other commands read it: a plain number is seconds.
const OWN_SPAN: Kind = Kind::Checked(own_span);

/// The load, and the settings of requests.
pub const OPTIONS: &[Flag] = &[
    flag("vus", Some('u'), WHOLE, "INT", "Virtual users [default: 1]"),
    flag(
        "duration",
        Some('d'),
        GO_SPAN,
        "DURATION",
        "Test duration, such as 30s or 1h30m",
    ),
    flag(
        "iterations",
        Some('i'),
        WHOLE,
        "INT",
        "Total iterations, shared among the VUs",
    ),
    flag(
        "stage",
        Some('s'),
        Kind::Texts,
        "DURATION:TARGET",
        "Ramp VUs to TARGET over DURATION (repeatable)",
    ),
    flag(
        "execution-segment",
        None,
        Kind::Text,
        "SEGMENT",
        "Run only this segment of the test: 10%, 1/3, 0.2:2/3",
    ),
    flag(
        "execution-segment-sequence",
        None,
        Kind::Text,
        "POINTS",
        "Boundaries of all segments: 0,1/3,2/3,1",
    ),
    flag(
        "paused",
        Some('p'),
        Kind::Switch,
        "",
        "Start the test paused; resume it through the REST API",
    ),
    flag("no-setup", None, Kind::Switch, "", "Skip setup()"),
    flag("no-teardown", None, Kind::Switch, "", "Skip teardown()"),
    flag(
        "max-redirects",
        None,
        WHOLE,
        "INT",
        "Maximum redirects to follow [default: 10]",
    ),
    flag(
        "batch",
        None,
        WHOLE,
        "INT",
        "Maximum parallel requests in one http.batch() [default: 20]",
    ),
    flag(
        "batch-per-host",
        None,
        WHOLE,
        "INT",
        "Maximum parallel requests per host in one http.batch() [default: 6]",
    ),
    flag(
        "rps",
        None,
        WHOLE,
        "INT",
        "Limit requests per second across all VUs [default: no limit]",
    ),
    flag(
        "user-agent",
        None,
        Kind::Text,
        "TEXT",
        "User-Agent header [default: loadline/VERSION; under the name k6: Grafana k6/2.2.0]",
    ),
    flag(
        "http-debug",
        None,
        Kind::MaybeText("headers"),
        "WHAT",
        "Log requests and responses: headers only, or with =full bodies too",
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
        "Open a new connection for each request",
    ),
    flag(
        "no-vu-connection-reuse",
        None,
        Kind::Switch,
        "",
        "Close the VU's connections after each iteration",
    ),
    flag(
        "min-iteration-duration",
        None,
        GO_SPAN,
        "DURATION",
        "Pad shorter iterations to this length",
    ),
    flag(
        "throw",
        Some('w'),
        Kind::Switch,
        "",
        "Throw an exception when a request fails",
    ),
    flag(
        "blacklist-ip",
        None,
        Kind::Texts,
        "CIDR",
        "Block connections to this network (repeatable)",
    ),
    flag(
        "block-hostnames",
        None,
        Kind::Texts,
        "PATTERN",
        "Block requests to this host name; a leading * is a wildcard (repeatable)",
    ),
    flag(
        "summary-trend-stats",
        None,
        Kind::Texts,
        "STATS",
        "Trend statistics in the summary [default: avg,min,med,max,p(90),p(95)]",
    ),
    flag(
        "summary-time-unit",
        None,
        Kind::Text,
        "UNIT",
        "Time unit in the summary: s, ms or us [default: chosen by size]",
    ),
    flag(
        "system-tags",
        None,
        Kind::Texts,
        "TAGS",
        "System tags to collect, replacing the default set",
    ),
    flag(
        "tag",
        None,
        Kind::Text,
        "NAME=VALUE",
        "Tag every sample (repeatable)",
    ),
    flag(
        "console-output",
        None,
        Kind::Text,
        "FILE",
        "Write the script's console output to FILE",
    ),
    flag(
        "discard-response-bodies",
        None,
        Kind::Switch,
        "",
        "Read response bodies and discard them",
    ),
    flag(
        "local-ips",
        None,
        Kind::Text,
        "IPS",
        "Local IP addresses, ranges and networks, comma-separated; VUs take turns",
    ),
    flag(
        "dns",
        None,
        Kind::Text,
        "RULE",
        "DNS settings [default: ttl=5m,select=random,policy=preferIPv4]",
    ),
];

/// How the script is loaded.
pub const RUNTIME: &[Flag] = &[
    flag(
        "include-system-env-vars",
        None,
        Kind::Switch,
        "",
        "Expose the process environment in __ENV [default: true for run, else false]",
    ),
    flag(
        "compatibility-mode",
        None,
        Kind::Text,
        "MODE",
        "JavaScript mode: base, or extended, which adds `global` [default: extended]",
    ),
    flag(
        "type",
        Some('t'),
        Kind::Text,
        "TYPE",
        "File type: js or archive [default: detected]",
    ),
    flag(
        "env",
        Some('e'),
        Kind::Text,
        "NAME=VALUE",
        "Set a variable in __ENV (repeatable); it does not set options",
    ),
    flag("no-thresholds", None, Kind::Switch, "", "Ignore thresholds"),
    flag(
        "summary-mode",
        None,
        Kind::Text,
        "MODE",
        "Summary format: compact, full, legacy or disabled [default: compact]",
    ),
    flag(
        "summary-export",
        None,
        Kind::Text,
        "FILE",
        "Write the summary to FILE as JSON",
    ),
    flag(
        "new-machine-readable-summary",
        None,
        Kind::Switch,
        "",
        "Use the new layout for --summary-export and handleSummary()",
    ),
    flag(
        "traces-output",
        None,
        Kind::Text,
        "WHERE",
        "Trace output; only `none` is supported [default: none]",
    ),
];

/// Outputs, and the surroundings of a run.
pub const RUN: &[Flag] = &[
    flag(
        "out",
        Some('o'),
        Kind::Text,
        "TYPE[=ARGUMENT]",
        "Send results to an output: json=FILE, csv=FILE, FILE.ndjson.zst, jtl=FILE, junit=FILE, influxdb=URL, influxdb-v2=URL, statsd=HOST:PORT, dogstatsd=HOST:PORT, prometheus-rw=URL, opentelemetry=URL (repeatable)",
    ),
    flag(
        "strict-outputs",
        None,
        Kind::Switch,
        "",
        "Fail the run when an output lost data [env: LOADLINE_STRICT_OUTPUTS]",
    ),
    flag(
        "audit",
        None,
        Kind::Switch,
        "",
        "After the run, verify that Prometheus received everything that was measured [env: LOADLINE_AUDIT]",
    ),
    flag(
        "linger",
        Some('l'),
        Kind::Switch,
        "",
        "Keep the REST API open after the test, until a signal",
    ),
    flag(
        "no-usage-report",
        None,
        Kind::Switch,
        "",
        "Accepted for compatibility; loadline never sends usage reports",
    ),
    flag(
        "features",
        None,
        Kind::Text,
        "NAMES",
        "Feature flags, comma-separated: freeze-env, merge-run-tags, native-histograms",
    ),
    flag(
        "no-summary",
        None,
        Kind::Switch,
        "",
        "Same as --summary-mode disabled",
    ),
];

/// Flags that k6 lacks.
pub const BEYOND: &[Flag] = &[
    flag(
        "once",
        None,
        Kind::Switch,
        "",
        "Run one iteration of each scenario with one VU, and show each request",
    ),
    flag(
        "show-secrets",
        None,
        Kind::Switch,
        "",
        "With --once: do not mask Authorization, Cookie and similar headers",
    ),
    flag(
        "scenario",
        None,
        Kind::Text,
        "NAME.KEY=VALUE",
        "Override a scenario option, such as executor or rate (repeatable)",
    ),
    flag(
        "summary-by",
        None,
        Kind::Text,
        "TAG",
        "Add a table of requests per value of this tag, such as name",
    ),
    flag(
        "report",
        None,
        Kind::Text,
        "FILE",
        "Write a self-contained HTML report with charts",
    ),
    flag(
        "tui",
        None,
        Kind::Switch,
        "",
        "Show a full-screen dashboard: charts, scenarios, errors, checks, thresholds",
    ),
    flag(
        "charts",
        None,
        Kind::Text,
        "DIR",
        "Write each chart to DIR as SVG and PNG",
    ),
    flag(
        "json",
        None,
        Kind::Text,
        "FILE",
        "Write the JSON result to FILE, for `report` and `compare`",
    ),
    flag(
        "journal",
        None,
        Kind::Text,
        "FILE",
        "Write a journal during the run, so that `report` works after a crash",
    ),
    flag(
        "observe",
        None,
        Kind::Text,
        "[NAME=]KIND[:VALUE]",
        "Observe a part of the service under test: process:name:nginx, cgroup:PATH, … (repeatable)",
    ),
    flag(
        "observe-baseline",
        None,
        OWN_SPAN,
        "DURATION",
        "Observe for this long before the load [default: 2s]",
    ),
    flag(
        "observe-tail",
        None,
        OWN_SPAN,
        "DURATION",
        "Observe for this long after the load [default: 2s]",
    ),
    flag(
        "agents",
        None,
        WHOLE,
        "N",
        "Split the load over N agents: one test, one result; agents are local processes unless --listen is given",
    ),
    flag(
        "listen",
        None,
        Kind::Text,
        "ADDRESS",
        "With --agents: accept agents that join from elsewhere with `loadline agent --join`",
    ),
    flag(
        "identity",
        None,
        Kind::Text,
        "FILE",
        "With --listen: PEM file with the coordinator's certificate, its key and the CA of the agents [default: a token]",
    ),
    flag(
        "await-agent",
        None,
        OWN_SPAN,
        "DURATION",
        "With --agents: wait this long for a lost agent to be replaced, then give its share to the others [default: 30s]",
    ),
    flag(
        "web",
        None,
        Kind::MaybeText("127.0.0.1:5665"),
        "HOST:PORT",
        "Serve a live page of the run [without a value: 127.0.0.1:5665]",
    ),
    flag(
        "control-host",
        None,
        Kind::Text,
        "NAME",
        "Accept this host name for the REST API and the live page; * accepts any (repeatable)",
    ),
    flag(
        "fail-on-drop",
        None,
        Kind::Switch,
        "",
        "Fail the test when an iteration was dropped",
    ),
    flag(
        "max-series",
        None,
        WHOLE,
        "INT",
        "Maximum time series per metric [default: 100000]",
    ),
    flag(
        "vu-memory",
        None,
        WHOLE,
        "BYTES",
        "JavaScript memory limit per VU [default: no limit]",
    ),
    flag(
        "max-body",
        None,
        WHOLE,
        "BYTES",
        "Maximum size of a response body, compressed or not; a larger one fails the request [default: 67108864]",
    ),
    flag(
        "remote-libs",
        None,
        Kind::Switch,
        "",
        "Fetch libraries from jslib.k6.io instead of using the built-in copies",
    ),
];

/// The flags of all script commands.
pub const GLOBAL: &[Flag] = &[
    flag(
        "address",
        Some('a'),
        Kind::Text,
        "HOST:PORT",
        "Address of the REST API: run serves it there [default: off]; pause, resume, scale, status and stats send to it [default: localhost:6565]",
    ),
    flag(
        "control-token",
        None,
        Kind::Text,
        "TOKEN",
        "Token that clients of the REST API and the live page must send; off disables it [default: none on loopback, else random]",
    ),
    flag(
        "config",
        Some('c'),
        Kind::Text,
        "FILE",
        "JSON config file [default: k6/config.json in the user's config directory]",
    ),
    flag(
        "log-format",
        None,
        Kind::Text,
        "FORMAT",
        "Log format: text, json or raw [default: text]",
    ),
    flag(
        "log-output",
        None,
        Kind::Text,
        "WHERE",
        "Log output: stderr, stdout, none, file=PATH or loki=URL [default: stderr]",
    ),
    flag("no-color", None, Kind::Switch, "", "Disable colors"),
    flag(
        "profiling-enabled",
        None,
        Kind::Switch,
        "",
        "Accepted for compatibility; has no effect",
    ),
    flag(
        "quiet",
        Some('q'),
        Kind::Switch,
        "",
        "Hide the banner, the progress and the verdict",
    ),
    flag(
        "secret-source",
        None,
        Kind::Text,
        "SOURCE",
        "Secret source (repeatable)",
    ),
    flag("verbose", Some('v'), Kind::Switch, "", "Log debug messages"),
];

/// Flags of `inspect`.
pub const INSPECT: &[Flag] = &[flag(
    "execution-requirements",
    None,
    Kind::Switch,
    "",
    "Show consolidated options, with the maximum duration and VUs",
)];

/// Flags of `archive`.
pub const ARCHIVE: &[Flag] = &[
    flag(
        "archive-out",
        Some('O'),
        Kind::Text,
        "FILE",
        "Archive file; - is standard output [default: archive.tar]",
    ),
    flag(
        "exclude-env-vars",
        None,
        Kind::Switch,
        "",
        "Leave environment variables out of the archive",
    ),
];

/// Flags of `deps`.
pub const DEPS: &[Flag] = &[flag("json", None, Kind::Switch, "", "Print JSON")];

/// Flags of `new`.
pub const NEW: &[Flag] = &[
    flag("force", Some('f'), Kind::Switch, "", "Overwrite the file"),
    flag(
        "template",
        None,
        Kind::Text,
        "NAME",
        "Template: minimal, protocol, or a file [default: minimal]",
    ),
    flag(
        "project-id",
        None,
        Kind::Text,
        "ID",
        "Accepted for compatibility; has no effect",
    ),
];

/// Flags of `scale`.
pub const SCALE: &[Flag] = &[
    flag("vus", Some('u'), WHOLE, "INT", "New number of VUs"),
    flag("max", Some('m'), WHOLE, "INT", "New maximum number of VUs"),
];

/// Flags of `version`.
pub const VERSION: &[Flag] = &[flag("json", None, Kind::Switch, "", "Print JSON")];
