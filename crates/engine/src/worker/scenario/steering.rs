//! A scenario that is controlled from outside: how many virtual users are active, and whether it is paused.
//!
//! Must not know who controls it. Invariant: initialized virtual users stay; those beyond the number are interrupted.

use std::rc::Rc;

use loadline_schedule::Schedule;

use super::{MakeBehaviour, ScenarioShare};
use crate::mailbox::Steering;
use crate::timers::Timers;

impl ScenarioShare {
    /// Applies commands from outside, if the scenario allows them. As in k6, virtual users that become inactive are
    /// interrupted; those of a paused scenario finish their iterations.
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

    /// How many commands from outside it has applied.
    pub(crate) fn steered(&self) -> u64 {
        self.steered.get()
    }
}
