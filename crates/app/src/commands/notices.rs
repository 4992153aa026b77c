//! Notices of a command that makes no run, as lines of the log.
//!
//! Must not know commands. Invariant: a line is in the log's own format, and goes where the log goes.

use crate::k6::{LogOutput, LogSettings, Notice};
use crate::terminal::{now, print};

/// Tells what the user is to know before anything starts.
pub(super) fn tell(notices: &[Notice], log: &LogSettings) {
    for notice in notices {
        let line = log.format.line(notice, &now::rfc3339());
        match log.output {
            LogOutput::None => {}
            // A reader that went away has seen all that it wanted.
            LogOutput::Stdout => drop(print::to_stdout(&line)),
            LogOutput::Stderr | LogOutput::File { .. } | LogOutput::Loki(_) => {
                print::to_stderr(&line);
            }
        }
    }
}
