//! The phases of a part of a plan, which end when they have ended in all parts.
//!
//! Must not know how the parts communicate. Invariants: a phase is reported as ended here once, in order;
//! properties set by its threads are reported with it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use loadline_steps::host::World;

use super::{StepsSetup, StepsState};

/// A property: its name and its value.
pub type Property = (String, String);

/// The phases of a part of a plan.
pub struct Phases {
    state: Arc<StepsState>,
    world: Arc<dyn World + Send + Sync>,
    /// The properties that all parts know.
    known: BTreeMap<String, String>,
    /// The first phase not yet reported as ended here.
    next: usize,
    /// Whether it is known everywhere that the test is to end.
    is_stop_known: bool,
}

impl Phases {
    /// Keeps every phase open until it is over everywhere. Call it before the engine starts.
    #[must_use]
    pub fn hold(setup: &StepsSetup) -> Phases {
        setup.state.hold_phases();
        Phases {
            state: Arc::clone(&setup.state),
            world: Arc::clone(&setup.world),
            known: setup.world.properties().into_iter().collect(),
            next: 0,
            is_stop_known: false,
        }
    }

    /// The next phase whose groups have ended here, and the properties set since the previous one; `None`:
    /// there is none yet. Call it only after the engine has started.
    pub fn ended(&mut self) -> Option<(u32, Vec<Property>)> {
        let number = self.next;
        if !self.state.is_only_held(number) {
            return None;
        }
        self.next += 1;
        let properties = self.world.properties().into_iter();
        let fresh = |(name, value): &Property| self.known.get(name) != Some(value);
        let fresh: Vec<Property> = properties.filter(fresh).collect();
        self.known.extend(fresh.iter().cloned());
        Some((u32::try_from(number).unwrap_or(u32::MAX), fresh))
    }

    /// Whether a thread here wants the test to end, reported once; the value says whether running samples are
    /// interrupted.
    pub fn stop_wanted(&mut self) -> Option<bool> {
        let is_new = self.state.is_stopping() && !self.is_stop_known;
        self.is_stop_known |= is_new;
        is_new.then(|| self.state.is_cut.load(Ordering::Relaxed))
    }

    /// Ends the test, as a thread elsewhere requested; waiting threads have to check again.
    pub fn stop(&mut self) {
        self.is_stop_known = true;
        self.state.stop();
    }

    /// A phase is over everywhere, and its threads have set these properties; waiting threads have to check
    /// again.
    pub fn is_over(&mut self, number: u32, properties: Vec<Property>) {
        for (name, value) in properties {
            self.world.set_property(&name, &value);
            self.known.insert(name, value);
        }
        self.state.release_phase(number as usize);
    }
}
