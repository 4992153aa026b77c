//! bombardier's flags: names, kinds, defaults.
//!
//! Must not know their effects. Invariant: one row per flag.

use std::time::Duration;

use loadline_go::duration;
use loadline_go::integer::parse_uint;
use loadline_report::bombardier::Client;

use super::Print;
use super::usage;
use crate::dialect::kingpin::{self, Flag};

use crate::{Ending, Files};

const fn value(name: &'static str, short: Option<char>) -> Flag {
    Flag {
        name,
        short,
        takes_value: true,
        repeatable: false,
    }
}

const fn switch(name: &'static str, short: Option<char>) -> Flag {
    Flag {
        name,
        short,
        takes_value: false,
        repeatable: false,
    }
}

/// Every flag, in the order of the help; the last two are loadline's.
pub(super) const KNOWN: &[Flag] = &[
    switch("help", None),
    switch("help-long", None),
    switch("help-man", None),
    switch("version", None),
    value("connections", Some('c')),
    value("timeout", Some('t')),
    switch("latencies", Some('l')),
    value("method", Some('m')),
    value("body", Some('b')),
    value("body-file", Some('f')),
    switch("stream", Some('s')),
    value("cert", None),
    value("key", None),
    switch("insecure", Some('k')),
    switch("disableKeepAlives", Some('a')),
    Flag {
        name: "header",
        short: Some('H'),
        takes_value: true,
        repeatable: true,
    },
    value("requests", Some('n')),
    value("duration", Some('d')),
    value("rate", Some('r')),
    switch("fasthttp", None),
    switch("http1", None),
    switch("http2", None),
    value("print", Some('p')),
    switch("no-print", Some('q')),
    value("format", Some('o')),
    switch("no-verdict", None),
    Flag {
        name: "observe",
        short: None,
        takes_value: true,
        repeatable: true,
    },
];

/// The flags of one command line, with parsed values.
pub(super) struct Flags {
    pub(super) url: String,
    pub(super) connections: u64,
    /// Nanoseconds; negative values are refused later, as in the tool.
    pub(super) timeout: i64,
    pub(super) requests: Option<u64>,
    /// Nanoseconds.
    pub(super) duration: Option<i64>,
    pub(super) rate: Option<u64>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) client: Client,
    pub(super) print: Print,
    parsed: kingpin::Parsed,
}

impl Flags {
    pub(super) fn read(arguments: &[String], files: &Files) -> Result<Flags, Ending> {
        let parsed =
            kingpin::parse(KNOWN, arguments, files).map_err(|why| usage::parse_error(&why))?;
        let asks = |name: &str| {
            parsed
                .switches
                .iter()
                .any(|(given, on)| *given == name && *on)
        };
        if ["help", "help-long", "help-man"].into_iter().any(asks) {
            return Err(usage::help());
        }
        if asks("version") {
            return Err(usage::version());
        }
        Flags::of(parsed).map_err(|why| usage::parse_error(&why))
    }

    fn of(parsed: kingpin::Parsed) -> Result<Flags, String> {
        let url = match parsed.words.as_slice() {
            [] => return Err("required argument 'url' not provided".to_owned()),
            [url] => url.clone(),
            [_, unexpected, ..] => return Err(format!("unexpected {unexpected}")),
        };
        let text = |name: &str| {
            parsed
                .values
                .iter()
                .find(|(given, _)| *given == name)
                .map(|(_, value)| value.as_str())
        };
        let uint = |name: &str| text(name).map(parse_uint).transpose();
        let time = |name: &str| text(name).map(duration::parse).transpose();
        let headers = parsed.values.iter().filter(|(name, _)| *name == "header");
        let headers = headers
            .map(|(_, line)| header(line))
            .collect::<Result<_, _>>()?;
        let is_quiet = parsed
            .switches
            .iter()
            .any(|(name, on)| *name == "no-print" && *on);
        let print = print_of(text("print"), is_quiet)?;
        Ok(Flags {
            url,
            connections: uint("connections")?.unwrap_or(125),
            timeout: time("timeout")?.unwrap_or(duration_ns(Duration::from_secs(2))),
            requests: uint("requests")?,
            duration: time("duration")?,
            rate: uint("rate")?,
            headers,
            client: client_of(&parsed.switches),
            print,
            parsed,
        })
    }

    /// The text of a flag; `None` if not given or empty, which is the same to the tool.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let given = self.parsed.values.iter().find(|(given, _)| *given == name);
        given
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// The text of a flag, even if empty; `None` if not given.
    pub(super) fn given(&self, name: &str) -> Option<&str> {
        let given = self.parsed.values.iter().find(|(given, _)| *given == name);
        given.map(|(_, value)| value.as_str())
    }

    /// Every text of a repeatable flag.
    pub(super) fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let given = self.parsed.values.iter();
        given.filter_map(move |(given, value)| (*given == name).then_some(value.as_str()))
    }

    pub(super) fn is_set(&self, name: &str) -> bool {
        self.parsed
            .switches
            .iter()
            .any(|(given, on)| *given == name && *on)
    }
}

fn duration_ns(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

fn header(line: &str) -> Result<(String, String), String> {
    let (name, value) = line.split_once(':').ok_or("invalid header format")?;
    Ok((name.to_owned(), value.trim_matches(' ').to_owned()))
}

/// The last one wins, even if switched off: the tool only checks whether it is mentioned.
fn client_of(switches: &[(&'static str, bool)]) -> Client {
    let named = switches.iter().rev().find_map(|(name, _)| match *name {
        "fasthttp" => Some(Client::FastHttp),
        "http1" => Some(Client::NetHttp1),
        "http2" => Some(Client::NetHttp2),
        _ => None,
    });
    named.unwrap_or(Client::FastHttp)
}

fn print_of(spec: Option<&str>, is_quiet: bool) -> Result<Print, String> {
    let all = Print {
        intro: true,
        progress: true,
        result: true,
    };
    let nothing = Print {
        intro: false,
        progress: false,
        result: false,
    };
    let print = match spec {
        None => all,
        Some("") => return Err("empty print spec is not a valid print spec".to_owned()),
        Some(spec) => print_parts(spec, nothing)?,
    };
    Ok(if is_quiet { nothing } else { print })
}

fn print_parts(spec: &str, mut print: Print) -> Result<Print, String> {
    for part in spec.split(',') {
        match part {
            "i" | "intro" => print.intro = true,
            "p" | "progress" => print.progress = true,
            "r" | "result" => print.result = true,
            other => {
                return Err(format!(
                    "{} is not a valid part of print spec",
                    loadline_go::quoted(other)
                ));
            }
        }
    }
    if spec.split(',').count() > 3 {
        let spec = loadline_go::quoted(spec);
        return Err(format!(
            "spec {spec} has too many parts, at most 3 are allowed"
        ));
    }
    Ok(print)
}
