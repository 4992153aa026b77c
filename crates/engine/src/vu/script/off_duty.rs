//! Virtual users without a scenario, until the next one takes them over.
//!
//! Source: k6 keeps its virtual users in one pool; a scenario takes them when it starts and returns them at its
//! end. Must not know scenarios. Invariant: none of them is running a task.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use loadline_script::vu::VuIds;

use super::user::ScriptUser;
use crate::slot::VuSlot;

/// The virtual users of a worker without a scenario; they are dropped with it.
#[derive(Default)]
pub(crate) struct OffDutyVus(RefCell<HashMap<VuIds, Place>>);

/// Where a virtual user is.
enum Place {
    /// Here, until a scenario takes it.
    Here(Box<ScriptUser>),
    /// A scenario has it; the next one may wait for it already.
    Away(Option<Rc<VuSlot>>),
}

/// The result of requesting a virtual user.
pub(super) enum Taken {
    /// This one.
    User(Box<ScriptUser>),
    /// None of these numbers was made yet; it is theirs to make.
    Nobody,
    /// A scenario still has it.
    Away,
}

impl OffDutyVus {
    /// Whether a virtual user with these numbers exists, here or active.
    pub(super) fn knows(&self, ids: VuIds) -> bool {
        self.0.borrow().contains_key(&ids)
    }

    /// Stores one for the scenario that takes it, and wakes that scenario's slot.
    pub(super) fn keep(&self, user: Box<ScriptUser>) {
        let ids = user.ids;
        let before = self.0.borrow_mut().insert(ids, Place::Here(user));
        if let Some(Place::Away(Some(waiting))) = before {
            waiting.wake();
        }
    }

    /// Takes the one with these numbers; while a scenario still has it, `slot` is woken when it is returned.
    pub(super) fn take(&self, ids: VuIds, slot: &Rc<VuSlot>) -> Taken {
        let mut places = self.0.borrow_mut();
        match places.insert(ids, Place::Away(None)) {
            None => Taken::Nobody,
            Some(Place::Here(user)) => Taken::User(user),
            Some(Place::Away(_)) => {
                places.insert(ids, Place::Away(Some(Rc::clone(slot))));
                Taken::Away
            }
        }
    }

    /// Drops the one with these numbers: no scenario needs it any more.
    pub(super) fn dismiss(&self, ids: VuIds) {
        self.0.borrow_mut().remove(&ids);
    }
}
