//! Ends a run early: orders, thresholds, and defects.
//!
//! Must not know who gives orders. Invariants: whatever ends a run, the load is stopped, and the wait for it is
//! limited; the first reason remains, unless a part of this program crashed.

use std::time::Duration;

use loadline_model::event::{DEFECT_MARK, Mark, SILENT_MARK, THRESHOLD_MARK};
use loadline_model::result::StopReason;
use loadline_model::{ExitCode, RunCommand, RunEvent};

use super::Conductor;
use crate::contract::RunError;
use crate::lifecycle::Begun;
use crate::orders::reason_of;
use crate::trouble::Trouble;

/// How long workers may take to report after an order to stop at once.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// The same after a second request of the user, who is waiting.
const LAST_WORDS_NOW: Duration = Duration::from_millis(400);

/// How much of a hurry those are in who ordered the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Haste {
    /// Nobody ordered it.
    #[default]
    Nobody,
    /// It was ordered: what follows the load is not waited for, but `teardown()` runs.
    Asked,
    /// It was ordered to happen at once.
    AtOnce,
}

impl Haste {
    fn of(reason: StopReason) -> Haste {
        match reason {
            StopReason::Aborted => Haste::AtOnce,
            _ => Haste::Asked,
        }
    }
}

/// The reason for the end of a run after another one, `later`.
fn reason_after(first: StopReason, later: StopReason) -> StopReason {
    match (first, later) {
        (StopReason::Finished, later) | (_, later @ StopReason::Defect) => later,
        // The same person, who insists.
        (StopReason::Interrupted, StopReason::Aborted) => later,
        (first, _) => first,
    }
}

impl Conductor {
    pub(super) fn obey(&mut self, command: RunCommand, on_event: &mut dyn FnMut(RunEvent)) {
        let Some(reason) = reason_of(command) else {
            return self.load.command(command);
        };
        self.haste = self.haste.max(Haste::of(reason));
        let text = match reason {
            StopReason::Remote => "stopped through the REST API or the live page",
            _ if command == RunCommand::StopGracefully && self.plan.script.is_none() => {
                "asked to stop: nothing new starts, running requests may end"
            }
            _ => "asked to stop at once",
        };
        self.stop_for(command, reason, "stop", text.to_owned(), on_event);
    }

    /// Notes an order received during `teardown()`: it only changes the reason for the end of the test.
    pub(super) fn note_late(&mut self, order: RunCommand) {
        if let Some(reason) = reason_of(order) {
            self.stop = reason_after(self.stop, reason);
        }
    }

    /// Whether workers that were ordered to stop at once have exceeded their time.
    pub(super) fn gave_up(&self) -> bool {
        let now = self.load.clock().now();
        let patience = self.patience();
        self.cut_at.is_some_and(|at| now - at > patience)
    }

    pub(super) fn patience(&self) -> Duration {
        match self.haste {
            Haste::AtOnce => LAST_WORDS_NOW,
            Haste::Nobody | Haste::Asked => LAST_WORDS,
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
                "{} of {} workers did not report within {:?} after the stop",
                self.silent,
                self.load.workers(),
                self.patience()
            ),
        };
        self.mark(mark, on_event);
    }

    /// Obeys what was ordered, or decided, before the run.
    pub(super) fn take_over(&mut self, begun: Begun, on_event: &mut dyn FnMut(RunEvent)) {
        self.has_begun = begun == Begun::Yes;
        match begun {
            Begun::Stopped(order) => self.obey(order, on_event),
            Begun::Crossed(text) => self.stop_for_thresholds(text, on_event),
            Begun::No => {
                let text = "setup() failed".to_owned();
                let (command, reason) = (RunCommand::StopNow, StopReason::Script);
                self.stop_for(command, reason, "stop", text, on_event);
            }
            // The reports contain the reason.
            Begun::Yes | Begun::Unmade => {}
        }
    }

    /// Notes that a required observer was lost after the load: nothing of it is left to stop.
    pub(super) fn note_lost_observer(
        &mut self,
        lost: Option<String>,
        on_event: &mut dyn FnMut(RunEvent),
    ) {
        let Some(text) = lost else { return };
        self.stop = reason_after(self.stop, StopReason::ObserverLost);
        let mark = Mark {
            at_ns: self.load.clock().now().0,
            kind: "stop".to_owned(),
            text,
        };
        self.mark(mark, on_event);
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
        // As in k6, whatever ends a script's test interrupts its iterations: `gracefulStop` only applies to the
        // end of a scenario's time.
        let command = match self.plan.script.is_some() {
            true => RunCommand::StopNow,
            false => command,
        };
        self.load.command(command);
        self.stop = reason_after(self.stop, reason);
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

    /// Ends the run if a worker has panicked: the others could wait for it forever.
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

    /// Why nothing at all was sent, if workers could not work; `None`: something was sent, or they could work.
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

/// The message for a defect of this program.
fn defect(why: &str) -> String {
    format!("{why}; this is a defect of loadline: please report it with this message")
}
