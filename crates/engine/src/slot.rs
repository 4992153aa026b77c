//! The worker's handle for one virtual user: wake it, pass it an arrival, stop what it does.
//!
//! Deadlines are plain cells that the worker sweeps, so a request that ends in time costs no timer. Must not
//! know requests. Invariant: every wait inside a virtual user goes through [`VuSlot::guard`], or a [`Watch`]
//! with its own deadline, and so notices a stop at its next wake-up.

use std::cell::{Cell, RefCell};
use std::task::{Context, Poll, Waker};

use loadline_model::Nanos;
use loadline_schedule::Arrival;

use crate::client::{Stop, StopSign};

/// Shared state of the worker and one virtual user.
pub(crate) struct VuSlot {
    /// Number within its scenario on this worker.
    pub(crate) local: u32,
    /// Number in the whole test.
    pub(crate) global: u64,
    waker: RefCell<Option<Waker>>,
    deadline: Cell<Nanos>,
    cut_at: Cell<Nanos>,
    stop: Cell<Option<Stop>>,
    arrival: Cell<Option<Arrival>>,
    /// The instant to come that it last waited for.
    awaited: Cell<Option<Nanos>>,
    /// Waits with their own deadlines; `None`: a slot that is free again.
    waits: RefCell<Vec<Option<Wait>>>,
    /// The least of those deadlines.
    first_wait_end: Cell<Nanos>,
}

/// A wait with its own deadline.
struct Wait {
    deadline: Nanos,
    is_over: bool,
    waker: Option<Waker>,
}

impl VuSlot {
    pub(crate) fn new(local: u32, global: u64) -> VuSlot {
        VuSlot {
            local,
            global,
            waker: RefCell::default(),
            deadline: Cell::new(Nanos::MAX),
            cut_at: Cell::new(Nanos::MAX),
            stop: Cell::new(None),
            arrival: Cell::new(None),
            awaited: Cell::new(None),
            waits: RefCell::default(),
            first_wait_end: Cell::new(Nanos::MAX),
        }
    }

    /// Wakes the virtual user.
    pub(crate) fn wake(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }

    /// Notes the instant that it waits for; returns whether it is another than before.
    pub(crate) fn awaits(&self, at: Nanos) -> bool {
        self.awaited.replace(Some(at)) != Some(at)
    }

    /// Forgets the waker: the virtual user runs on another task from now on.
    pub(crate) fn change_task(&self) {
        self.waker.take();
    }

    /// Passes an arrival and wakes the virtual user.
    pub(crate) fn assign(&self, arrival: Arrival) {
        self.arrival.set(Some(arrival));
        self.wake();
    }

    pub(crate) fn take_arrival(&self) -> Option<Arrival> {
        self.arrival.take()
    }

    /// Sets the timeout of the next wait.
    #[inline]
    pub(crate) fn set_deadline(&self, at: Nanos) {
        self.deadline.set(at);
        if self.stop.get() == Some(Stop::TimedOut) {
            self.stop.set(None);
        }
    }

    /// Sets when the iteration that starts now must be interrupted.
    #[inline]
    pub(crate) fn begin_iteration(&self, cut_at: Nanos) {
        self.cut_at.set(cut_at);
        self.stop.set(None);
    }

    /// Moves the interruption to an earlier time.
    pub(crate) fn limit_cut(&self, at: Nanos) {
        self.cut_at.set(self.cut_at.get().min(at));
    }

    /// Interrupts the current iteration.
    pub(crate) fn cut(&self) {
        self.stop.set(Some(Stop::Cut));
        self.wake();
        for wait in self.waits.borrow().iter().flatten() {
            wait.wake();
        }
    }

    /// Stops everything overdue.
    #[inline]
    pub(crate) fn sweep(&self, now: Nanos) {
        if now >= self.cut_at.get() {
            self.cut_at.set(Nanos::MAX);
            self.cut();
            return;
        }
        if now >= self.deadline.get() {
            self.deadline.set(Nanos::MAX);
            if self.stop.get().is_none() {
                self.stop.set(Some(Stop::TimedOut));
            }
            self.wake();
        }
        if now >= self.first_wait_end.get() {
            self.end_waits(now);
        }
    }

    #[cold]
    fn end_waits(&self, now: Nanos) {
        for wait in self.waits.borrow_mut().iter_mut().flatten() {
            if now >= wait.deadline {
                wait.is_over = true;
                wait.wake();
            }
        }
        self.note_first_wait_end();
    }

    fn note_first_wait_end(&self) {
        let waits = self.waits.borrow();
        let ends = waits.iter().flatten().filter(|wait| !wait.is_over);
        let first = ends.map(|wait| wait.deadline).min();
        self.first_wait_end.set(first.unwrap_or(Nanos::MAX));
    }

    /// Starts a wait with its own deadline. Several may be active, each in a separate future.
    pub(crate) fn watch(&self, deadline: Nanos) -> Watch<'_> {
        let mut waits = self.waits.borrow_mut();
        let free = waits.iter().position(Option::is_none);
        let index = free.unwrap_or_else(|| {
            waits.push(None);
            waits.len() - 1
        });
        waits[index] = Some(Wait {
            deadline,
            is_over: false,
            waker: None,
        });
        let first = self.first_wait_end.get().min(deadline);
        self.first_wait_end.set(first);
        Watch { slot: self, index }
    }

    /// A task's waker stays valid for its lifetime.
    #[inline]
    fn remember_waker(&self, cx: &Context<'_>) {
        let mut waker = self.waker.borrow_mut();
        if waker.is_none() {
            *waker = Some(cx.waker().clone());
        }
    }

    /// Waits until `ready` returns something; it is called at each wake-up. A stop of the iteration has no
    /// effect here, since none is running.
    pub(crate) async fn park_until<T>(&self, mut ready: impl FnMut() -> Option<T>) -> T {
        std::future::poll_fn(|cx| {
            self.remember_waker(cx);
            ready().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

impl StopSign for VuSlot {
    #[inline]
    fn check(&self, cx: &Context<'_>) -> Result<(), Stop> {
        self.remember_waker(cx);
        self.stop.get().map_or(Ok(()), Err)
    }
}

impl StopSign for Watch<'_> {
    /// The deadline of the slot itself means nothing here.
    #[inline]
    fn check(&self, cx: &Context<'_>) -> Result<(), Stop> {
        if self.slot.stop.get() == Some(Stop::Cut) {
            return Err(Stop::Cut);
        }
        self.with(|wait| {
            if wait.is_over {
                return Err(Stop::TimedOut);
            }
            match &mut wait.waker {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
            Ok(())
        })
    }
}

impl Wait {
    fn wake(&self) {
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }
}

/// An active wait; it ends when dropped.
pub(crate) struct Watch<'a> {
    slot: &'a VuSlot,
    index: usize,
}

impl Watch<'_> {
    /// Changes the deadline.
    pub(crate) fn set_deadline(&self, at: Nanos) {
        self.with(|wait| wait.deadline = at);
        self.slot.note_first_wait_end();
    }

    /// Makes the deadline expire now.
    pub(crate) fn expire(&self) {
        self.with(|wait| wait.is_over = true);
    }

    #[inline]
    fn with<T>(&self, act: impl FnOnce(&mut Wait) -> T) -> T {
        let mut waits = self.slot.waits.borrow_mut();
        let wait = waits[self.index].as_mut();
        act(wait.expect("a wait keeps its place until it is dropped"))
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.slot.waits.borrow_mut()[self.index] = None;
        self.slot.note_first_wait_end();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;

    use super::*;

    #[test]
    fn each_watch_has_a_deadline_of_its_own() {
        let slot = VuSlot::new(0, 0);
        let cx = Context::from_waker(Waker::noop());
        slot.begin_iteration(Nanos::MAX);
        let (early, late) = (slot.watch(Nanos(50)), slot.watch(Nanos(80)));
        slot.sweep(Nanos(60));
        assert_eq!(early.check(&cx), Err(Stop::TimedOut));
        assert_eq!(late.check(&cx), Ok(()));
        assert_eq!(slot.check(&cx), Ok(()), "the slot itself is not stopped");
        drop(early);
        let next = slot.watch(Nanos(70));
        assert_eq!(next.check(&cx), Ok(()), "a place that is free again is new");
        slot.sweep(Nanos(80));
        assert_eq!(late.check(&cx), Err(Stop::TimedOut));
        assert_eq!(next.check(&cx), Err(Stop::TimedOut));
        next.set_deadline(Nanos::MAX);
        slot.cut();
        assert_eq!(next.check(&cx), Err(Stop::Cut));
    }

    #[test]
    fn after_a_change_of_task_the_new_one_is_woken() {
        let slot = VuSlot::new(0, 0);
        let (first, second) = (CountingWaker::new(), CountingWaker::new());
        let remember = |waker: &Arc<CountingWaker>| {
            let waker = Waker::from(Arc::clone(waker));
            assert_eq!(slot.check(&Context::from_waker(&waker)), Ok(()));
        };
        remember(&first);
        slot.change_task();
        remember(&second);
        slot.wake();
        assert_eq!((first.count(), second.count()), (0, 1));
    }

    struct CountingWaker(AtomicU32);

    impl CountingWaker {
        fn new() -> Arc<CountingWaker> {
            Arc::new(CountingWaker(AtomicU32::new(0)))
        }

        fn count(&self) -> u32 {
            self.0.load(Ordering::Relaxed)
        }
    }

    impl Wake for CountingWaker {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn deadlines_and_cuts_are_found_by_the_sweep() {
        let slot = VuSlot::new(0, 0);
        let cx = Context::from_waker(Waker::noop());
        slot.begin_iteration(Nanos(100));
        slot.set_deadline(Nanos(50));
        slot.sweep(Nanos(49));
        assert_eq!(slot.check(&cx), Ok(()));
        slot.sweep(Nanos(50));
        assert_eq!(slot.check(&cx), Err(Stop::TimedOut));
        slot.set_deadline(Nanos::MAX);
        assert_eq!(slot.check(&cx), Ok(()));
        slot.sweep(Nanos(100));
        assert_eq!(slot.check(&cx), Err(Stop::Cut));
        slot.set_deadline(Nanos(200));
        assert_eq!(
            slot.check(&cx),
            Err(Stop::Cut),
            "a new deadline does not lift a cut"
        );
        slot.begin_iteration(Nanos::MAX);
        assert_eq!(slot.check(&cx), Ok(()));
    }
}
