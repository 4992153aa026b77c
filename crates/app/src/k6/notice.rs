//! Messages for the user of a script besides results: warnings, and the error that ends a command.
//!
//! Must not know a clock or a stream. Invariant: a notice reads like a line of k6's log.

use std::borrow::Cow;
use std::fmt;

use loadline_go::quoted;
use loadline_model::ExitCode;
use loadline_model::secret::redacted_text;

/// The severity of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Details for debugging.
    Debug,
    /// Good to know.
    Info,
    /// Something was not done as requested.
    Warning,
    /// It cannot be done.
    Error,
}

impl Level {
    /// The name of the level in the log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// A line for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The severity.
    pub level: Level,
    /// The text.
    pub message: String,
    /// Fields after the text: name and value, sorted by name.
    pub fields: Vec<(Cow<'static, str>, String)>,
}

impl Notice {
    /// The same with secrets removed from its texts.
    pub(crate) fn redacted(&self) -> Notice {
        let mut notice = self.clone();
        notice.message = redacted_text(&notice.message).into_owned();
        for (_, value) in &mut notice.fields {
            *value = redacted_text(value).into_owned();
        }
        notice
    }

    /// A notice without fields.
    pub fn new(level: Level, message: impl Into<String>) -> Notice {
        Notice {
            level,
            message: message.into(),
            fields: Vec::new(),
        }
    }

    /// A warning without fields.
    pub fn warning(message: impl Into<String>) -> Notice {
        Notice::new(Level::Warning, message)
    }

    /// The same with an additional field.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Notice {
        self.fields.push((name.into(), value.into()));
        self
    }
}

impl fmt::Display for Notice {
    /// `level=error msg="…" field=value`: the log's text format without its time.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "level={}", self.level.name())?;
        // As in logrus, an empty message is omitted.
        if !self.message.is_empty() {
            write!(f, " msg={}", bare(&self.message))?;
        }
        for (name, value) in &self.fields {
            write!(f, " {name}={}", bare(value))?;
        }
        Ok(())
    }
}

/// A value in the format of logrus: quoted if it has other characters than letters, digits and `-._/@^+`; not
/// quoted if empty.
fn bare(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._/@^+".contains(c);
    match text.chars().all(plain) {
        true => text.to_owned(),
        false => quoted(text),
    }
}

/// The error that ends a script command before or instead of its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct K6Error {
    /// The exit code.
    pub code: ExitCode,
    /// What is wrong.
    pub notice: Notice,
    /// Messages to be printed before it.
    pub before: Vec<Notice>,
}

impl K6Error {
    /// An error without fields.
    pub fn new(code: ExitCode, message: impl Into<String>) -> K6Error {
        K6Error {
            code,
            notice: Notice::new(Level::Error, message),
            before: Vec::new(),
        }
    }

    /// Options that cannot be run: exit code 104.
    pub fn config(message: impl Into<String>) -> K6Error {
        K6Error::new(ExitCode::InvalidConfig, message)
    }

    /// An invalid command line, and everything else: exit code 255.
    pub fn other(message: impl Into<String>) -> K6Error {
        K6Error::new(ExitCode::Other, message)
    }
}

impl fmt::Display for K6Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.notice.message)
    }
}

impl std::error::Error for K6Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_log_writes_it() {
        let notice = Notice::warning("Error from API server")
            .with("error", "listen tcp: address x: missing port in address")
            .with("source", "cli");
        assert_eq!(
            notice.to_string(),
            "level=warning msg=\"Error from API server\" error=\"listen tcp: address x: missing \
             port in address\" source=cli"
        );
        let empty = Notice::new(Level::Info, "").with("group", "").to_string();
        assert_eq!(empty, "level=info group=");
    }
}
