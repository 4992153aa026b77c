//! Proof that a blocking virtual user on a stackful coroutine fits the seam: it suspends for a
//! call, is cancelled without being dropped, and yields its slice to others.
//!
//! Must not need a socket. Invariant under test: a coroutine is only dropped after it returned.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use corosensei::{Coroutine, CoroutineResult, Yielder};
use loadline_model::Nanos;
use tokio::sync::Notify;

use crate::client::StopSign;
use crate::slot::VuSlot;

/// A blocking virtual user's request to the engine.
enum Call {
    Exchange,
    /// Its time slice is used up.
    Yield,
}

/// What it is resumed with.
#[derive(Debug, PartialEq)]
enum Answer {
    Go,
    Cancel,
}

type Blocking = Coroutine<Answer, Call, &'static str>;

/// Runs one iteration: the shape that a script's `iterate` has.
async fn iterate(slot: &VuSlot, mut body: Blocking, target: &Notify) -> &'static str {
    let mut answer = Answer::Go;
    loop {
        answer = match body.resume(answer) {
            CoroutineResult::Return(outcome) => return outcome,
            CoroutineResult::Yield(Call::Yield) => {
                tokio::task::yield_now().await;
                Answer::Go
            }
            CoroutineResult::Yield(Call::Exchange) => match slot.guard(target.notified()).await {
                Ok(()) => Answer::Go,
                Err(_) => Answer::Cancel,
            },
        };
    }
}

/// `http.get()` as a script sees it: blocks until there is a response or a cancellation.
fn blocking_get(yielder: &Yielder<Answer, Call>) -> Result<(), ()> {
    match yielder.suspend(Call::Exchange) {
        Answer::Go => Ok(()),
        Answer::Cancel => Err(()),
    }
}

fn in_runtime(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .build_local(tokio::runtime::LocalOptions::default())
        .expect("a runtime without drivers can be made")
        .block_on(test);
}

#[test]
fn a_blocking_call_suspends_and_resumes() {
    in_runtime(async {
        let (slot, target) = (VuSlot::new(0, 0), Notify::new());
        target.notify_one();
        let body = Coroutine::new(|yielder: &Yielder<Answer, Call>, _| {
            blocking_get(yielder).map_or("cancelled", |()| "answered")
        });
        assert_eq!(iterate(&slot, body, &target).await, "answered");
    });
}

#[test]
fn a_suspended_virtual_user_is_cancelled_and_unwinds_itself() {
    in_runtime(async {
        let slot = Rc::new(VuSlot::new(0, 0));
        slot.begin_iteration(Nanos::MAX);
        let released = Rc::new(Cell::new(false));
        let on_unwind = Rc::clone(&released);
        let body = Coroutine::new(move |yielder: &Yielder<Answer, Call>, _| {
            let outcome = blocking_get(yielder).map_or("cancelled", |()| "answered");
            on_unwind.set(true);
            outcome
        });
        let cutter = Rc::clone(&slot);
        tokio::task::spawn_local(async move {
            tokio::task::yield_now().await;
            cutter.cut();
        });
        assert_eq!(iterate(&slot, body, &Notify::new()).await, "cancelled");
        assert!(released.get(), "the coroutine ran to its own end");
    });
}

#[test]
fn a_busy_virtual_user_gives_way_between_slices() {
    in_runtime(async {
        let order = Rc::new(RefCell::new(Vec::new()));
        let (busy, other) = (Rc::clone(&order), Rc::clone(&order));
        let body = Coroutine::new(move |yielder: &Yielder<Answer, Call>, _| {
            for slice in 0..2 {
                busy.borrow_mut().push(format!("slice {slice}"));
                assert_eq!(yielder.suspend(Call::Yield), Answer::Go);
            }
            "done"
        });
        tokio::task::spawn_local(async move { other.borrow_mut().push("other".to_owned()) });
        let (slot, target) = (VuSlot::new(0, 0), Notify::new());
        assert_eq!(iterate(&slot, body, &target).await, "done");
        assert_eq!(*order.borrow(), ["slice 0", "other", "slice 1"]);
    });
}
