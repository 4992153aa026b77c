//! Notices of a command without a run, as log lines.
//!
//! Must not know commands. Invariant: a line has the log's own format and destination, and tells no secret.

use std::io::Write;

use crate::k6::{LogOutput, LogSettings, Notice};
use crate::terminal::{now, print};

/// Lines that are left to print: those for a file are already there.
pub(super) struct Told {
    pub(super) out: String,
    pub(super) err: String,
}

/// Prints notices for the user before anything starts.
pub(super) fn tell(notices: &[Notice], log: &LogSettings) {
    let Told { out, err } = told(notices, log);
    if !out.is_empty() {
        // A reader that closed the stream has seen what it wanted.
        drop(print::to_stdout(&out));
    }
    if !err.is_empty() {
        print::to_stderr(&err);
    }
}

/// Notices as lines of the log; what cannot go to its destination goes to standard error.
pub(super) fn told<'a>(notices: impl IntoIterator<Item = &'a Notice>, log: &LogSettings) -> Told {
    let lines = notices.into_iter();
    let lines = lines.map(|notice| log.format.line(&notice.redacted(), &now::rfc3339()));
    let lines: String = lines.collect();
    let (out, err) = match &log.output {
        LogOutput::None => (String::new(), String::new()),
        LogOutput::Stdout => (lines, String::new()),
        LogOutput::File { path, .. } if append(path, &lines) => (String::new(), String::new()),
        LogOutput::Stderr | LogOutput::File { .. } | LogOutput::Loki(_) => (String::new(), lines),
    };
    Told { out, err }
}

/// Adds lines to a log file; returns whether that succeeded.
fn append(path: &str, lines: &str) -> bool {
    let opened = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path);
    opened.is_ok_and(|mut file| file.write_all(lines.as_bytes()).is_ok())
}
