//! What a scenario of steps waits for: the end of others, and commands from its own threads.
//!
//! Must not know schedules. Invariant: a scenario announces its end once, however many wait for it.

use loadline_model::Nanos;

use super::ScenarioShare;
use crate::steps::PhaseGate;

impl ScenarioShare {
    /// The same, started when others have ended.
    pub(crate) fn behind(mut self, gate: PhaseGate) -> ScenarioShare {
        self.start.set(Nanos::MAX);
        self.gate = Some(gate);
        self
    }

    /// Starts the scenario if those that it waits for have ended; ends it if its threads say so.
    pub(crate) fn heed_gate(&self, now: Nanos) {
        let Some(gate) = &self.gate else { return };
        if gate.is_to_end() && !self.over.get() {
            self.finish(now, now);
        }
        if self.start.get() < Nanos::MAX || self.over.get() {
            return;
        }
        if let Some(began) = gate.state.phase_began(gate.stage, now) {
            if let Some(setup) = &gate.told_by {
                setup.tell_phase(gate.stage);
            }
            self.start.set(began);
            let end = self.end.get();
            self.end
                .set(end.map(|end| Nanos(end.0.saturating_add(began.0))));
            self.look_around();
        }
    }

    /// When nothing more starts; `None` without such an instant, or while it waits for others to end.
    pub(super) fn known_end(&self) -> Option<Nanos> {
        let has_beginning = self.start.get() < Nanos::MAX;
        self.end.get().filter(|_| has_beginning)
    }

    /// Notifies the workers once that the scenario has ended, if others wait for it.
    pub(crate) fn tell_end(&self) {
        let Some(gate) = &self.gate else { return };
        if !self.has_ended() || self.has_told_end.replace(true) {
            return;
        }
        if gate.state.end_share(gate.stage) {
            if let Some(setup) = &gate.told_by {
                setup.tell_phase_end(gate.stage);
            }
            for mailbox in self.siblings.iter().chain([&self.mailbox]) {
                mailbox.notify.notify_one();
            }
        }
    }

    /// Whether a stop does not affect it.
    pub(crate) fn outlives_stop(&self) -> bool {
        self.gate.as_ref().is_some_and(PhaseGate::outlives_stop)
    }

    /// Whether the worker was told to stop and has not done so yet: virtual users whose turn comes before that must not
    /// start anything more. Groups of threads stop in an order that only the worker knows.
    #[inline]
    pub(super) fn is_called_off(&self) -> bool {
        self.gate.is_none() && self.mailbox.ordered().is_some()
    }

    /// Makes all virtual users check again what to do.
    pub(super) fn look_around(&self) {
        self.steered.set(self.steered.get() + 1);
        for slot in self.slots.borrow().iter() {
            slot.wake();
        }
    }
}
