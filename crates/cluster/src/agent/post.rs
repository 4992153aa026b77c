//! An agent's reports, over successive connections.
//!
//! Must not know why a connection breaks. Invariants: on each connection, reports are sent in the order of
//! their numbers; a script's effects on the test are sent on each.

use std::io;

use loadline_engine::ScriptSignal;
use loadline_engine::WorkerReport;

use super::line::Line;
use super::outbox::Outbox;
use super::work::{GoingOn, LiveView};
use crate::generated::from_agent::What;
use crate::generated::{Ready, Refusal, Report, Signal};

/// Reports, and the connection that they are sent over.
pub(super) struct Post {
    outbox: Outbox,
    line: Option<Line>,
    /// Whether a new coordinator does not accept reports yet.
    is_waiting: bool,
    /// The first of each kind from scripts.
    signals: Vec<Signal>,
    live: LiveView,
    /// As it was reported.
    pub(super) ready: Ready,
}

impl Post {
    pub(super) fn new(live: LiveView) -> Post {
        Post {
            outbox: Outbox::default(),
            line: None,
            is_waiting: false,
            signals: Vec::new(),
            live,
            ready: Ready::default(),
        }
    }

    /// There is a connection.
    pub(super) fn link(&mut self, line: Line, how: GoingOn) {
        self.line = Some(line);
        self.is_waiting = false;
        match how {
            GoingOn::First => {}
            GoingOn::From(number) => {
                let reports = self.outbox.go_on_from(number);
                self.send(reports);
            }
            GoingOn::Anew(mut handed) => {
                self.is_waiting = true;
                match self.outbox.hand_over() {
                    Ok(seconds) => handed.seconds_in_one = seconds,
                    Err(error) => return self.refuse(&error),
                }
                handed.ready = Some(self.ready.clone());
                self.say(What::HandOver(*handed));
                self.say(self.live.told());
            }
        }
        for signal in &self.signals {
            self.say(What::Signal(signal.clone()));
        }
    }

    /// The new coordinator accepts reports now.
    pub(super) fn go_on(&mut self) {
        if std::mem::take(&mut self.is_waiting) {
            let reports = self.outbox.go_on_from(0);
            self.send(reports);
        }
    }

    /// Adds a report, which waits for those of the other workers.
    pub(super) fn take(&mut self, report: WorkerReport) {
        let reports = self.outbox.take(report);
        self.send(reports);
    }

    /// No other report is expected soon.
    pub(super) fn flush(&mut self) {
        let reports = self.outbox.ready();
        self.send(reports);
    }

    /// Reports up to this one have arrived.
    pub(super) fn received(&mut self, number: u64) {
        if !self.is_waiting {
            let reports = self.outbox.received(number);
            self.send(reports);
        }
    }

    /// Whether everything reported has arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.outbox.is_empty()
    }

    /// A script did something to the test.
    pub(super) fn signal(&mut self, signal: ScriptSignal) {
        let signal = Signal::from(signal);
        self.say(What::Signal(signal.clone()));
        if self.signals.iter().all(|known| known.kind != signal.kind) {
            self.signals.push(signal);
        }
    }

    fn send(&self, reports: io::Result<Vec<Report>>) {
        let reports = match reports {
            Ok(reports) => reports,
            Err(error) => return self.refuse(&error),
        };
        if self.is_waiting {
            return;
        }
        for report in reports {
            // The run may end with this report: anything sent after it would not count.
            if report.end.is_some() {
                self.say(self.live.told());
            }
            self.say(What::Report(report));
        }
    }

    fn refuse(&self, error: &io::Error) {
        self.say(What::Refusal(Refusal {
            why: format!("a report cannot be written: {error}"),
        }));
    }

    fn say(&self, what: What) {
        if let Some(line) = &self.line {
            line.say(what);
        }
    }
}
