//! The worker's handle on one virtual user: wake it, hand it an arrival, stop what it does.
//!
//! Deadlines are plain cells that the worker sweeps, so that a request that ends in time costs no
//! timer. Must not know requests. Invariant: whoever waits inside a virtual user does so through
//! [`VuSlot::guard`], and so notices a stop at its next wake-up.

use std::cell::{Cell, OnceCell};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use loadline_model::Nanos;
use loadline_schedule::Arrival;

/// Why a wait was broken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The deadline passed.
    TimedOut,
    /// The iteration is to end now: the run is over, or the virtual user is ramped down.
    Cut,
}

/// What the worker and one virtual user share.
pub(crate) struct VuSlot {
    /// Number on this worker within its scenario.
    pub(crate) local: u32,
    /// Number over the whole test.
    pub(crate) global: u64,
    waker: OnceCell<Waker>,
    deadline: Cell<Nanos>,
    cut_at: Cell<Nanos>,
    stop: Cell<Option<Stop>>,
    arrival: Cell<Option<Arrival>>,
}

impl VuSlot {
    pub(crate) fn new(local: u32, global: u64) -> VuSlot {
        VuSlot {
            local,
            global,
            waker: OnceCell::new(),
            deadline: Cell::new(Nanos::MAX),
            cut_at: Cell::new(Nanos::MAX),
            stop: Cell::new(None),
            arrival: Cell::new(None),
        }
    }

    /// Makes the virtual user look around.
    pub(crate) fn wake(&self) {
        if let Some(waker) = self.waker.get() {
            waker.wake_by_ref();
        }
    }

    /// Hands over an arrival and wakes the virtual user.
    pub(crate) fn assign(&self, arrival: Arrival) {
        self.arrival.set(Some(arrival));
        self.wake();
    }

    pub(crate) fn take_arrival(&self) -> Option<Arrival> {
        self.arrival.take()
    }

    /// Sets when the wait that follows counts as timed out.
    #[inline]
    pub(crate) fn set_deadline(&self, at: Nanos) {
        self.deadline.set(at);
        if self.stop.get() == Some(Stop::TimedOut) {
            self.stop.set(None);
        }
    }

    /// Sets when the iteration that begins must be cut.
    #[inline]
    pub(crate) fn begin_iteration(&self, cut_at: Nanos) {
        self.cut_at.set(cut_at);
        self.stop.set(None);
    }

    /// Brings the cut forward, if it is later.
    pub(crate) fn limit_cut(&self, at: Nanos) {
        self.cut_at.set(self.cut_at.get().min(at));
    }

    /// Cuts the iteration under way.
    pub(crate) fn cut(&self) {
        self.stop.set(Some(Stop::Cut));
        self.wake();
    }

    /// Stops what is overdue.
    #[inline]
    pub(crate) fn sweep(&self, now: Nanos) {
        if now >= self.cut_at.get() {
            self.cut_at.set(Nanos::MAX);
            self.cut();
        } else if now >= self.deadline.get() {
            self.deadline.set(Nanos::MAX);
            if self.stop.get().is_none() {
                self.stop.set(Some(Stop::TimedOut));
            }
            self.wake();
        }
    }

    /// Notes who is to be woken, and says whether to stop.
    #[inline]
    pub(crate) fn check(&self, cx: &Context<'_>) -> Result<(), Stop> {
        self.remember_waker(cx);
        self.stop.get().map_or(Ok(()), Err)
    }

    /// Each virtual user is one task, and a task's waker stays good for its life.
    #[inline]
    fn remember_waker(&self, cx: &Context<'_>) {
        self.waker.get_or_init(|| cx.waker().clone());
    }

    /// Waits for `future` unless a stop comes first.
    pub(crate) async fn guard<F: Future>(&self, future: F) -> Result<F::Output, Stop> {
        let mut future = pin!(future);
        std::future::poll_fn(|cx| {
            self.check(cx)?;
            future.as_mut().poll(cx).map(Ok)
        })
        .await
    }

    /// Waits until `ready` has something; it is asked at each wake-up. A stop of the iteration
    /// means nothing here, since none runs.
    pub(crate) async fn park_until<T>(&self, mut ready: impl FnMut() -> Option<T>) -> T {
        std::future::poll_fn(|cx| {
            self.remember_waker(cx);
            ready().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
