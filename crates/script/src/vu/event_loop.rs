//! The event loop of one virtual user: timers, and hops that run concurrently with the script.
//!
//! Must not read a clock. Invariant: timers fire in order of their due time, equal ones in the order in which
//! they were set; every started operation is settled once.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

use loadline_model::Nanos;
use rquickjs::{Ctx, Error, Function, Persistent, Value};

use super::ask::OpId;
use super::state::OnEnd;
use crate::hop::{HopOutcome, HopRequest};

/// A timer of the script.
pub(crate) struct Timer {
    pub(crate) id: u32,
    /// Interval between two calls; `None`: it fires once.
    pub(crate) every_ns: Option<u64>,
    pub(crate) callback: Persistent<Function<'static>>,
    pub(crate) arguments: Vec<Persistent<Value<'static>>>,
}

/// The event loop of one virtual user.
#[derive(Default)]
pub(crate) struct EventLoop {
    timers: RefCell<BTreeMap<(Nanos, u64), Timer>>,
    due_of: RefCell<HashMap<u32, (Nanos, u64)>>,
    next_timer: Cell<u32>,
    sequence: Cell<u64>,
    next_op: Cell<OpId>,
    started: RefCell<Vec<(OpId, HopRequest)>>,
    under_way: RefCell<HashMap<OpId, OnEnd>>,
    ended: RefCell<Vec<(OpId, HopOutcome)>>,
}

impl EventLoop {
    /// The number of a new timer.
    pub(crate) fn new_timer_id(&self) -> u32 {
        self.next_timer.set(self.next_timer.get() + 1);
        self.next_timer.get()
    }

    /// Sets a timer.
    pub(crate) fn set_timer(&self, due: Nanos, timer: Timer) {
        let key = (due, self.sequence.get());
        self.sequence.set(self.sequence.get() + 1);
        self.due_of.borrow_mut().insert(timer.id, key);
        self.timers.borrow_mut().insert(key, timer);
    }

    /// Cancels a timer; unknown numbers are ignored.
    pub(crate) fn clear_timer(&self, id: u32) {
        if let Some(key) = self.due_of.borrow_mut().remove(&id) {
            self.timers.borrow_mut().remove(&key);
        }
    }

    /// Moves a timer to another instant; unknown numbers are ignored.
    pub(crate) fn move_timer(&self, id: u32, due: Nanos) {
        let key = self.due_of.borrow_mut().remove(&id);
        let timer = key.and_then(|key| self.timers.borrow_mut().remove(&key));
        if let Some(timer) = timer {
            self.set_timer(due, timer);
        }
    }

    /// Visits each pending timer, the next first.
    pub(crate) fn each_timer(&self, look: impl FnMut(&Timer)) {
        self.timers.borrow().values().for_each(look);
    }

    /// The instant of the next timer.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        let timers = self.timers.borrow();
        timers.first_key_value().map(|((due, _), _)| *due)
    }

    /// Removes and returns the first due timer.
    pub(crate) fn take_due(&self, now: Nanos) -> Option<Timer> {
        if self.next_due()? > now {
            return None;
        }
        let (_, timer) = self.timers.borrow_mut().pop_first()?;
        self.due_of.borrow_mut().remove(&timer.id);
        Some(timer)
    }

    pub(crate) fn start(&self, request: HopRequest, on_end: OnEnd) -> OpId {
        let id = self.next_op.get();
        self.next_op.set(id.wrapping_add(1));
        self.started.borrow_mut().push((id, request));
        self.under_way.borrow_mut().insert(id, on_end);
        id
    }

    pub(crate) fn take_started(&self) -> Vec<(OpId, HopRequest)> {
        std::mem::take(&mut *self.started.borrow_mut())
    }

    /// Whether any hop is started and not settled.
    pub(crate) fn is_anything_under_way(&self) -> bool {
        !self.under_way.borrow().is_empty()
    }

    pub(crate) fn note_ended(&self, ended: Vec<(OpId, HopOutcome)>) {
        self.ended.borrow_mut().extend(ended);
    }

    /// Notifies those who wait for ended hops.
    pub(crate) fn settle_ended(&self, ctx: &Ctx<'_>) -> Result<bool, Error> {
        let ended = std::mem::take(&mut *self.ended.borrow_mut());
        let any = !ended.is_empty();
        for (id, outcome) in ended {
            let on_end = self.under_way.borrow_mut().remove(&id);
            if let Some(on_end) = on_end {
                on_end(ctx, outcome)?;
            }
        }
        Ok(any)
    }

    /// Whether nothing is left to wait for.
    pub(crate) fn is_idle(&self) -> bool {
        self.timers.borrow().is_empty() && self.under_way.borrow().is_empty()
    }

    /// Clears everything; hops in progress are dropped by the caller.
    pub(crate) fn clear(&self) {
        self.timers.borrow_mut().clear();
        self.due_of.borrow_mut().clear();
        self.started.borrow_mut().clear();
        self.under_way.borrow_mut().clear();
        self.ended.borrow_mut().clear();
    }
}
