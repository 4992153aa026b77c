//! A scenario that is steered from outside: how many virtual users are at work, and whether any are.
//!
//! Must not know who steers. Invariant: virtual users that were made stay; those beyond the number are cut.

use std::rc::Rc;

use loadline_schedule::Schedule;

use super::{MakeBehaviour, ScenarioShare};
use crate::mailbox::Steering;
use crate::timers::Timers;

impl ScenarioShare {
    /// Does what was said from outside, if the scenario lets that be said. Virtual users that are no
    /// longer at work are cut, as in k6; those of a scenario that is paused end their iterations.
    pub(crate) fn steer(
        self: &Rc<Self>,
        Steering { vus, is_paused }: Steering,
        timers: &Rc<Timers>,
        make: MakeBehaviour<'_>,
    ) {
        let Some((at_work, max_vus)) = vus.or(self.planned_vus) else {
            return;
        };
        let hosted = match &mut *self.schedule.borrow_mut() {
            Schedule::Closed(closed) => {
                closed.steer(at_work, max_vus, is_paused);
                closed.vus()
            }
            Schedule::Open(_) => return,
        };
        while !self.over.get() && (self.slots.borrow().len() as u32) < hosted {
            let task = self.make_vu(timers, make);
            tokio::task::spawn_local(task.run_closed());
        }
        self.steered.set(self.steered.get() + 1);
        for slot in self.slots.borrow().iter() {
            if slot.global >= u64::from(at_work) {
                slot.cut();
            } else {
                slot.wake();
            }
        }
    }

    /// How often it was steered from outside.
    pub(crate) fn steered(&self) -> u64 {
        self.steered.get()
    }
}
