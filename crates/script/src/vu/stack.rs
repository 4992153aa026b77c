//! The stacks that coroutines run on, used again and again.
//!
//! An idle virtual user holds none. Must not know what runs. Invariant: a stack is given to one
//! coroutine at a time.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use corosensei::stack::{DefaultStack, Stack, StackPointer};

/// Bytes of a stack. The engine stops recursion [`STACK_RESERVE`] before its end.
pub(crate) const STACK_BYTES: usize = 256 * 1024;
/// Bytes of a stack that are left to natives when the engine says that recursion is too deep.
pub(crate) const STACK_RESERVE: usize = 64 * 1024;
/// Stacks kept for later: giving them back and taking new ones costs a load more than the memory, which
/// it has needed once. A quarter of the mappings that systems let a process have.
const KEPT_MAX: usize = 8_192;

/// The free stacks of one thread.
#[derive(Default)]
pub struct StackPool {
    free: RefCell<Vec<DefaultStack>>,
}

/// A stack that goes back to its pool.
pub(crate) struct PooledStack {
    stack: Option<DefaultStack>,
    pool: Rc<StackPool>,
}

impl StackPool {
    /// A pool without a stack.
    #[must_use]
    pub fn new() -> Rc<StackPool> {
        Rc::default()
    }

    pub(crate) fn take(pool: &Rc<StackPool>) -> io::Result<PooledStack> {
        let free = pool.free.borrow_mut().pop();
        let stack = match free {
            Some(stack) => stack,
            None => DefaultStack::new(STACK_BYTES)?,
        };
        Ok(PooledStack {
            stack: Some(stack),
            pool: Rc::clone(pool),
        })
    }
}

impl Drop for PooledStack {
    fn drop(&mut self) {
        let mut free = self.pool.free.borrow_mut();
        if free.len() < KEPT_MAX
            && let Some(stack) = self.stack.take()
        {
            free.push(stack);
        }
    }
}

impl PooledStack {
    fn inner(&self) -> &DefaultStack {
        self.stack.as_ref().expect("taken by drop alone")
    }
}

// SAFETY: both ends are those of the stack within, which stays where it is until it is dropped.
unsafe impl Stack for PooledStack {
    fn base(&self) -> StackPointer {
        self.inner().base()
    }

    fn limit(&self) -> StackPointer {
        self.inner().limit()
    }
}
