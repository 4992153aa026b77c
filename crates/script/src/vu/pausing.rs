//! Work that can pause: it runs on a pooled stack of its own, and its caller decides when it goes on.
//!
//! Must not know the work. Invariant: work that began runs to its end, if necessary told at a pause to hurry.

use std::marker::PhantomData;
use std::rc::Rc;

use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::stack::{PooledStack, StackPool};

/// Bytes of a stack below which work gets none.
const STACK_BYTES_MIN: usize = 4 << 20;

/// Work that can pause; `P` is what it tells at a pause, `T` its result.
pub struct Pausing<'w, P, T> {
    running: Option<Coroutine<bool, P, T, PooledStack>>,
    /// What the work borrows.
    borrowed: PhantomData<&'w mut ()>,
}

/// How far work is.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress<P, T> {
    /// It pauses.
    Pauses(P),
    /// It has ended.
    Done(T),
}

/// What work pauses with.
pub struct Pauser<'y, P>(&'y Yielder<bool, P>);

impl<P> Pauser<'_, P> {
    /// Pauses; `false`: the work has to end as soon as it can.
    pub fn pause(&self, what: P) -> bool {
        self.0.suspend(what)
    }
}

impl<'w, P, T> Pausing<'w, P, T> {
    /// Work that has not begun.
    ///
    /// # Errors
    /// There is no memory for its stack: the work itself, which can run without pauses.
    pub fn new<F>(stacks: &Rc<StackPool>, work: F) -> Result<Pausing<'w, P, T>, F>
    where
        F: FnOnce(Option<&Pauser<'_, P>>) -> T + 'w,
    {
        let stack = match StackPool::take(stacks) {
            Ok(stack) if stack.extent().bytes >= STACK_BYTES_MIN => stack,
            _ => return Err(work),
        };
        let run = move |yielder: &Yielder<bool, P>, _| work(Some(&Pauser(yielder)));
        // SAFETY: what the work borrows outlives this value, and with its drop the work has ended.
        let running = unsafe { Coroutine::with_stack_unchecked(stack, run) };
        Ok(Pausing {
            running: Some(running),
            borrowed: PhantomData,
        })
    }

    /// Begins the work, or continues it after a pause; `None`: it has ended before.
    pub fn go_on(&mut self) -> Option<Progress<P, T>> {
        self.resume(true)
    }

    fn resume(&mut self, goes_on: bool) -> Option<Progress<P, T>> {
        // Taken out, so that a panic inside leaves nothing that could be resumed again.
        let mut running = self.running.take()?;
        Some(match running.resume(goes_on) {
            CoroutineResult::Yield(what) => {
                self.running = Some(running);
                Progress::Pauses(what)
            }
            CoroutineResult::Return(result) => {
                drop(running.into_stack());
                Progress::Done(result)
            }
        })
    }
}

impl<P, T> Drop for Pausing<'_, P, T> {
    fn drop(&mut self) {
        if self.running.as_ref().is_some_and(Coroutine::started) {
            while let Some(Progress::Pauses(_)) = self.resume(false) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    #[test]
    fn work_pauses_and_is_brought_to_its_end_when_it_is_dropped() {
        let stacks = StackPool::new();
        let seen = RefCell::new(Vec::new());
        let work = |pauser: Option<&Pauser<'_, u64>>| {
            let pauser = pauser.expect("there is room");
            for ms in 1..4 {
                let goes_on = pauser.pause(ms);
                seen.borrow_mut().push((ms, goes_on));
            }
            "done"
        };
        let mut pausing = Pausing::new(&stacks, work).ok().expect("there is room");
        for ms in 1..4 {
            assert_eq!(pausing.go_on(), Some(Progress::Pauses(ms)));
        }
        assert_eq!(pausing.go_on(), Some(Progress::Done("done")));
        assert_eq!(pausing.go_on(), None);
        let mut pausing = Pausing::new(&stacks, work).ok().expect("there is room");
        assert_eq!(pausing.go_on(), Some(Progress::Pauses(1)));
        drop(pausing);
        let all = [true, true, true, false, false, false];
        let all: Vec<_> = (1..4).chain(1..4).zip(all).collect();
        assert_eq!(*seen.borrow(), all);
    }

    #[test]
    fn work_that_never_began_is_let_go() {
        let has_run = Cell::new(false);
        let work = |_: Option<&Pauser<'_, ()>>| has_run.set(true);
        drop(Pausing::new(&StackPool::new(), work).ok());
        assert!(!has_run.get());
    }
}
