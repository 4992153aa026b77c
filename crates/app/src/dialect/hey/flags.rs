//! hey's flags: names, kinds, defaults.
//!
//! Must not know their effects. Invariant: one row per flag.

use super::usage;
use crate::Ending;
use crate::dialect::go_flag::{self, Kind, Stop, Value};

/// Every flag, in the order of the help; the last two are loadline's.
pub(super) const KNOWN: &[(&str, Kind)] = &[
    ("n", Kind::Int),
    ("c", Kind::Int),
    ("q", Kind::Float),
    ("z", Kind::Duration),
    ("o", Kind::Text),
    ("m", Kind::Text),
    ("H", Kind::Text),
    ("h", Kind::Text),
    ("t", Kind::Int),
    ("A", Kind::Text),
    ("d", Kind::Text),
    ("D", Kind::Text),
    ("T", Kind::Text),
    ("U", Kind::Text),
    ("a", Kind::Text),
    ("x", Kind::Text),
    ("h2", Kind::Bool),
    ("host", Kind::Text),
    ("disable-compression", Kind::Bool),
    ("disable-keepalive", Kind::Bool),
    ("disable-redirects", Kind::Bool),
    ("cpus", Kind::Int),
    ("no-verdict", Kind::Bool),
    ("observe", Kind::Text),
];

/// The flags of one command line.
pub(super) struct Flags {
    given: Vec<(&'static str, Value)>,
    /// The first word after the flags; others are ignored, as in hey.
    pub(super) url: String,
}

impl Flags {
    pub(super) fn read(arguments: &[String]) -> Result<Flags, Ending> {
        let parsed = go_flag::parse(KNOWN, arguments).map_err(|stop| match stop {
            Stop::Help => usage::help(),
            Stop::Bad(message) => usage::flag_error(&message),
        })?;
        let Some(url) = parsed.rest.first() else {
            return Err(usage::value_error(""));
        };
        Ok(Flags {
            url: url.clone(),
            given: parsed.flags,
        })
    }

    fn last(&self, name: &str) -> Option<&Value> {
        self.given
            .iter()
            .rev()
            .find(|(given, _)| *given == name)
            .map(|(_, value)| value)
    }

    pub(super) fn int(&self, name: &str, default: i64) -> i64 {
        match self.last(name) {
            Some(Value::Int(number)) => *number,
            _ => default,
        }
    }

    pub(super) fn float(&self, name: &str) -> f64 {
        match self.last(name) {
            Some(Value::Float(number)) => *number,
            _ => 0.0,
        }
    }

    /// Nanoseconds.
    pub(super) fn duration(&self, name: &str) -> i64 {
        match self.last(name) {
            Some(Value::Duration(nanoseconds)) => *nanoseconds,
            _ => 0,
        }
    }

    /// The text; `None` if not given or empty, which is mostly the same to hey.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.given(name).filter(|text| !text.is_empty())
    }

    /// The text, even if empty; `None` if not given.
    pub(super) fn given(&self, name: &str) -> Option<&str> {
        match self.last(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Every text of a repeatable flag.
    pub(super) fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.given
            .iter()
            .filter_map(move |(given, value)| match value {
                Value::Text(text) if *given == name => Some(text.as_str()),
                _ => None,
            })
    }

    pub(super) fn is_set(&self, name: &str) -> bool {
        matches!(self.last(name), Some(Value::Bool(true)))
    }
}
