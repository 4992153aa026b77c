//! Virtual users that wait for an instant.
//!
//! Must not read a clock. Invariant: every added virtual user is woken once its instant has come.

use std::cell::{Cell, RefCell};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::task::{Context, Waker};

use loadline_model::Nanos;

use crate::slot::VuSlot;

struct Waiting {
    at: Nanos,
    slot: Rc<VuSlot>,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.cmp(&other.at)
    }
}

/// The waiting virtual users of a worker.
#[derive(Default)]
pub(crate) struct Timers {
    waiting: RefCell<BinaryHeap<Reverse<Waiting>>>,
    /// A virtual user was added whose instant is earlier than all others.
    is_sooner: Cell<bool>,
    /// Who fires them, while it waits itself.
    worker: RefCell<Option<Waker>>,
}

impl Timers {
    /// Wakes `slot` at an instant.
    pub(crate) fn add(&self, at: Nanos, slot: &Rc<VuSlot>) {
        if self.next().is_none_or(|first| at < first) {
            self.is_sooner.set(true);
            if let Some(worker) = self.worker.take() {
                worker.wake();
            }
        }
        self.waiting.borrow_mut().push(Reverse(Waiting {
            at,
            slot: Rc::clone(slot),
        }));
    }

    /// The same for one that waits again and again for an instant to come: it is kept once.
    pub(crate) fn add_once(&self, at: Nanos, slot: &Rc<VuSlot>) {
        if slot.awaits(at) {
            self.add(at, slot);
        }
    }

    /// The next instant for which a virtual user waits.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.waiting
            .borrow()
            .peek()
            .map(|Reverse(waiting)| waiting.at)
    }

    /// Whether the next instant is earlier than at the last call; otherwise the caller is woken when it becomes
    /// so.
    pub(crate) fn take_sooner(&self, cx: &Context<'_>) -> bool {
        let is_sooner = self.is_sooner.take();
        if !is_sooner {
            *self.worker.borrow_mut() = Some(cx.waker().clone());
        }
        is_sooner
    }

    /// Wakes virtual users whose instant has come.
    pub(crate) fn fire(&self, now: Nanos) {
        let mut waiting = self.waiting.borrow_mut();
        while waiting.peek().is_some_and(|Reverse(first)| first.at <= now) {
            if let Some(Reverse(first)) = waiting.pop() {
                first.slot.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_that_is_awaited_again_is_kept_once() {
        let (timers, slot) = (Timers::default(), Rc::new(VuSlot::new(0, 0)));
        for at in [9, 9, 9, 5, 5] {
            timers.add_once(Nanos(at), &slot);
        }
        assert_eq!(timers.waiting.borrow().len(), 2);
        assert_eq!(timers.next(), Some(Nanos(5)));
    }
}
