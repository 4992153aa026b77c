//! Starts the tasks of virtual users.
//!
//! Must not know what they do. Invariant: a panic in a task reaches the worker, which would wait for it forever.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::Poll;

use loadline_schedule::Schedule;

use super::ScenarioShare;
use crate::worker::task::VuTask;

impl ScenarioShare {
    /// Starts the task of a virtual user; its panic is kept for the worker, which would wait for it forever.
    pub(super) fn spawn(self: &Rc<Self>, task: impl Future<Output = ()> + 'static) {
        let share = Rc::clone(self);
        let mut task = Box::pin(task);
        tokio::task::spawn_local(poll_fn(move |cx| {
            let polled = catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(cx)));
            polled.unwrap_or_else(|panic| {
                share.panic.replace(Some(panic));
                Poll::Ready(())
            })
        }));
    }

    /// The panic of a virtual user.
    pub(crate) fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.panic.take()
    }

    /// Starts an initial virtual user.
    pub(super) fn start_vu(self: &Rc<Self>, task: VuTask) {
        let is_open = matches!(&*self.schedule.borrow(), Schedule::Open(_));
        if is_open {
            self.spawn(task.run_open(None));
        } else {
            self.spawn(task.run_closed());
        }
    }
}
