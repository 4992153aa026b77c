//! Virtual users that no scenario has at work: those that the next one takes over, and those to be freed.
//!
//! Source: k6 keeps its virtual users in one pool; a scenario takes them when it begins and gives them
//! back when it has ended. Taking a script's heap apart takes about as long as many iterations do, and
//! virtual users tend to end together: freed at once they would delay all that are still at work. Must
//! not know scenarios. Invariant: none of them is in a task.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use loadline_model::Nanos;
use loadline_script::ScriptVu;

use super::user::{ScriptUser, VuIds};
use crate::slot::VuSlot;

/// One is freed each so often: a tenth of the worker's time at most goes there.
const EVERY: Duration = Duration::from_millis(1);

/// The virtual users of a worker that have no scenario. What is left of them goes with it.
#[derive(Default)]
pub(crate) struct OffDutyVus {
    places: RefCell<HashMap<VuIds, Place>>,
    retired: RefCell<Vec<ScriptVu>>,
    next: Cell<Nanos>,
}

/// Where a virtual user is.
enum Place {
    /// Here, until a scenario takes it.
    Here(Box<ScriptUser>),
    /// A scenario has it; the next one may wait for it already.
    Away(Option<Rc<VuSlot>>),
}

/// What somebody gets who wants a virtual user.
pub(super) enum Taken {
    /// This one.
    User(Box<ScriptUser>),
    /// None of these numbers was made yet; it is theirs to make.
    Nobody,
    /// A scenario still has it.
    Away,
}

impl OffDutyVus {
    /// Whether there is a virtual user of these numbers, here or at work.
    pub(super) fn knows(&self, ids: VuIds) -> bool {
        self.places.borrow().contains_key(&ids)
    }

    /// Keeps one for the scenario that takes it, and wakes that scenario's.
    pub(super) fn keep(&self, user: Box<ScriptUser>) {
        let ids = user.ids;
        let before = self.places.borrow_mut().insert(ids, Place::Here(user));
        if let Some(Place::Away(Some(waiting))) = before {
            waiting.wake();
        }
    }

    /// Takes the one of these numbers; while a scenario still has it, `slot` is woken when it comes.
    pub(super) fn take(&self, ids: VuIds, slot: &Rc<VuSlot>) -> Taken {
        let mut places = self.places.borrow_mut();
        match places.insert(ids, Place::Away(None)) {
            None => Taken::Nobody,
            Some(Place::Here(user)) => Taken::User(user),
            Some(Place::Away(_)) => {
                places.insert(ids, Place::Away(Some(Rc::clone(slot))));
                Taken::Away
            }
        }
    }

    /// Forgets the one of these numbers: no scenario wants it any more.
    pub(super) fn dismiss(&self, ids: VuIds) {
        // Its script is retired, which looks in here again.
        let dismissed = self.places.borrow_mut().remove(&ids);
        drop(dismissed);
    }

    pub(super) fn retire(&self, vu: ScriptVu) {
        self.retired.borrow_mut().push(vu);
    }

    /// Frees one if it is time to.
    pub(crate) fn free_if_due(&self, now: Nanos) {
        if now < self.next.get() {
            return;
        }
        let freed = self.retired.borrow_mut().pop();
        if freed.is_some() {
            self.next.set(now + EVERY);
        }
    }

    /// When the next one is to be freed; the greatest instant when there is none.
    pub(crate) fn next_due(&self) -> Nanos {
        match self.retired.borrow().is_empty() {
            true => Nanos::MAX,
            false => self.next.get(),
        }
    }
}
