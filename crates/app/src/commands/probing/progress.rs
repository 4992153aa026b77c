//! The seconds of a load, shown on a terminal.
//!
//! Must not know what is loaded. Invariant: without a terminal nothing is drawn.

use std::io::IsTerminal;

use loadline_model::RunEvent;
use loadline_report::units;

use super::Load;
use crate::terminal::print;

/// The seconds of a load, on a line of a terminal that the next text replaces.
pub(super) struct Progress {
    what: String,
    seconds: u64,
    of: u64,
    is_shown: bool,
}

impl Progress {
    pub(super) fn new(what: &str, load: Load, is_quiet: bool) -> Progress {
        let progress = Progress {
            what: what.to_owned(),
            seconds: 0,
            of: (load.warm_up + load.duration).as_secs_f64().ceil() as u64,
            is_shown: !is_quiet && std::io::stderr().is_terminal(),
        };
        progress.draw("");
        progress
    }

    pub(super) fn show(&mut self, event: &RunEvent) {
        if let RunEvent::Second { row, .. } = event {
            self.seconds += 1;
            let rate = units::rate(row.per_second(row.completed).unwrap_or_default());
            self.draw(&format!(
                "  {} of {} s, {rate}",
                self.seconds.min(self.of),
                self.of
            ));
        }
    }

    fn draw(&self, rest: &str) {
        if self.is_shown {
            print::to_stderr(&format!("\r{}{rest}\x1b[K", self.what));
        }
    }

    pub(super) fn clear(&self) {
        if self.is_shown {
            print::to_stderr("\r\x1b[K");
        }
    }
}
