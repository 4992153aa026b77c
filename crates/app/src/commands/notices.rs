//! Notices of a command without a run, as log lines.
//!
//! Must not know commands. Invariant: a line has the log's own format and destination.

use crate::k6::{LogOutput, LogSettings, Notice};
use crate::terminal::{now, print};

/// Prints notices for the user before anything starts.
pub(super) fn tell(notices: &[Notice], log: &LogSettings) {
    for notice in notices {
        let line = log.format.line(notice, &now::rfc3339());
        match log.output {
            LogOutput::None => {}
            // A reader that closed the stream has seen what it wanted.
            LogOutput::Stdout => drop(print::to_stdout(&line)),
            LogOutput::Stderr | LogOutput::File { .. } | LogOutput::Loki(_) => {
                print::to_stderr(&line);
            }
        }
    }
}
