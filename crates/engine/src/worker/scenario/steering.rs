//! A scenario whose number of virtual users is set while it runs: from outside, or by the threads that it keeps up.
//!
//! Must not know who steers. Invariant: virtual users that were made stay; those beyond a number from outside are cut.

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
                closed.steer(if is_paused { 0 } else { at_work }, max_vus);
                closed.vus()
            }
            Schedule::Open(_) => return,
        };
        self.make_up_to(hosted, timers, make);
        self.steered.set(self.steered.get() + 1);
        for slot in self.slots.borrow().iter() {
            if slot.global >= u64::from(at_work) {
                slot.cut();
            } else {
                slot.wake();
            }
        }
    }

    /// Keeps up so many threads, where that is what its schedule does.
    pub(crate) fn keep_up(
        self: &Rc<Self>,
        threads: u32,
        timers: &Rc<Timers>,
        make: MakeBehaviour<'_>,
    ) {
        if self.kept_up.replace(Some(threads)) == Some(threads) || self.over.get() {
            return;
        }
        let hosted = match &mut *self.schedule.borrow_mut() {
            Schedule::Closed(closed) => {
                closed.keep_up(threads);
                closed.vus()
            }
            Schedule::Open(_) => return,
        };
        self.make_up_to(hosted, timers, make);
        self.look_around();
    }

    /// Makes virtual users and sets them to work until so many are here.
    fn make_up_to(self: &Rc<Self>, hosted: u32, timers: &Rc<Timers>, make: MakeBehaviour<'_>) {
        while !self.over.get() && (self.slots.borrow().len() as u32) < hosted {
            let task = self.make_vu(timers, make);
            self.spawn(task.run_closed());
        }
    }

    /// How many commands from outside it has applied.
    pub(crate) fn steered(&self) -> u64 {
        self.steered.get()
    }
}
