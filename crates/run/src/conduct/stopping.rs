//! Ending a run before its time: orders, thresholds, and what broke down.
//!
//! Must not know who gives orders. Invariant: whatever ends a run, who makes the load is told, and is waited for no longer
//! than it may take.

use std::time::Duration;

use loadline_model::event::{DEFECT_MARK, Mark, SILENT_MARK, THRESHOLD_MARK};
use loadline_model::result::StopReason;
use loadline_model::{ExitCode, RunCommand, RunEvent};

use super::Conductor;
use crate::contract::RunError;
use crate::lifecycle::{Begun, Trouble};
use crate::orders::reason_of;

/// How long workers may take to report after they were told to stop at once.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// The same where the user asked a second time, and waits.
const LAST_WORDS_NOW: Duration = Duration::from_millis(400);

impl Conductor {
    pub(super) fn obey(&mut self, command: RunCommand, on_event: &mut dyn FnMut(RunEvent)) {
        let Some(reason) = reason_of(command) else {
            return self.load.command(command);
        };
        let text = match reason {
            StopReason::Remote => "stopped through the REST API or the live page",
            _ if command == RunCommand::StopGracefully && self.plan.script.is_none() => {
                "asked to stop: nothing new starts, running requests may end"
            }
            _ => "asked to stop at once",
        };
        self.stop_for(command, reason, "stop", text.to_owned(), on_event);
    }

    /// An order that came during `teardown()`: all that it changes is why the test ended.
    pub(super) fn note_late(&mut self, order: RunCommand) {
        if let Some(reason) = reason_of(order)
            && self.stop == StopReason::Finished
        {
            self.stop = reason;
        }
    }

    /// Whether workers that were told to stop at once have not done so in time.
    pub(super) fn gave_up(&self) -> bool {
        let now = self.load.clock().now();
        let patience = self.patience();
        self.cut_at.is_some_and(|at| now - at > patience)
    }

    fn patience(&self) -> Duration {
        match self.stop {
            StopReason::Aborted => LAST_WORDS_NOW,
            _ => LAST_WORDS,
        }
    }

    /// Notes the workers that are waited for no longer, where some have not reported.
    pub(super) fn note_silent(&mut self, on_event: &mut dyn FnMut(RunEvent)) {
        self.silent = self.collector.silent();
        if self.silent == 0 {
            return;
        }
        let mark = Mark {
            at_ns: self.load.clock().now().0,
            kind: SILENT_MARK.to_owned(),
            text: format!(
                "{} of {} workers did not report within {:?} of being told to stop",
                self.silent,
                self.load.workers(),
                self.patience()
            ),
        };
        self.mark(mark, on_event);
    }

    /// Obeys what was ordered, or decided, before the run.
    pub(super) fn take_over(&mut self, begun: Begun, on_event: &mut dyn FnMut(RunEvent)) {
        match begun {
            Begun::Stopped(order) => self.obey(order, on_event),
            Begun::Crossed(text) => self.stop_for_thresholds(text, on_event),
            Begun::No => {
                let text = "setup() failed".to_owned();
                let (command, reason) = (RunCommand::StopNow, StopReason::Script);
                self.stop_for(command, reason, "stop", text, on_event);
            }
            // Why is among the reports.
            Begun::Yes | Begun::Unmade => {}
        }
    }

    pub(super) fn stop_for_thresholds(&mut self, text: String, on_event: &mut dyn FnMut(RunEvent)) {
        let (command, reason) = (RunCommand::StopGracefully, StopReason::ThresholdCrossed);
        self.stop_for(command, reason, THRESHOLD_MARK, text, on_event);
    }

    pub(super) fn stop_for(
        &mut self,
        command: RunCommand,
        reason: StopReason,
        kind: &str,
        text: String,
        on_event: &mut dyn FnMut(RunEvent),
    ) {
        // As in k6, whatever ends a script's test interrupts its iterations: `gracefulStop` is for the
        // end of a scenario's time.
        let command = match self.plan.script.is_some() {
            true => RunCommand::StopNow,
            false => command,
        };
        self.load.command(command);
        self.stop = reason;
        let now = self.load.clock().now();
        self.stopped_at.get_or_insert(now);
        if command != RunCommand::StopGracefully {
            self.cut_at.get_or_insert(now);
        }
        let mark = Mark {
            at_ns: now.0,
            kind: kind.to_owned(),
            text,
        };
        self.mark(mark, on_event);
    }

    /// Ends the run where a worker has panicked: the others may wait for it for ever.
    pub(super) fn heed_defect(&mut self, on_event: &mut dyn FnMut(RunEvent)) {
        let Some(why) = self.collector.defect.as_deref() else {
            return;
        };
        if self.stop == StopReason::Defect {
            return;
        }
        let text = defect(why);
        self.troubles
            .push(Trouble::new(ExitCode::Internal, text.as_str()));
        let (command, reason) = (RunCommand::StopNow, StopReason::Defect);
        self.stop_for(command, reason, DEFECT_MARK, text, on_event);
    }

    /// Why nothing was sent at all, where workers could not work; `None`: something was, or they could.
    pub(super) fn nothing_began(&mut self) -> Option<RunError> {
        if self.load.live().started > 0 {
            return None;
        }
        if let Some(why) = &self.collector.defect {
            return Some(RunError::Defect(defect(why)));
        }
        let failures = std::mem::take(&mut self.collector.failures);
        (!failures.is_empty()).then_some(RunError::Workers(failures))
    }
}

/// What is said of a part of this program that broke down.
fn defect(why: &str) -> String {
    format!("{why}; this is a defect of loadline: please report it with this message")
}
